import { Injectable } from '@nestjs/common';
import { HitlService } from '@aps/chats';
import type { OrgScope } from '@aps/guards';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { Cancellation } from './cancellation';
import { ASKED_OF, LIVE_OF } from './removal.sql';

/** So many runs a part ends, each with all below it. */
const PART = 200;

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
    if (await this.part(tx, org_id, process_id))
      await this.outbox.enqueue(tx, 'process.end_runs', { org_id, process_id }, { requestId, traceparent });
  }

  /** @param jobId gone with the last part. Who is delivered it again goes on with what is left */
  async goOn(orgId: string, processId: string, { jobId, signal }: { jobId: string; signal: AbortSignal }): Promise<void> {
    for (let isMore = true; isMore;) {
      signal.throwIfAborted();
      isMore = await this.db.transaction(NO_CALLER, async (tx) => {
        const more = await this.part(tx, orgId, processId);
        if (!more) await this.outbox.cancel(tx, jobId);
        return more;
      });
    }
  }

  /** Cancels runs, and hides what runs have asked. @returns whether there may be more */
  private async part(tx: Tx, orgId: string, processId: string): Promise<boolean> {
    const live = (await tx.query(LIVE_OF, [processId, PART])).map(({ id }) => id);
    if (live.length) await this.cancellation.cancelTrees(tx, orgId, live, { tellParents: true });
    const asked = (await tx.query(ASKED_OF, [processId, PART])).map(({ id }) => id);
    if (asked.length) await this.questions.hideOf(tx, asked);
    return live.length === PART || asked.length === PART;
  }
}
