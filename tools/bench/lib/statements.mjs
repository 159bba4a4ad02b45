/** What PostgreSQL is asked, from its own log. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../dev/lib/postgres.mjs';

/** Until every backend has read its settings again, and until what was logged is in the file. */
const SETTLE_MS = 300;

const logging = async (url, how) => {
  await query(url, `ALTER SYSTEM ${how}`);
  await query(url, 'SELECT pg_reload_conf()');
  await sleep(SETTLE_MS);
};

/**
 * Runs `act` with every statement logged, which takes time: nothing is timed there. BEGIN and COMMIT count, and so does what other
 * processes of the same database ask meanwhile.
 *
 * @returns {Promise<{ result: any, statements: { backend: string, text: string }[] }>} of each statement who was asked, and its first line
 */
export async function logged({ dir, env }, database, act) {
  const file = path.join(dir, 'logs', 'postgres.log');
  await logging(env.DATABASE_URL, `SET log_statement = 'all'`);
  try {
    const from = statSync(file).size;
    const result = await act();
    await sleep(SETTLE_MS);
    const entry = new RegExp(`^\\S+ \\S+ UTC \\[(\\d+)\\] ${database} LOG:  (?:statement|execute [^:]+):\\s+(.*)$`, 'gm');
    const log = readFileSync(file).subarray(from).toString('utf8');
    return { result, statements: [...log.matchAll(entry)].map(([, backend, first]) => ({ backend, text: first })) };
  } finally {
    await logging(env.DATABASE_URL, 'RESET log_statement');
  }
}
