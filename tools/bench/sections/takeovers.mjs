/** How long turns stand still whose worker goes: from when it lets go of them at a shutdown, or is killed, until the other has claimed them. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { figure, printTable, quantile } from '../lib/measure.mjs';
import { Product } from '../lib/systems.mjs';

const TURNS = 32;
const POLL_MS = 2;
/** Longer than anybody waits here. */
const LONG = `Take your time.\n\`\`\`mock\n${JSON.stringify({ steps: [{ text: 'late', delay_ms: 120_000 }] })}\n\`\`\``;
const OWNED = `SELECT id, lease_owner AS owner, fence FROM turns WHERE status = 'running'`;

/** @param go sends the worker away @returns ms, of each turn that it had */
async function stoodStill(client, worker, go) {
  const ofWorker = ({ owner }) => owner?.split(':')[1] === String(worker);
  const look = async () => (await client.query(OWNED)).rows;
  const left = new Map((await look()).filter(ofWorker).map((turn) => [turn.id, { ...turn, since: performance.now() }]));
  const took = [];
  const went = go();
  while (left.size > 0) {
    for (const turn of await look()) {
      const before = left.get(turn.id);
      if (!before) continue;
      if (turn.fence === before.fence && ofWorker(turn)) {
        if (!went.killedAt) before.since = performance.now();
      } else if (turn.owner && turn.fence !== before.fence) {
        took.push(performance.now() - (went.killedAt ?? before.since));
        left.delete(turn.id);
      }
    }
    await sleep(POLL_MS);
  }
  await went.over;
  return took;
}

export async function takeovers({ product: shared, servers, quick }) {
  await shared.stop();
  const product = new Product({ ...servers, env: { ...servers.env, SHUTDOWN_GRACE_MS: '5000' } });
  product.flags = shared.flags;
  await product.start();
  const client = new pg.Client({ connectionString: servers.env.DATABASE_URL });
  await client.connect();
  const ways = {
    'ended by SIGTERM, once it has let go': (worker) => ({ over: worker.stop() }),
    'killed by SIGKILL': (worker) => {
      worker.process.kill('SIGKILL');
      return { killedAt: performance.now(), over: worker.stop() };
    },
  };
  const rows = [];
  for (const [name, go] of Object.entries(ways)) {
    const took = [];
    for (let round = 0; round < (quick ? 2 : 8); round++) {
      const second = await (await product.app('chat-worker')).start();
      const chats = await product.newChats(TURNS);
      const tell = (chat, what, body) => product.call(`${product.chatsUrl}/${chat.id}/${what}`, { method: 'POST', body });
      await Promise.all(chats.map((chat) => tell(chat, 'messages', { content: LONG })));
      while ((await client.query(OWNED)).rows.length < TURNS) await sleep(20);
      took.push(...(await stoodStill(client, second.pid, () => go(second))));
      await Promise.all(chats.map((chat) => tell(chat, 'stop')));
      while ((await client.query(OWNED)).rows.length > 0) await sleep(20);
    }
    rows.push([name, took.length, ...[0.5, 0.95, 0.9999].map((q) => figure(quantile(took, q)))]);
  }
  printTable(
    `From the end of a worker until the other goes on with its turns, ms, ${TURNS} between both`,
    ['it was', 'turns', 'p50', 'p95', 'max'],
    rows,
  );
  await client.end();
  await product.stop();
}
