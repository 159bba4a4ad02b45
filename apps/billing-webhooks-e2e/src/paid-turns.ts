import { NO_CALLER } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { aMark, repliesOf, until, type Answer, type Place } from '../../api-gateway-e2e/support';
import { Governance } from '../../chat-worker-e2e/src/governance';
import { proofOf } from './verdict';

/** By the seeded rate card an answer costs 1.1 credits, and its call holds a little less. */
const PRICES = { input_price_per_1m: '1', output_price_per_1m: '2', max_output_tokens: 4_096 };
const DEAR = { text: 'dear', usage: { input: 9_000, output: 1_000 } };
const COST = 1.1;

const credits = (g: Governance, { org_id }: Place, of = ''): Promise<Answer['body']> => g.operate('GET', `/orgs/${org_id}/credits${of}`);

/** An organization that pays in credits, with so many of them. */
async function paying(g: Governance, delta: string): Promise<Place> {
  const place = await g.org(await g.model(await g.route(), PRICES));
  await g.operate('PATCH', `/orgs/${place.org_id}/subscription`, { overrides: { enforces_credits: true } });
  await g.operate('POST', `/orgs/${place.org_id}/credits/adjust`, { delta, reason: 'To begin with' });
  return place;
}

/** What was burned is what the receipts say, one posting for each; nothing is held any more, and the proof finds nothing. */
async function expectSettled(g: Governance, place: Place, had: number, calls: number): Promise<void> {
  await until('no call holds anything', async () => (await credits(g, place)).open_holds === '0');
  const receipts = (await credits(g, place, '/receipts?limit=100')).items as { id: string; credits: string }[];
  const ledger = (await credits(g, place, '/ledger?limit=100')).items as { key: string; kind: string }[];
  const burns = ledger.filter(({ kind }) => kind === 'burn');
  expect(receipts.map((receipt) => receipt.credits)).toEqual(Array.from({ length: calls }, () => String(COST)));
  expect(burns.map(({ key }) => key).sort()).toEqual(receipts.map(({ id }) => `burn:${id}`).sort());
  const { balance, reconciled } = await credits(g, place);
  expect([Number(balance), reconciled]).toEqual([expect.closeTo(had - calls * COST, 6), true]);
  expect(await proofOf(g.platform, [place.org_id])).toEqual([]);
}

const WAIT_FOR_LOCK = `datname = current_database() AND wait_event_type = 'Lock'`;

/**
 * The worker has the answers, and dies while their receipts wait for the lock of the balance. Resolves when another one is there; what
 * must come of it is a scenario for later, when the leases have run out.
 */
export async function killedBeforeReceipts(g: Governance): Promise<() => Promise<void>> {
  const turns = 12;
  const place = await paying(g, '100');
  const talks = await Promise.all(Array.from({ length: turns }, () => g.talk(place)));
  const marks = talks.map(() => aMark());
  g.upstream.hold(...marks);
  await Promise.all(talks.map((talk, i) => g.say(talk, { mark: marks[i], steps: [DEAR] })));
  await Promise.all(marks.map((mark) => g.upstream.arrived(mark)));
  await g.platform.database(async (db) => {
    await db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql('SELECT FROM org_credits WHERE org_id = $1 FOR UPDATE'), [place.org_id]);
      g.upstream.release(...marks);
      const waiting = sql<{ n: number }>(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE ${WAIT_FOR_LOCK}`);
      await until('receipts wait', async () => (await db.query(waiting))[0].n > 0);
      await g.platform.kill('chat-worker');
      // The server would go on with what it was asked before it finds out.
      await db.query(sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${WAIT_FOR_LOCK}`));
    });
  });
  expect(await credits(g, place)).toMatchObject({ balance: '100', reconciled: true });
  expect((await credits(g, place, '/receipts')).items).toEqual([]);
  expect(Number((await credits(g, place)).open_holds)).toBeGreaterThan(turns / 2);
  await g.platform.restart('chat-worker');

  return async () => {
    for (const talk of talks) expect(repliesOf(await g.settled(talk, 1))).toMatchObject([{ content: 'dear' }]);
    expect(marks.map((mark) => g.upstream.asked(mark).length)).toEqual(marks.map(() => 2));
    await expectSettled(g, place, 100, turns);
  };
}

/** Two hundred turns at once of an organization that has ten credits, over HTTP. */
export async function capReached(g: Governance): Promise<void> {
  const [turns, had] = [200, 10];
  const place = await paying(g, String(had));
  const talks = await Promise.all(Array.from({ length: turns }, () => g.talk(place)));
  const marks = talks.map(() => aMark());
  // Nobody is answered before all have asked: whoever is let through holds on to what it may cost.
  g.upstream.hold(...marks);
  await Promise.all(talks.map((talk, i) => g.say(talk, { mark: marks[i], steps: [DEAR] })));
  const states = async () => Promise.all(talks.map(async (talk) => (await g.platform.getChat(talk.chat, place)).body));
  const isLetThrough = (mark: string) => g.upstream.asked(mark).length > 0;
  await until(
    'each is let through or refused',
    async () => (await states()).every(({ status }, i) => status === 'ARCHIVED' || isLetThrough(marks[i])),
    60_000,
    500,
  );
  const free = Number((await credits(g, place)).open_holds);
  const let_through = marks.filter(isLetThrough).length;
  // All that is left is less than the smallest of them holds.
  expect([free <= had, (free / let_through) * (let_through + 1) > had]).toEqual([true, true]);
  g.upstream.release(...marks);
  const ended = await Promise.all(
    talks.map((talk) => g.platform.untilChat(talk.chat, (c) => c.status === 'ARCHIVED' || repliesOf(c).length === 1, { place })),
  );
  expect(ended.filter(({ stop_reason }) => stop_reason === 'credits_exhausted')).toHaveLength(turns - let_through);
  await expectSettled(g, place, had, let_through);

  // The gate stays closed: for the same chat, and for another one.
  const refused = talks[ended.findIndex(({ status }) => status === 'ARCHIVED')];
  expect(await g.act(refused, 'continue')).toMatchObject({ status: 402, body: { code: 'credits_exhausted' } });
  const late = await g.talk(place);
  const mark = await g.say(late, { steps: [DEAR] });
  await g.platform.untilChat(late.chat, ({ stop_reason }) => stop_reason === 'credits_exhausted', { place });
  expect([mark, ...marks].filter(isLetThrough)).toHaveLength(let_through);
  await expectSettled(g, place, had, let_through);
}
