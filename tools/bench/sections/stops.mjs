/** How long a stop takes until the provider's connection is cut. The model server is this process, so both ends have one clock. */
import http from 'node:http';
import { query } from '../../dev/lib/postgres.mjs';
import { figure, printTable, quantile } from '../lib/measure.mjs';
import { Product } from '../lib/systems.mjs';

const CHUNK_MS = 20;

/** Talks without end, and tells when a call is cut. */
async function endlessModel() {
  const cut = new Map();
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const name = /stop-me-\d+/.exec(body)?.[0];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const talk = setInterval(
      () => response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'word ' } }] })}\n\n`),
      CHUNK_MS,
    );
    response.once('close', () => {
      clearInterval(talk);
      cut.get(name)?.(performance.now());
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    whenCut: (name) => new Promise((resolve) => cut.set(name, resolve)),
    close: () => server.close(),
  };
}

export async function stops({ product: shared, servers, quick }) {
  // Its worker would take turns, too, and knows another model.
  await shared.stop();
  const model = await endlessModel();
  const product = new Product(servers);
  const pointTo = (url) => query(servers.env.DATABASE_URL, `UPDATE inference_routes SET base_url = '${url}' WHERE slug = 'mock'`);
  try {
    await pointTo(model.url);
    await product.start();
    const rows = [];
    for (const width of [1, 16, 64]) {
      const took = [];
      for (let round = 0; round < (quick ? 2 : width === 1 ? 30 : 6); round++) {
        const chats = await product.newChats(width, { listening: true });
        await Promise.all(
          chats.map(async (chat, i) => {
            const name = `stop-me-${round}${width}${i}`;
            const speaks = chat.stream.until('message_delta');
            const cut = model.whenCut(name);
            await product.call(`${product.chatsUrl}/${chat.id}/messages`, { method: 'POST', body: { content: name } });
            await speaks;
            const since = performance.now();
            const [at] = await Promise.all([cut, product.call(`${product.chatsUrl}/${chat.id}/stop`, { method: 'POST' })]);
            took.push(at - since);
          }),
        );
        product.forget(chats);
      }
      rows.push([width, took.length, ...[0.5, 0.95, 1].map((q) => figure(quantile(took, Math.min(q, 0.9999))))]);
    }
    printTable('From a stop to the end of the model call, ms', ['stopped at once', 'stops', 'p50', 'p95', 'max'], rows);
  } finally {
    await product.stop();
    await pointTo(servers.env.MOCK_ROUTE_BASE_URL);
    model.close();
  }
}
