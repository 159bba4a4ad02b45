import { Logger } from '@nestjs/common';
import { isConnectionLoss, NO_CALLER, type Database, type Tx } from '@aps/platform/database';

/** Does something to each row that is due, in transactions of their own, so that one that fails keeps back no other. */
export class RowByRow {
  private readonly logger = new Logger('Maintenance');
  /** Rows that failed where more were due than one pass takes: they are left out until the rest has been done. */
  private readonly failed = new Set<string>();

  /** @param name of the task, for logs */
  constructor(
    private readonly db: Database,
    private readonly name: string,
  ) {}

  /**
   * @param batch so many rows at most
   * @param due finds them, without those of the given ids
   * @param work @returns whether there was anything to do
   * @returns to how many something was done
   * @throws what the first of those that failed threw, when all have been tried; the loss of the database at once
   */
  async pass<R extends { id: string }>(
    batch: number,
    due: (batch: number, but: string[]) => Promise<R[]>,
    work: (tx: Tx, row: R) => Promise<boolean>,
  ): Promise<number> {
    const rows = await due(batch, [...this.failed]);
    if (rows.length < batch) this.failed.clear();
    let done = 0;
    const errors: unknown[] = [];
    for (const row of rows) {
      try {
        if (await this.db.transaction(NO_CALLER, (tx) => work(tx, row))) done += 1;
      } catch (error) {
        // Nothing is wrong with the row, and the next one would fail alike.
        if (isConnectionLoss(error)) throw error;
        errors.push(error);
        if (rows.length === batch) this.failed.add(row.id);
        this.logger.warn(`${this.name} failed at ${row.id}: ${(error as Error).message}`);
      }
    }
    if (errors.length > 0) throw errors[0];
    return done;
  }
}
