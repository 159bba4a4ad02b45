import { statement } from '@aps/platform/database';

/** The first number of all advisory locks by which owners live; the second is the owner's. */
const LOCKS = 0x617073;

/** What their sessions are called. */
export const OWNER_SESSION = 'aps-run-owner';

/** On the owner's own connection: takes the lock of a new number, and only then is there anything to find. */
export const ENTER = `
  WITH n AS MATERIALIZED (SELECT nextval(pg_get_serial_sequence('run_owners', 'n'))::int AS n),
       locked AS MATERIALIZED (SELECT n, pg_try_advisory_lock(${LOCKS}, n) AS held FROM n)
  INSERT INTO run_owners (n, owner, app) SELECT n, $1, $3 FROM locked WHERE held AND pg_backend_pid() = $2 RETURNING n`;
export const LEAVE = 'DELETE FROM run_owners WHERE n = $1';

/** Owners among the workers of an app whose session is gone. */
export const GONE = statement<{ n: number; owner: string }>(`
  SELECT o.n, o.owner FROM run_owners o
  WHERE o.app = $1
    AND NOT EXISTS (
      SELECT FROM pg_locks l
      WHERE l.locktype = 'advisory' AND l.classid = ${LOCKS} AND l.objid = o.n::oid AND l.objsubid = 2 AND l.granted
        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))`);
/**
 * Whether it is gone for certain; holds until the transaction ends. When the database was restarted, gave its place to a standby or could
 * not be reached, the sessions of all owners are gone: until that of one has stood for so long, of whatever app, the others may be about
 * to come back, and none is taken for dead.
 */
export const TAKE_PLACE = statement<{ gone: boolean }>(`
  SELECT pg_try_advisory_xact_lock(${LOCKS}, $1::int) AND EXISTS (
    SELECT FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.application_name = '${OWNER_SESSION}' AND a.backend_start < now() - interval '10 seconds') AS gone`);
export const REMOVE = statement('DELETE FROM run_owners WHERE n = $1');
