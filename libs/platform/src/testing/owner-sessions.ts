import type { Database } from '@aps/platform/database';
import { eventually } from './eventually';
import { sql } from './sql';

/** Resolves when the session of an owner of runs has stood for so long that a missing one tells of a death. */
export async function ownersAreBelieved(db: Database): Promise<void> {
  const old = sql<{ old: boolean }>(
    `SELECT backend_start < now() - interval '10 seconds' AS old FROM pg_stat_activity WHERE application_name = 'aps-run-owner' AND datname = current_database()`,
  );
  await eventually(
    () => db.query(old),
    (sessions) => sessions.some((session) => session.old),
  );
}
