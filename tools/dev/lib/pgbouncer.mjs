/** A PgBouncer of our own on 127.0.0.1, in transaction mode, before a PostgreSQL that is there: the one on PATH. */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { UserError } from './console.mjs';
import { identity, query } from './postgres.mjs';
import { Service, freePort, onPath, spawnServer } from './processes.mjs';

/** Since then it keeps prepared statements in transaction mode. */
const KEEPS_STATEMENTS = [1, 21];

/**
 * @param {object} options
 * @param {string} options.upstream the PostgreSQL behind it
 * @returns {Promise<{ service: Service, url: string, detail: string }>} the address leads to the same database
 */
export async function startPgbouncer({ dir, log, upstream }) {
  const program = onPath('pgbouncer');
  if (!program) throw new UserError('There is no pgbouncer on PATH; install it, e.g. by apt-get install pgbouncer.');
  const version = /PgBouncer ([\d.]+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[1] ?? '0.0';
  const [major, minor] = version.split('.').map(Number);
  const keeps = major > KEEPS_STATEMENTS[0] || (major === KEEPS_STATEMENTS[0] && minor >= KEEPS_STATEMENTS[1]);

  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const { hostname, port: upstreamPort, username, password } = new URL(upstream);
  const file = path.join(dir, 'pgbouncer.ini');
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    pool_mode: 'transaction',
    max_client_conn: 500,
    default_pool_size: 20,
    // It logs in by itself, whoever comes.
    auth_type: 'any',
    ...(keeps && { max_prepared_statements: 500 }),
  };
  const quoted = (value) => `'${decodeURIComponent(value).replaceAll("'", "''")}'`;
  const target = `host=${hostname} port=${upstreamPort || 5432} user=${quoted(username)} password=${quoted(password)}`;
  writeFileSync(
    file,
    `[databases]\n* = ${target}\n[pgbouncer]\n${Object.entries(settings)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')}`,
    { mode: 0o600 },
  );
  const { uid, gid } = identity();
  // It refuses to run as root.
  if (uid !== undefined) for (const name of [dir, file]) chownSync(name, uid, gid);

  const url = Object.assign(new URL(upstream), { hostname: '127.0.0.1', port: String(port) }).href;
  const output = openSync(log, 'a', 0o600);
  const service = await new Service({
    name: 'PgBouncer',
    stopSignal: 'SIGINT',
    launch: () => spawnServer(program, [file], { uid, gid, cwd: '/', log: output }),
    isReady: () => query(url, 'select 1').then(() => true),
    lastWords: () => readFileSync(log, 'utf8').trim().split('\n').pop(),
  }).start();
  return { service, url, detail: `pgbouncer ${version}, 127.0.0.1:${port}` };
}
