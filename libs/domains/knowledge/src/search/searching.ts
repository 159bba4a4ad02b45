import { Injectable } from '@nestjs/common';
import { Places } from '@aps/platform/children';
import { Database, NO_CALLER, type Tenant, type Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { WITHIN } from './search.queries';

/** Statements of a kind that one process has at once, and those of one organization: each reads what it searches, and others need connections, too. */
const AT_ONCE = 4;
const OF_AN_ORG = 2;
/** One that has found nothing by then, its waiting included, is left. */
const LATE_MS = 3_000;

/** What a search is left by: its time is up. */
export class Late {
  /** @param ofOne for what its organization searches, or how much at once: it has not waited for others */
  constructor(readonly ofOne: boolean) {}
}

const left = counter('knowledge_searches_left_total', 'Searches that were left as they took too long, by words or by meaning', ['by']);

/** Places for the statements that search: whoever has much to search, or searches much, keeps nobody else from their turn, nor from the database. */
@Injectable()
export class Searching {
  private readonly places = {
    words: new Places<never>(AT_ONCE, { ofAShare: OF_AN_ORG }),
    meaning: new Places<never>(AT_ONCE, { ofAShare: OF_AN_ORG }),
  };
  private readonly lateMs = LATE_MS;

  constructor(private readonly db: Database) {}

  /** Runs a statement when it is its organization's turn. @returns {@link Late} where it was not done in time */
  async at<T>(by: 'words' | 'meaning', { orgId: share }: Pick<Tenant, 'orgId'>, search: (tx: Tx) => Promise<T>): Promise<T | Late> {
    const until = performance.now() + this.lateMs;
    const ofOne = !this.places[by].isTakenByOthers(share);
    const found = () =>
      this.db.transaction(NO_CALLER, async (tx) => {
        await tx.execute(WITHIN, [String(Math.max(1, Math.ceil(until - performance.now())))]);
        return search(tx);
      });
    try {
      return await this.places[by].at(found, { share, signal: AbortSignal.timeout(this.lateMs) });
    } catch (error) {
      if (!isLate(error)) throw error;
      left.inc({ by });
      return new Late(ofOne);
    }
  }
}

/** Whether no place was free in time, or PostgreSQL has cancelled a statement. */
const isLate = (error: unknown): boolean => (error as Error).name === 'TimeoutError' || (error as { code?: string }).code === '57014';
