/** DBOS, from the folder that BENCH_PEERS names: workflows of the same calls as the floor's, each a step of theirs. Does those that it is sent, and says in how many seconds. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { call } from '../floor/call.mjs';

const { DBOS } = createRequire(path.join(path.resolve(process.env.BENCH_PEERS), 'x.js'))('@dbos-inc/dbos-sdk');
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.env.DATABASE_URL,
  systemDatabasePoolSize: 20,
  runAdminServer: false,
  logLevel: 'error',
});

const workflow = DBOS.registerWorkflow(
  async ({ id, url, steps, input }) => {
    for (let n = 0; n < steps; n++) await DBOS.runStep(() => call(url, `${id}/s${n}`, { input, n }), { name: `s${n}` });
  },
  { name: 'calls' },
);
await DBOS.launch();
process.on('SIGTERM', () => process.exit(0));
process.on('message', async (runs) => {
  const since = performance.now();
  const handles = await Promise.all(runs.map((run) => DBOS.startWorkflow(workflow)(run)));
  await Promise.all(handles.map((handle) => handle.getResult()));
  process.send({ s: (performance.now() - since) / 1_000 });
});
process.send('ready');
