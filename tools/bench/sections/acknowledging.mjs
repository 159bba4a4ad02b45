/**
 * How long webhooks take to be acknowledged at ten times what one channel may send, and what another organization notices of that. Rates are
 * off, so that none is refused.
 */
import { query } from '../../dev/lib/postgres.mjs';
import { figure, printTable, quantile, steadily } from '../lib/measure.mjs';
import { inboxOf, sendWebhook, withIntake } from './intake.mjs';

/** RATE_LIMIT_WEBHOOK_CHANNEL is 300 a minute. */
const RATE = (10 * 300) / 60;
const NEIGHBOUR_RATE = 5;

export async function acknowledging({ product: shared, servers, quick }) {
  const product = await withIntake(shared, servers);
  const org = await product.call(`${product.url}/api/orgs`, { method: 'POST', body: { name: 'Neighbour' } });
  const [flooded, neighbour] = [await inboxOf(product), await inboxOf(product, org.id)];
  const sender = (inbox) => () => sendWebhook(product.url, inbox);
  const ms = quick ? 10_000 : 60_000;
  await steadily(RATE, ms / 4, sender(flooded));

  /** What the neighbour notices: until each message is acknowledged, and until it is evaluated. */
  const noticed = async (meanwhile) => {
    const [{ at }] = await query(servers.env.DATABASE_URL, 'SELECT now()::text AS at');
    const [took, other] = await Promise.all([steadily(NEIGHBOUR_RATE, ms, sender(neighbour)), meanwhile?.()]);
    const [{ evaluated }] = await query(
      servers.env.DATABASE_URL,
      `SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - received_at) * 1000) AS evaluated
       FROM inbox_messages WHERE inbox_id = '${neighbour.id}' AND received_at >= '${at}'`,
    );
    return { took, other, evaluated: Number(evaluated) };
  };
  const before = await noticed();
  const beside = await noticed(() => steadily(RATE, ms, sender(flooded)));
  const after = await noticed();
  const told = (took) => [0.5, 0.95, 0.99, 0.9999].map((q) => figure(quantile(took, q)));
  const rows = [
    [`${RATE} a second`, ...told(beside.other), ''],
    ...[
      ['before', before],
      ['beside', beside],
      ['after', after],
    ].map(([when, { took, evaluated }]) => [
      `${NEIGHBOUR_RATE} a second of another organization, ${when}`,
      ...told(took),
      figure(evaluated),
    ]),
  ];
  printTable(
    `Webhooks acknowledged through the gateway, over ${ms / 1_000} s, ms`,
    ['', 'p50', 'p95', 'p99', 'max', 'until evaluated, p95'],
    rows,
  );
  await product.stop();
}
