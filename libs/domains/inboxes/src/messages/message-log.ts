import { Injectable } from '@nestjs/common';
import { inboxTopic } from '@aps/contracts';
import { Database, type Tx } from '@aps/platform/database';
import { RealtimePublisher } from '@aps/platform/realtime';
import { APPEND, TYPE } from './message-log.sql';

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
    const appended = await tx.query(APPEND, [ids, at]);
    tx.afterCommit(() => {
      for (const { inbox_id, before, told } of appended)
        this.realtime.publish(
          inboxTopic(inbox_id),
          told.map((data, i) => ({ id: before + i + 1, type: TYPE, at: at.toISOString(), data })),
        );
    });
  }
}
