/** Time from sending a message to the first text of the answer, one turn at a time, with a model that answers at once. */
import { call } from '../lib/client.mjs';
import { figure, interleaved, middle, printTable, quantile, ratio } from '../lib/measure.mjs';

const TEXT = 'Count to ten, please.';

async function sample(count, once) {
  const took = [];
  for (let i = 0; i < count; i++) took.push(await once(i));
  return { p50: quantile(took, 0.5), p95: quantile(took, 0.95) };
}

async function measure(system, count) {
  const chats = await system.newChats(count, { listening: true });
  const result = await sample(count, async (i) => {
    const since = performance.now();
    let first;
    await system.turn(chats[i], TEXT, () => (first ??= performance.now() - since));
    return first;
  });
  system.forget(chats);
  return result;
}

/** The model alone: what no system can take off. */
const direct = (modelUrl, count) =>
  sample(count, async () => {
    const since = performance.now();
    await call(`${modelUrl}/v1/chat/completions`, { method: 'POST', body: { messages: [{ role: 'user', content: TEXT }] } });
    return performance.now() - since;
  });

export async function firstToken({ floor, product, servers, quick }) {
  await Promise.all([floor.start(), product.start()]);
  const count = quick ? 40 : 100;
  await Promise.all([measure(floor, 20), measure(product, 20)]);
  const runs = await interleaved(
    { model: () => direct(servers.modelUrl, count), floor: () => measure(floor, count), product: () => measure(product, count) },
    quick ? 2 : 4,
  );
  const added = Object.fromEntries(
    ['floor', 'product'].map((name) => [
      name,
      runs[name].map(({ p50, p95 }, round) => ({ p50: p50 - runs.model[round].p50, p95: p95 - runs.model[round].p95 })),
    ]),
  );
  printTable(
    'First token, ms',
    ['', 'model alone', 'floor', 'product', 'ratio of what is added'],
    ['p50', 'p95'].map((key) => [
      key,
      ...['model', 'floor', 'product'].map((name) => figure(middle(runs[name], key))),
      figure(ratio(added.product, added.floor, key)),
    ]),
  );
}
