import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '@aps/platform/database';
import { SEEN_LATELY } from '@aps/platform/queues';

const LOCK = statement<{ draining: boolean }>(`SELECT draining FROM workers WHERE id = $1 AND ${SEEN_LATELY} FOR NO KEY UPDATE`);
const SET_DRAINING = statement('UPDATE workers SET draining = $2 WHERE id = $1');

/** Rows that each worker writes of itself, and operators change. */
@Injectable()
export class WorkersRepository {
  /** Null for one that is gone. */
  async lock(tx: Tx, id: string): Promise<{ draining: boolean } | null> {
    return (await tx.query(LOCK, [id]))[0] ?? null;
  }

  async setDraining(tx: Tx, id: string, draining: boolean): Promise<void> {
    await tx.execute(SET_DRAINING, [id, draining]);
  }
}
