import { Injectable } from '@nestjs/common';
import type { EvaluationWait, HoldReason, InboxMessage, TraceRow } from '@aps/entities';
import { Database, type Tx } from '@aps/platform/database';
import { MessageLog } from '../messages/message-log';
import { EvaluationRepository } from './evaluation.repository';
import { Stopwatch } from './trace';

type Begun = Exclude<InboxMessage['evaluation_cause'], 'arrival' | 'auto_release'>;

/** Begins evaluations anew. */
@Injectable()
export class Evaluations {
  constructor(
    private readonly db: Database,
    private readonly repository: EvaluationRepository,
    private readonly log: MessageLog,
  ) {}

  /**
   * Sets a message back to where it came in, under the rule set that is deployed now, with its job; one whose evaluation is under way loses
   * it.
   *
   * @param message locked
   * @param how who wants it, and of a release to whom it goes
   */
  async begin(
    tx: Tx,
    message: { id: string; org_id: string },
    cause: Begun,
    how: { user_id: string | null; target?: EvaluationWait['target'] },
  ): Promise<void> {
    const wait = how.target ? { resume_at: null, target: how.target } : null;
    const evaluation_no = await this.repository.begin(tx, message, cause, wait);
    if (cause === 'release') await this.trace(tx, { ...message, evaluation_no }, released('manual_release', { user_id: how.user_id }));
    await this.log.changed(tx, [message.id]);
  }

  /** The same for many that were held for something that is over; those that somebody is at are left. @returns how many */
  async letGo(tx: Tx, ids: string[], reason: HoldReason): Promise<number> {
    if (ids.length === 0) return 0;
    const at = this.db.now();
    const told = await this.repository.release(tx, ids, reason, new Stopwatch(at).row(released('auto_release', null)), at);
    await this.log.tell(tx, told, at);
    return told.length;
  }

  /** Adds to the trace of a message what somebody has done with it. */
  async trace(
    tx: Tx,
    message: Pick<InboxMessage, 'id' | 'org_id' | 'evaluation_no'>,
    row: Pick<TraceRow, 'stage_id' | 'kind' | 'outcome' | 'detail'>,
  ): Promise<void> {
    await this.repository.trace(tx, message, [new Stopwatch(this.db.now()).row(row)]);
  }
}

const released = (kind: 'manual_release' | 'auto_release', detail: TraceRow['detail']) => ({
  stage_id: kind,
  kind,
  outcome: 'released',
  detail,
});
