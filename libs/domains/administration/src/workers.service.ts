import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Broadcaster } from '@aps/platform/broadcast';
import { Database } from '@aps/platform/database';
import { SET_DRAINING } from './workers.sql';

/** Tells workers to begin nothing new, and to go on. */
@Injectable()
export class WorkersService {
  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly broadcaster: Broadcaster,
  ) {}

  /**
   * The worker's row is what holds; the worker reads it at once, or with its next heartbeat. Saying again what holds changes nothing.
   *
   * @throws DomainError 404 `not_found` for one that is gone
   */
  setDraining(actor: ActingUser, id: string, draining: boolean): Promise<{ id: string; draining: boolean }> {
    return this.db.transaction(actor, async (tx) => {
      const [worker] = await tx.query(SET_DRAINING, [id, draining]);
      if (!worker) throw notFound('Worker');
      if (worker.changed) {
        await this.audit.record(tx, actor, draining ? 'worker.drained' : 'worker.resumed', id);
        tx.afterCommit(() => this.broadcaster.send('worker.changed', { worker_id: id }));
      }
      return { id, draining };
    });
  }
}
