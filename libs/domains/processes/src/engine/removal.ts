import { Injectable } from '@nestjs/common';
import { HitlService } from '@aps/chats';
import type { OrgScope } from '@aps/guards';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { Cancellation } from './cancellation';
import { LIVE_OF, NEWEST_OF } from './removal.sql';

/** So many runs a part ends, each with all below it. */
const ENDED = 200;
/** So many a part looks at, to hide what they have asked. */
const LOOKED_AT = 1_000;

/** How far a removal is. */
interface Removed {
  isMore: boolean;
  /** The run that was looked at last. */
  after: string | null;
}

/**
 * Ends what the runs of a deleted process do, a part at a time: the first in the transaction that deletes it, the rest by a job. Meanwhile
 * no worker takes up one that has not come to its turn.
 */
@Injectable()
export class Removal {
  constructor(
    private readonly db: Database,
    private readonly cancellation: Cancellation,
    private readonly questions: HitlService,
    private readonly outbox: Outbox,
  ) {}

  /** In the transaction that deletes the process, whose row is locked. */
  async begin(tx: Tx, { orgId: org_id, requestId, traceparent }: OrgScope, process_id: string): Promise<void> {
    const { isMore } = await this.part(tx, org_id, process_id, null);
    if (isMore) await this.outbox.enqueue(tx, 'process.end_runs', { org_id, process_id }, { requestId, traceparent });
  }

  /** @param jobId gone with the last part. Who is delivered it again goes through all of it, and finds what is left */
  async goOn(orgId: string, processId: string, { jobId, signal }: { jobId: string; signal: AbortSignal }): Promise<void> {
    for (let done: Removed = { isMore: true, after: null }; done.isMore;) {
      signal.throwIfAborted();
      const { after } = done;
      done = await this.db.transaction(NO_CALLER, async (tx) => {
        const now = await this.part(tx, orgId, processId, after);
        if (!now.isMore) await this.outbox.cancel(tx, jobId);
        return now;
      });
    }
  }

  /** Cancels runs, and hides what runs have asked. */
  private async part(tx: Tx, orgId: string, processId: string, after: string | null): Promise<Removed> {
    const live = (await tx.query(LIVE_OF, [processId, orgId, ENDED])).map(({ id }) => id);
    if (live.length) await this.cancellation.cancelTrees(tx, orgId, live, { tellParents: true });
    const seen = (await tx.query(NEWEST_OF, [processId, after, LOOKED_AT])).map(({ id }) => id);
    // What has just been ended may have asked since it was looked at.
    if (seen.length + live.length > 0) await this.questions.hideOf(tx, [...live, ...seen]);
    return { isMore: live.length === ENDED || seen.length === LOOKED_AT, after: seen.at(-1) ?? after };
  }
}
