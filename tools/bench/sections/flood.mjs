/** What one organization's flood costs another: turns alone, and the same while 2,000 turns of the other wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { figure, printTable, quantile } from '../lib/measure.mjs';
import { entitle, GENEROUS } from '../lib/plan.mjs';
import { Product } from '../lib/systems.mjs';

const FLOOD = 2_000;
const CAP = 50;
const STEP = { text: 'busy', delay_ms: 1_000 };
const SLOW = `Take your time.\n\`\`\`mock\n${JSON.stringify({ steps: [STEP] })}\n\`\`\``;

/** An organization of its own with an agent. @returns the address of its chats */
async function makeNeighbour(product) {
  const org = await product.call(`${product.url}/api/orgs`, { method: 'POST', body: { name: 'Neighbour' } });
  const agent = await product.call(`${product.url}/api/orgs/${org.id}/agents`, {
    method: 'POST',
    body: { name: 'Neighbour', instruction: 'Answer.' },
  });
  return `${product.url}/api/orgs/${org.id}/agents/${agent.id}/chats`;
}

async function timed(product, chatsUrl, times, pauseMs) {
  const took = [];
  for (let i = 0; i < times; i++) {
    const chat = await product.newChat(chatsUrl);
    const since = performance.now();
    await product.turn({ ...chat, url: chatsUrl }, 'Hello');
    took.push(performance.now() - since);
    await sleep(pauseMs);
  }
  return took;
}

export async function flood({ product: shared, servers, quick }) {
  // Its worker would take turns, too, and has another cap.
  await shared.stop();
  await entitle(servers.env.DATABASE_URL, { max_concurrent_chats: CAP });
  const product = new Product(servers);
  try {
    await product.start();
    const neighbour = await makeNeighbour(product);
    const times = quick ? 10 : 40;
    await timed(product, neighbour, 5, 0);
    const alone = await timed(product, neighbour, times, 50);
    const chats = await product.newChats(quick ? FLOOD / 4 : FLOOD);
    const sent = Promise.all(
      chats.map((chat) => product.call(`${product.chatsUrl}/${chat.id}/messages`, { method: 'POST', body: { content: SLOW } })),
    );
    const during = await timed(product, neighbour, times, 50);
    await sent;
    const rows = [
      ['alone', alone],
      [`while ${chats.length} turns of another wait`, during],
    ].map(([name, took]) => [name, ...[0.5, 0.95, 0.9999].map((q) => figure(quantile(took, q)))]);
    printTable(`A turn beside a flood, ms (cap ${CAP} running turns an organization)`, ['', 'p50', 'p95', 'max'], rows);
  } finally {
    await product.stop();
    await entitle(servers.env.DATABASE_URL, GENEROUS);
  }
}
