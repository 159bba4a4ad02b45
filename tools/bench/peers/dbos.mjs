/** DBOS, from the folder that BENCH_PEERS names: workflows of the same calls as the floor's, each a step of theirs. Does those that it is sent, and says in how many seconds. */
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';

const { DBOS } = createRequire(path.join(path.resolve(process.env.BENCH_PEERS), 'x.js'))('@dbos-inc/dbos-sdk');
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.env.DATABASE_URL,
  systemDatabasePoolSize: 20,
  runAdminServer: false,
  logLevel: 'error',
});
const agent = new http.Agent({ keepAlive: true, maxSockets: 4_096 });

function call(url, key, body) {
  return new Promise((resolve, reject) => {
    const payload = Buffer.from(JSON.stringify(body));
    const headers = { 'content-type': 'application/json', 'content-length': payload.length, 'idempotency-key': key };
    const request = http.request(url, { method: 'PUT', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode, json: JSON.parse(text) })).on('error', reject);
    });
    request.on('error', reject).end(payload);
  });
}

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
