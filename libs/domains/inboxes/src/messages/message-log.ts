import { Injectable } from '@nestjs/common';
import { inboxTopic } from '@aps/contracts';
import { Database, whenCommitted, type Db, type Tx } from '@aps/platform/database';
import { RealtimePublisher } from '@aps/platform/realtime';
import { APPEND, TYPE, type Told } from './message-log.sql';

/** Writes down what becomes of messages, and tells the readers of their inboxes. */
@Injectable()
export class MessageLog {
  constructor(
    private readonly db: Database,
    private readonly realtime: RealtimePublisher,
  ) {}

  /** Of messages that this transaction has written, as they are now; best its last statement, since others wait for it. Readers learn of it after the commit. */
  async changed(tx: Tx, ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    const at = this.db.now();
    await this.tell(tx, await tx.query(APPEND, [ids, at]), at);
  }

  /** Tells readers, once it is committed, what a statement of this transaction has written down. */
  async tell(db: Db, updates: Told[], at: Date): Promise<void> {
    await whenCommitted(db, () => {
      for (const { inbox_id, before, data } of updates)
        this.realtime.publish(inboxTopic(inbox_id), [{ id: before + 1, type: TYPE, at: at.toISOString(), data }]);
    });
  }
}
