import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';

/** An evaluation that is under way loses it; the clock's time, since that of an evaluation that has just begun is, too. */
const TERMINATE = statement(`
  UPDATE inbox_messages SET status = 'settled', finished_at = coalesce(finished_at, now()), lease_owner = NULL, lease_expires_at = NULL, parked = false, wait = NULL,
    state = CASE WHEN state IN ('evaluating', 'held', 'failed') THEN 'dropped' ELSE state END, hold_reason = NULL, terminated_at = clock_timestamp(), updated_at = now()
  WHERE id = $1`);

/** What people do to rows of messages. */
@Injectable()
export class MessagesRepository {
  constructor(private readonly outbox: Outbox) {}

  /** Ends a locked message, with its job. */
  async terminate(tx: Tx, id: string): Promise<void> {
    await tx.execute(TERMINATE, [id]);
    await this.outbox.cancel(tx, id);
  }
}
