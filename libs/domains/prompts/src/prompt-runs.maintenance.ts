import { Injectable } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { promptsConfig } from './prompts.config';
import { PromptRunsRepository } from './prompt-runs.repository';

const BATCH = 100;
const EVERY_S = 15;
const FORGET_EVERY_S = 600;

/** Ends runs whose process has died, within a minute; forgets what old ones say, and those of templates that are long gone. */
@Injectable()
export class PromptRunTasks {
  constructor(maintenance: Maintenance, db: Database, runs: PromptRunsRepository) {
    maintenance.register({ name: 'prompt_runs', everyS: EVERY_S, batch: BATCH, run: () => runs.lose(db, BATCH) });
    const forget = () => runs.forget(db, promptsConfig.value.runRetentionDays, BATCH);
    maintenance.register({ name: 'prompt_retention', everyS: FORGET_EVERY_S, batch: BATCH, run: forget });
  }
}
