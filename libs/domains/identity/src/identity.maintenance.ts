import { Injectable, Module } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { PURGE_API_TOKENS } from './api-tokens.sql';
import { PURGE_LOGIN_ATTEMPTS } from './login-attempts.repository';
import { PURGE_MAILED_LINKS } from './mailed-links.repository';
import { PURGE_SIGN_IN_REQUESTS } from './oidc/identities.repository';
import { PURGE_SESSIONS } from './sessions.repository';

const BATCH = 1_000;
const PURGES = {
  sessions: PURGE_SESSIONS,
  api_tokens: PURGE_API_TOKENS,
  login_attempts: PURGE_LOGIN_ATTEMPTS,
  mailed_links: PURGE_MAILED_LINKS,
  sign_in_requests: PURGE_SIGN_IN_REQUESTS,
};

/** Removes credentials that can never be used again. */
@Injectable()
class IdentityTasks {
  constructor(maintenance: Maintenance, db: Database) {
    for (const [name, purge] of Object.entries(PURGES))
      maintenance.register({ name, everyS: 3_600, batch: BATCH, run: () => db.execute(purge, [BATCH]) });
  }
}

/** For a worker application. */
@Module({ providers: [IdentityTasks] })
export class IdentityMaintenanceModule {}
