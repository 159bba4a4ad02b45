import { randomUUID } from 'node:crypto';
import { BillingModule } from '../billing.module';
import { BillingEvent } from '@aps/entities';
import { NO_CALLER } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { sql } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { DeliveriesModule } from './deliveries.module';
import { DeliveriesService } from './deliveries.service';

/** Nobody takes the jobs that are handed out here. */
const t = testService([...BASE_MODULES, BillingModule, DeliveriesModule]);
const sweep = (limit = 100) => t.get(DeliveriesService).sweep(limit);
const jobs = async () =>
  (await t.db.query(sql<{ id: string }>(`SELECT payload->>'event_id' AS id FROM outbox WHERE job = 'billing.apply' ORDER BY id`))).map(
    ({ id }) => id,
  );
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const stored = (columns: Partial<BillingEvent>) =>
  t.insert(BillingEvent, { delivery_id: randomUUID(), type: 'order.paid', payload: {}, ...columns } as Partial<BillingEvent>);
const hand = (id: string) => t.db.transaction(NO_CALLER, (tx) => t.get(Outbox).enqueue(tx, 'billing.apply', { event_id: id }, { id }));

describe('the sweep of deliveries', () => {
  beforeEach(() => t.db.execute(sql('DELETE FROM billing_events')));
  beforeEach(() => t.db.execute(sql('DELETE FROM outbox')));

  it('hands out what waits for a try and has no job, once', async () => {
    const lost = await stored({ status: 'received', next_attempt_at: minutesAgo(3) });
    const again = await stored({ status: 'failed', attempts: 2, error: 'broken', next_attempt_at: minutesAgo(3) });
    expect(await sweep()).toBe(2);
    expect(await jobs()).toEqual([lost, again]);
    expect(await sweep()).toBe(0);
    expect(await jobs()).toEqual([lost, again]);
  });

  it('leaves alone what has a job, what is not due for long, and what is over', async () => {
    const handed = await stored({ status: 'received', next_attempt_at: minutesAgo(3) });
    await hand(handed);
    await stored({ status: 'received', next_attempt_at: minutesAgo(1) });
    await stored({ status: 'failed', attempts: 1, next_attempt_at: minutesAgo(-1) });
    await stored({ status: 'failed', attempts: 8, next_attempt_at: null });
    for (const status of ['applied', 'ignored', 'unresolved'] as const) await stored({ status, next_attempt_at: null });
    expect(await sweep()).toBe(0);
    expect(await jobs()).toEqual([handed]);
  });

  it('begins with what has waited longest', async () => {
    const ids: string[] = [];
    for (const minutes of [3, 5, 4]) ids.push(await stored({ status: 'received', next_attempt_at: minutesAgo(minutes) }));
    expect(await sweep(2)).toBe(2);
    expect((await jobs()).sort()).toEqual([ids[1], ids[2]].sort());
  });
});
