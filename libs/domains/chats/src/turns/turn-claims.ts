import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import type { JobPayload } from '@aps/contracts';
import { NO_CALLER, advisoryLock, alreadyCommitted, Database, OneByOne, type Ahead } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { NotBegun } from '@aps/platform/queues';
import { ProcessIdentity } from '@aps/platform/runtime';
import { ChatLog } from '../chat-log';
import type { Pause } from '../chat.types';
import { TurnEndings } from './turn-endings';
import { TurnRepository, type ClaimedTurn, type ClaimRow } from './turn.repository';
import { CAP_MARGIN, type Claiming } from './turn.sql';

/** How long a turn of a suspended organization, or one whose worker may still live, is left alone at least. */
const SUSPENDED_RETRY_MS = 10_000;

/** A turn whose owner this process is, or will be when the claim has committed. */
export interface OwnedTurn extends ClaimedTurn {
  claimed_at: Date;
  /** Rejects when it is not ours after all. */
  committed: Promise<void>;
}

/** Decides who runs a turn, and whether it runs at all. */
@Injectable()
export class TurnClaims {
  private readonly nearCap = new OneByOne();

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly endings: TurnEndings,
    private readonly entitlements: Entitlements,
    private readonly log: ChatLog,
    private readonly outbox: Outbox,
    private readonly self: ProcessIdentity,
  ) {}

  /**
   * @returns null when there is nothing to run
   * @throws NotBegun when the worker begins nothing new any more
   */
  async claim(job: JobPayload<'turn.run'>): Promise<OwnedTurn | null> {
    const { turn_id: turnId } = job;
    const at = this.db.now();
    let ahead = await this.tryToClaim(job, at);
    if (!ahead) {
      // A job is on its way before the transaction that writes its turn has committed. That one holds the chat until then.
      await this.turns.awaitWriter(this.db, job.chat_id);
      ahead = await this.tryToClaim(job, at);
    }
    if (!ahead) {
      await this.outbox.cancel(this.db, turnId);
      return null;
    }
    const { answer: row, committed } = ahead;
    switch (row.verdict) {
      case 'claimed':
        return { ...row, claimed_at: at, committed };
      case 'busy':
      case 'early':
        await this.outbox.postpone(this.db, turnId, row.retry_at ?? new Date(at.getTime() + SUSPENDED_RETRY_MS));
        return null;
      case 'suspended':
        await this.outbox.postpone(this.db, turnId, new Date(at.getTime() + SUSPENDED_RETRY_MS));
        return null;
      case 'agent_deleted':
        await this.endings.agentDeleted(row);
        return null;
      case 'skipped':
        await this.endings.skipped(row);
        return null;
      case 'lost':
        await this.endings.lost(row);
        return null;
      case 'over_cap': // parked by claimNearCap
        return null;
      case 'gone':
        await this.outbox.cancel(this.db, turnId);
        return null;
    }
  }

  private async tryToClaim({ turn_id, org_id, chat_id }: JobPayload<'turn.run'>, at: Date): Promise<Ahead<ClaimRow> | null> {
    const cap = (await this.entitlements.of(org_id)).max_concurrent_chats;
    const claim = (cap: number): Claiming => ({ turn_id, chat_id, worker: this.self.id, cap, at });
    if (cap < 0) return this.turns.claimAhead(this.db, claim(-1));
    // Far from the cap no lock is needed: claims of the same moment, which cannot see each other, do not reach it.
    const far = cap > CAP_MARGIN ? await this.turns.claimAhead(this.db, claim(cap - CAP_MARGIN)) : null;
    return cap <= CAP_MARGIN || far?.answer.verdict === 'over_cap'
      ? this.nearCap.run(org_id, () => this.claimLocked(org_id, claim(cap)))
      : far;
  }

  /** Near the cap, claims of one organization go one after another, so that the count is exact. A turn over it is parked. */
  private async claimLocked(orgId: string, claim: Claiming): Promise<Ahead<ClaimRow> | null> {
    // It may have waited for its turn since it was handed to this worker.
    if (this.self.draining) throw new NotBegun();
    const row = await this.db.transaction(NO_CALLER, async (tx) => {
      await advisoryLock(tx, `cap:max_concurrent_chats:${orgId}`);
      const row = await this.turns.claim(tx, claim);
      if (row?.verdict === 'over_cap') {
        const pause: Pause = { kind: 'queued', since: claim.at.toISOString() };
        const data = { from: row.chat_status, to: 'ACTIVE', stop_reason: null, pause };
        if (await this.turns.park(tx, row, pause, claim.at))
          await this.log.tell(tx, row.chat_id, [{ type: 'status_changed', data }], claim.at);
      }
      return row;
    });
    return row && alreadyCommitted(row);
  }
}
