import { randomUUID } from 'node:crypto';
import { orderEvent } from '@aps/billing/testing';
import { sql } from '@aps/platform/testing';
import { until, type Platform } from '../../api-gateway-e2e/support';
import { aDelivery, Sender } from './sender';
import { proofOf } from './verdict';

const TRIES = 8;
const BREAK = (org: string) =>
  sql(`
    CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken on purpose'; END $$;
    CREATE TRIGGER broken BEFORE INSERT ON billing_orders FOR EACH ROW WHEN (NEW.org_id = '${org}') EXECUTE FUNCTION broken()`);
const MEND = sql('DROP FUNCTION broken() CASCADE');
/** The next try need not be waited for. */
const SOON = sql(`UPDATE outbox SET available_at = now() WHERE payload->>'event_id' = $1`);

/** A delivery fails as often as it is tried, and an operator replays it when the cause is mended. */
export async function failedAndReplayed(platform: Platform): Promise<void> {
  const operate = async (method: string, path: string) => (await platform.admin(method, path)).body;
  const org = (await platform.call('POST', '/api/orgs', { body: { name: 'Unlucky' } })).body.id as string;
  const checkout = await platform.call('POST', `/api/orgs/${org}/billing/checkout`, { body: { pack_code: 'pack_1k' } });
  const [pack] = ((await operate('GET', '/credit-packs')) as { code: string; polar_product_id: string }[]).filter(
    ({ code }) => code === 'pack_1k',
  );
  const bought = async () => (await operate('GET', `/orgs/${org}/credits`)).purchased_balance as string;

  await platform.database((db) => db.execute(BREAK(org)));
  const { checkout_id } = checkout.body as { checkout_id: string };
  const delivery = aDelivery(orderEvent({ id: randomUUID(), product_id: pack.polar_product_id, checkout_id }));
  const sender = new Sender(platform);
  const id = await sender.deliver(delivery);
  type Event = { id: string; status: string; attempts: number; error: string | null };
  const event = async () => ((await operate('GET', '/billing/events?limit=100')).items as Event[]).find((one) => one.id === id)!;
  await until(
    'the delivery is given up',
    async () => {
      await platform.database((db) => db.execute(SOON, [id]));
      return (await event()).attempts === TRIES;
    },
    60_000,
    200,
  );
  await until('its job ends', async () =>
    platform.database(async (db) => (await db.query(sql(`SELECT FROM outbox WHERE payload->>'event_id' = $1`), [id])).length === 0),
  );
  expect(await event()).toMatchObject({ status: 'failed', error: 'broken on purpose' });
  expect(await sender.deliver(delivery)).toBe(id);
  expect((await operate('POST', `/billing/events/${id}/replay`)).outcome).toBe('failed');
  expect(await bought()).toBe('0');

  await platform.database((db) => db.execute(MEND));
  const replays = [await operate('POST', `/billing/events/${id}/replay`), await operate('POST', `/billing/events/${id}/replay`)];
  expect(replays).toMatchObject([{ outcome: 'applied' }, { outcome: 'no_op' }]);
  expect([await bought(), (await event()).status]).toEqual(['1000', 'failed']);
  expect(await proofOf(platform, [org])).toEqual([]);
}
