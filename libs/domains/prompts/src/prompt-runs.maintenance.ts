import { Injectable } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { PromptRunsRepository } from './prompt-runs.repository';

const BATCH = 100;
const EVERY_S = 15;

/** Ends runs whose process has died, within a minute. */
@Injectable()
export class LostPromptRuns {
  constructor(maintenance: Maintenance, db: Database, runs: PromptRunsRepository) {
    maintenance.register({ name: 'prompt_runs', everyS: EVERY_S, batch: BATCH, run: () => runs.lose(db, BATCH) });
  }
}
