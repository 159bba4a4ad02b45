/** Authenticated reads of the public API against bare Express and pg: chats by statements, memories by a table of TypeORM's. */
import { deepStrictEqual } from 'node:assert';
import { fileURLToPath } from 'node:url';
import { query } from '../../dev/lib/postgres.mjs';
import { freePort } from '../../dev/lib/processes.mjs';
import { Child } from '../lib/children.mjs';
import { call } from '../lib/client.mjs';
import { load } from '../lib/load.mjs';
import { compared, cpuMs, interleaved, printTable } from '../lib/measure.mjs';

const ROWS = 60;
const CONNECTIONS = 32;

/** @param {{ token?: string }} options the one that may read, which is the owner's */
export async function startFloor({ dir, env, seed, userId = '', token = seed.api_token }) {
  const port = await freePort();
  const file = fileURLToPath(new URL('../floor/reads.mjs', import.meta.url));
  const child = await new Child('floor-reads', {
    file,
    dir,
    env: { ...env, PORT: String(port), ORG_ID: seed.org_id, USER_ID: userId, TOKEN: token },
  }).start();
  return { url: `http://127.0.0.1:${port}`, pids: [child.pid] };
}

export async function reads({ product, servers, quick }) {
  await product.start();
  const { seed, env } = servers;
  const [{ id: userId }] = await query(env.DATABASE_URL, `SELECT id FROM users WHERE email = '${seed.user.email}'`);
  const floor = await startFloor({ ...servers, userId });
  const agent = await product.call(`${product.url}/api/orgs/${seed.org_id}/agents`, {
    method: 'POST',
    body: { name: 'Bench', instruction: 'Answer briefly.' },
  });
  const chatsUrl = product.chatsOf(agent.id);
  const chats = await Promise.all(Array.from({ length: ROWS }, () => product.newChat(chatsUrl)));
  const agentUrl = `${product.url}/api/orgs/${seed.org_id}/agents/${agent.id}`;
  for (let n = 0; n < ROWS; n++) await product.call(`${agentUrl}/memories`, { method: 'POST', body: { content: `Memory ${n}` } });
  await query(env.DATABASE_URL, 'VACUUM ANALYZE chats, memories');

  const [ms, rounds] = quick ? [1_000, 2] : [3_000, 4];
  const gateway = [product.pids[0]];
  const rows = [];
  for (const [name, path] of [
    ['one chat', `chats/${chats[0].id}`],
    ['page of 20 chats', 'chats?limit=20'],
    ['page of 20 memories', 'memories?limit=20'],
  ]) {
    const places = {
      floor: { url: `${floor.url}/agents/${agent.id}/${path}`, pids: floor.pids },
      product: { url: `${agentUrl}/${path}`, pids: gateway },
    };
    const [fromFloor, fromProduct] = await Promise.all(Object.values(places).map(({ url }) => call(url, { token: seed.api_token })));
    deepStrictEqual(fromFloor, fromProduct);
    const measure = async ({ url, pids }, time) => {
      const before = cpuMs(pids);
      const result = await load({ url, token: seed.api_token, connections: CONNECTIONS, ms: time });
      if (result.failed) throw new Error(`${result.failed} answers of ${url} were not 200`);
      return { ...result, cpu: (cpuMs(pids) - before) / result.count };
    };
    const variants = (time) => Object.fromEntries(Object.entries(places).map(([key, place]) => [key, () => measure(place, time)]));
    await interleaved(variants(ms), 1);
    const runs = await interleaved(variants(ms), rounds);
    rows.push([name, ...compared(runs.floor, runs.product, 'rate'), ...compared(runs.floor, runs.product, 'cpu')]);
  }
  printTable(
    `Reads, ${CONNECTIONS} connections`,
    ['read', 'floor, requests/s', 'product', 'ratio', 'floor, CPU ms a request', 'product', 'ratio'],
    rows,
  );
}
