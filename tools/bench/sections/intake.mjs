/**
 * How fast messages are taken in: webhooks that are signed, stored and acknowledged, and mails by SMTP, beside PostgreSQL's own commits of
 * one row, and the least server that makes one for each. What came is evaluated meanwhile, by the same process, and its CPU is that of all.
 * In the end as many rows are there as were acknowledged.
 */
import { strictEqual } from 'node:assert';
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import pg from 'pg';
import { query } from '../../dev/lib/postgres.mjs';
import { freePort } from '../../dev/lib/processes.mjs';
import { Child } from '../lib/children.mjs';
import { post } from '../lib/client.mjs';
import { closedLoop, compared, cpuMs, figure, interleaved, middle, printTable } from '../lib/measure.mjs';
import { Product } from '../lib/systems.mjs';

const IN_FLIGHT = 16;
const SECRET = 'known-to-both';
/** As large as many webhooks are. */
const WEBHOOK = JSON.stringify({ subject: 'An order', items: Array.from({ length: 40 }, (_, n) => ({ n, what: 'x'.repeat(30) })) });
const MAIL = { from: 'ann@example.com', subject: 'An order', text: 'Ten of them, please.\n'.repeat(480) };
/** Messages end there, so that no turn is measured. */
const RULES = { stages: [], default: { action: 'drop' } };

/** An inbox with a channel of each kind. @returns its id, the path of its webhook, and its address */
export async function inboxOf(product, org = product.seed.org_id) {
  const inboxes = `${product.url}/api/orgs/${org}/inboxes`;
  const made = await product.call(inboxes, {
    method: 'POST',
    body: { name: 'Bench', slug: `bench-${randomUUID().slice(-12)}`, channels: ['webhook', 'email'] },
  });
  const [hook, mail] = made.channels;
  const inbox = `${inboxes}/${made.id}`;
  const { id } = await product.call(`${inbox}/revisions`, { method: 'POST', body: { definition: RULES } });
  await product.call(`${inbox}/revisions/${id}/deploy`, { method: 'POST' });
  const signature = { scheme: 'github', secret: SECRET };
  await product.call(`${inbox}/channels/${hook.id}`, { method: 'PATCH', body: { config: { signature } } });
  return { id: made.id, hook: new URL(hook.webhook_url).pathname, address: mail.address };
}

/** A product of which inbox-intake is a part; the shared one ends, since its worker would take turns, too. */
export async function withIntake(shared, servers) {
  await shared.stop();
  const product = new Product(servers, { intake: true });
  product.flags = shared.flags;
  return product.start();
}

/** A repeat is told by its id, so each has one of its own. */
const headersOf = () => ({
  'content-type': 'application/json',
  'x-github-delivery': randomUUID(),
  'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(WEBHOOK).digest('hex')}`,
});

/** Sends one webhook, which must be taken in. @param at the address of inbox-intake, or of the gateway */
export const sendWebhook = async (at, inbox) => strictEqual(await post(at + inbox.hook, headersOf(), WEBHOOK), 202);

export async function intake({ product: shared, servers, quick }) {
  const product = await withIntake(shared, servers);
  const { DATABASE_URL: url } = servers.env;
  const inbox = await inboxOf(product);
  const port = await freePort();
  const server = await new Child('floor-deliveries', {
    file: fileURLToPath(new URL('../floor/deliveries.mjs', import.meta.url)),
    dir: servers.dir,
    env: { ...servers.env, DATABASE_URL: servers.floorUrl, PORT: String(port) },
  }).start();
  const floor = new pg.Pool({ connectionString: servers.floorUrl, max: IN_FLIGHT });
  await floor.query(
    'CREATE TABLE IF NOT EXISTS messages_taken (id uuid PRIMARY KEY, body text NOT NULL, at timestamptz NOT NULL DEFAULT now())',
  );
  const smtp = createTransport({
    host: '127.0.0.1',
    port: product.smtpPort,
    pool: true,
    maxConnections: IN_FLIGHT,
    maxMessages: Infinity,
    ignoreTLS: true,
  });
  let acknowledged = 0;
  const hook = (address) => async () => {
    await sendWebhook(address, inbox);
    acknowledged++;
  };
  const send = {
    floor: () =>
      floor.query({ name: 'take', text: 'INSERT INTO messages_taken (id, body) VALUES ($1, $2)', values: [randomUUID(), WEBHOOK] }),
    server: async () => strictEqual(await post(`http://127.0.0.1:${port}/`, headersOf(), WEBHOOK), 202),
    direct: hook(product.intakeUrl),
    gateway: hook(product.url),
    smtp: async () => {
      await smtp.sendMail({ ...MAIL, to: inbox.address, messageId: `<${randomUUID()}@example.com>` });
      acknowledged++;
    },
  };
  /** So that none is evaluated while another is measured. */
  const evaluated = async () => {
    while ((await query(url, `SELECT count(*)::int AS n FROM inbox_messages WHERE status <> 'settled'`))[0].n > 0) await sleep(200);
  };
  const pids = {
    floor: [],
    server: [server.pid],
    direct: [product.intakePid],
    gateway: [product.intakePid, product.pids[0]],
    smtp: [product.intakePid],
  };
  const variants = (ms) =>
    Object.fromEntries(
      Object.keys(send).map((name) => [
        name,
        async () => {
          const cpu = () => cpuMs(pids[name]) + cpuMs(servers.pids.postgres);
          const before = cpu();
          const result = await closedLoop({ width: IN_FLIGHT, ms }, send[name]);
          await evaluated();
          return { ...result, cpu: (cpu() - before) / result.count };
        },
      ]),
    );
  await interleaved(variants(quick ? 1_000 : 5_000), 1);
  const runs = await interleaved(variants(quick ? 1_000 : 3_000), quick ? 2 : 8);
  printTable(
    `Messages taken in, ${IN_FLIGHT} at a time, and evaluated meanwhile`,
    [
      '',
      'commits of one row',
      'a server of them',
      'ratio',
      'webhooks at inbox-intake',
      'ratio',
      'through the gateway',
      'ratio',
      'mails of 10 KB by SMTP',
    ],
    [
      ['messages/s', 'rate'],
      ['p50, ms', 'p50'],
      ['p95, ms', 'p95'],
      ['CPU ms of the processes and PostgreSQL', 'cpu'],
    ].map(([name, of]) => [
      name,
      ...compared(runs.floor, runs.server, of),
      ...compared(runs.floor, runs.direct, of).slice(1),
      ...compared(runs.floor, runs.gateway, of).slice(1),
      figure(middle(runs.smtp, of)),
    ]),
  );
  const [{ n }] = await query(url, `SELECT count(*)::int AS n FROM inbox_messages WHERE inbox_id = '${inbox.id}'`);
  strictEqual(n, acknowledged, 'as many rows as acknowledgements');
  smtp.close();
  await floor.end();
  await server.stop();
  await product.stop();
}
