/**
 * What the payment provider waits for: how long a delivery takes to be acknowledged, alone and beside turns, and how many can be, beside the least that
 * stores one. Each is applied as well, by the same process.
 */
import { strictEqual } from 'node:assert';
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { query } from '../../dev/lib/postgres.mjs';
import { freePort } from '../../dev/lib/processes.mjs';
import { Child } from '../lib/children.mjs';
import { post } from '../lib/client.mjs';
import { closedLoop, compared, cpuMs, figure, interleaved, printTable, quantile, steadily } from '../lib/measure.mjs';
import { Product } from '../lib/systems.mjs';
import { measure } from './turns.mjs';

const PATH = '/api/webhooks/polar';
const RATE = 50;
const IN_FLIGHT = 64;
const CONNECTIONS = 32;
/** As large as the provider's are, more or less. */
const PADDING = 'x'.repeat(4_000);

/** A delivery, signed as Standard Webhooks has it. It grants nothing. */
function delivery(key) {
  const id = `msg_${randomUUID()}`;
  const at = new Date();
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const data = { id: randomUUID(), status: 'pending', metadata: { padding: PADDING }, created_at: at.toISOString() };
  const body = JSON.stringify({ type: 'order.created', timestamp: at.toISOString(), data });
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  return { headers, body };
}

/** Until all that were stored are applied, so that none is applied while another is measured. */
async function applied(url) {
  const left = `SELECT count(*)::int AS n FROM billing_events WHERE status = 'received'`;
  while ((await query(url, left))[0].n > 0) await sleep(200);
}

export async function deliveries({ product: shared, servers, quick }) {
  await shared.stop();
  const product = new Product(servers, { billing: true });
  product.flags = shared.flags;
  await product.start();
  const port = await freePort();
  const floor = await new Child('floor-deliveries', {
    file: fileURLToPath(new URL('../floor/deliveries.mjs', import.meta.url)),
    dir: servers.dir,
    env: { ...servers.env, DATABASE_URL: servers.floorUrl, PORT: String(port) },
  }).start();
  const { DATABASE_URL: url, POLAR_WEBHOOK_SECRETS: secret } = servers.env;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const sender = (address) => async () => {
    const { headers, body } = delivery(key);
    strictEqual(await post(address, headers, body), 202);
  };
  const send = {
    floor: sender(`http://127.0.0.1:${port}/`),
    direct: sender(product.billingUrl + PATH),
    gateway: sender(product.url + PATH),
  };

  const [ms, rounds] = quick ? [1_000, 2] : [3_000, 8];
  const pids = { floor: [floor.pid], direct: [product.billingPid], gateway: [product.billingPid, product.pids[0]] };
  const variants = (time) =>
    Object.fromEntries(
      Object.keys(send).map((name) => [
        name,
        async () => {
          const cpu = () => cpuMs(pids[name]) + cpuMs(servers.pids.postgres);
          const before = cpu();
          const result = await closedLoop({ width: CONNECTIONS, ms: time }, send[name]);
          const spent = cpu() - before;
          await applied(url);
          return { ...result, cpu: spent / result.count };
        },
      ]),
    );
  await interleaved(variants(quick ? 1_000 : 5_000), 1);
  const runs = await interleaved(variants(ms), rounds);
  printTable(
    `Deliveries taken in, ${CONNECTIONS} at a time, and applied meanwhile`,
    ['', 'floor', 'billing-webhooks', 'ratio', 'through the gateway', 'ratio'],
    [
      ['deliveries/s', 'rate'],
      ['p50, ms', 'p50'],
      ['p95, ms', 'p95'],
      ['CPU ms of the processes and PostgreSQL', 'cpu'],
    ].map(([name, of]) => [name, ...compared(runs.floor, runs.direct, of), ...compared(runs.floor, runs.gateway, of).slice(1)]),
  );

  const time = quick ? 5_000 : 30_000;
  const rows = [];
  for (const [name, how] of [
    ['billing-webhooks', send.direct],
    ['through the gateway', send.gateway],
  ]) {
    const alone = await steadily(RATE, time, how);
    const turns = measure(product, servers.pids, { width: IN_FLIGHT, ms: time, listening: true });
    const beside = await steadily(RATE, time, how);
    const { rate } = await turns;
    await applied(url);
    const told = (took) => [0.5, 0.99, 0.9999].map((q) => figure(quantile(took, q)));
    rows.push([name, 'alone', ...told(alone), ''], [name, `beside ${IN_FLIGHT} turns in flight`, ...told(beside), figure(rate)]);
  }
  printTable(`Acknowledging a delivery, ${RATE} a second, ms`, ['', '', 'p50', 'p99', 'max', 'turns/s meanwhile'], rows);
  await floor.stop();
  await product.stop();
}
