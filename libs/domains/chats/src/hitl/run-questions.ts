import { Injectable } from '@nestjs/common';
import type { HitlRequest } from '@aps/entities';
import type { Tx } from '@aps/platform/database';

/** Asks humans for process runs, and hears of what becomes of that in the same transaction. */
export interface RunAsker {
  /** Comes before the request is looked at: who writes the run does so under this lock. */
  lock(tx: Tx, runId: string): Promise<void>;
  /** @returns whether the run goes on with it */
  onResolved(tx: Tx, request: HitlRequest): Promise<boolean>;
}

/** Where questions of process runs, which are a domain above, are heard of. */
@Injectable()
export class RunQuestions {
  private asker: RunAsker | null = null;

  register(asker: RunAsker): void {
    this.asker = asker;
  }

  async lock(tx: Tx, runId: string): Promise<void> {
    await this.asked.lock(tx, runId);
  }

  tell(tx: Tx, request: HitlRequest): Promise<boolean> {
    return this.asked.onResolved(tx, request);
  }

  private get asked(): RunAsker {
    if (!this.asker) throw new Error('Nobody hears of what process runs have asked');
    return this.asker;
  }
}
