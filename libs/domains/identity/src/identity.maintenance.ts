import { Injectable, Module } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { PasswordResetsRepository } from './password-resets.repository';
import { SessionsRepository } from './sessions.repository';

const BATCH = 1_000;

/** Removes credentials that can never be used again. */
@Injectable()
class IdentityTasks {
  constructor(maintenance: Maintenance, db: Database, sessions: SessionsRepository, resets: PasswordResetsRepository) {
    maintenance.register({ name: 'sessions', everyS: 3_600, batch: BATCH, run: () => sessions.purge(db, BATCH) });
    maintenance.register({ name: 'password_resets', everyS: 3_600, batch: BATCH, run: () => resets.purge(db, BATCH) });
  }
}

/** For a worker application. */
@Module({ providers: [SessionsRepository, PasswordResetsRepository, IdentityTasks] })
export class IdentityMaintenanceModule {}
