/**
 * PostgreSQL, Redis or PgBouncer of a test's own, which it may kill and start again on the same port with the same data:
 * `node servers.mjs postgres|redis|pgbouncer <data folder>`; UPSTREAM_URL is what PgBouncer stands before. Obeys `{do: 'kill'|'start'|'stop', signal?}` messages and answers each with
 * `{done: true, ...}` or `{error}`. Ends its server and itself when the test's process is gone.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { startPgbouncer } from '../../../tools/dev/lib/pgbouncer.mjs';
import { makeDataDir, startPostgres, startRedis } from '../../../tools/dev/stack.mjs';

const [, , kind, folder] = process.argv;
const dir = makeDataDir(folder);
// Named servers are other people's; this one must be ours. Syncing stays on for PostgreSQL: a killed one must keep what it confirmed.
const START = {
  postgres: () => startPostgres({ dir, url: '' }),
  redis: () => startRedis({ dir, url: '', quick: true }),
  pgbouncer: () =>
    startPgbouncer({ dir: path.join(dir, 'pgbouncer'), log: path.join(dir, 'logs', 'pgbouncer.log'), upstream: process.env.UPSTREAM_URL }),
};
const { service, url } = await START[kind]();

async function obey({ do: verb, signal }) {
  if (verb === 'start') await service.start();
  else if (verb === 'kill') {
    const ended = new Promise((resolve) => service.child.once('exit', resolve));
    service.child.kill(signal ?? 'SIGKILL');
    await ended;
  } else if (verb === 'freeze') service.child.kill('SIGSTOP');
  else if (verb === 'thaw') service.child.kill('SIGCONT');
  else await end();
}

let ending;
function end() {
  ending ??= (async () => {
    if (service.isRunning) service.child.kill('SIGCONT');
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  })();
  return ending;
}

let queue = Promise.resolve();
process.on('message', (message) => {
  queue = queue
    .then(() => obey(message))
    .then(
      () => process.send({ done: true }),
      (error) => process.send({ error: error.message }),
    );
});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void end().then(() => process.exit(0)));
process.on('disconnect', () => void end().then(() => process.exit(0)));
process.send({ url });
