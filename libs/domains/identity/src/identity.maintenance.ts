import { Injectable, Module } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { LoginAttemptsRepository } from './login-attempts.repository';
import { MailedLinksRepository } from './mailed-links.repository';
import { SessionsRepository } from './sessions.repository';

const BATCH = 1_000;

/** Removes credentials that can never be used again. */
@Injectable()
class IdentityTasks {
  constructor(
    maintenance: Maintenance,
    db: Database,
    sessions: SessionsRepository,
    links: MailedLinksRepository,
    attempts: LoginAttemptsRepository,
  ) {
    maintenance.register({ name: 'sessions', everyS: 3_600, batch: BATCH, run: () => sessions.purge(db, BATCH) });
    maintenance.register({ name: 'login_attempts', everyS: 3_600, batch: BATCH, run: () => attempts.purge(db, BATCH) });
    maintenance.register({ name: 'mailed_links', everyS: 3_600, batch: BATCH, run: () => links.purge(db, BATCH) });
  }
}

/** For a worker application. */
@Module({ providers: [LoginAttemptsRepository, SessionsRepository, MailedLinksRepository, IdentityTasks] })
export class IdentityMaintenanceModule {}
