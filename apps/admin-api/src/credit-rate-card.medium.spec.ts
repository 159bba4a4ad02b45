import { RateCards } from '@aps/billing';
import { CreditDisplayFx, RateCard } from '@aps/entities';
import { aTeam } from '@aps/orgs/testing';
import { Database } from '@aps/platform/database';
import { outcome, sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

const DAY_MS = 86_400_000;

describe('the rate card', () => {
  const admin = adminService();
  const { t, call } = admin;
  const day = (days: number) => new Date(t.db.now().getTime() + days * DAY_MS).toISOString().slice(0, 10);
  const publish = (body: Record<string, unknown>) => call('POST', '/credit-rate-card', body);
  const version = (n: number, days: number, over: Record<string, unknown> = {}) =>
    publish({ version: n, effective_from: day(days), credits_per_usd: '100', ...over });
  const get = async () => (await call('GET', '/credit-rate-card')).body;
  const audits = () =>
    t.db.query(
      sql<{ action: string; target_id: string | null; source: string; metadata: object }>(
        `SELECT * FROM audit_log WHERE target_kind = 'rate_card' OR action = 'credit_display_fx.updated' ORDER BY id`,
      ),
    );
  /** One that is in force already. */
  const begun = (n: number, days: number) =>
    t.db.manager.insert(RateCard, { version: n, effective_from: day(days), credits_per_usd: '50', rules: [] });
  beforeEach(async () => {
    await t.db.manager.clear(RateCard);
    await t.db.manager.clear(CreditDisplayFx);
    await t.db.execute(sql('DELETE FROM audit_log'));
    t.get(RateCards).drop();
  });

  it('is empty where none was published', async () => {
    expect(await get()).toEqual({
      versions: [],
      current_version: null,
      margin: { window_days: 30, credits: '0', usd_cost: '0', usd_value: null, ratio: null },
      display_fx: {},
    });
  });

  it('has versions that are in force one after the other', async () => {
    await begun(1, -9);
    await begun(2, -3);
    const rules = [{ match: { cost_tier: 'premium', byo_key: null }, multiplier: 1.2 }];
    const { status, body } = await version(3, 5, { credits_per_usd: 120, rules });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      current_version: 2,
      versions: [
        {
          version: 3,
          effective_from: day(5),
          credits_per_usd: '120',
          rules: [{ match: { cost_tier: 'premium' }, multiplier: '1.2' }],
          status: 'future',
        },
        { version: 2, credits_per_usd: '50', status: 'current' },
        { version: 1, status: 'past' },
      ],
    });
    expect(await get()).toEqual(body);
  });

  it('may begin today while nothing has begun today, and is in force at once', async () => {
    expect((await version(1, 0)).body).toMatchObject({ current_version: 1, versions: [{ status: 'current' }] });
    expect(await t.get(RateCards).current()).toMatchObject({ version: 1 });
    expect(outcome(await version(2, 0))).toEqual([422, 'rate_card_date']);
    expect(outcome(await version(1, 0, { credits_per_usd: '90' }))).toEqual([422, 'rate_card_date']);
  });

  it('begins at midnight', async () => {
    await begun(1, -1);
    await version(2, 1, { credits_per_usd: '80' });
    const cards = t.get(RateCards);
    expect(await cards.current()).toMatchObject({ version: 1 });
    const midnight = Date.parse(`${day(1)}T00:00:00Z`);
    const clock = jest.spyOn(t.get(Database), 'now');
    clock.mockReturnValue(new Date(midnight - 1));
    expect(await cards.current()).toMatchObject({ version: 1 });
    clock.mockReturnValue(new Date(midnight));
    expect(await cards.current()).toMatchObject({ version: 2, credits_per_usd: '80' });
    clock.mockRestore();
  });

  it.each<[string, number, number, string]>([
    ['begins in the past', 3, -1, 'rate_card_date'],
    ['begins before the newest', 3, 2, 'rate_card_date'],
    ['skips a version', 4, 9, 'rate_card_not_next'],
    ['has a version that there is', 1, 9, 'rate_card_not_next'],
    ['replaces another version than that of its day', 3, 5, 'rate_card_not_next'],
  ])('refuses one that %s', async (_, n, days, code) => {
    await begun(1, -9);
    await version(2, 5);
    const before = await get();
    expect(outcome(await version(n, days))).toEqual([422, code]);
    expect(await get()).toEqual(before);
  });

  it('replaces one that has not begun, and changes none that has', async () => {
    await version(1, 3);
    expect((await version(1, 3, { credits_per_usd: '70', rules: [{ match: { byo_key: true }, multiplier: '1' }] })).body).toMatchObject({
      versions: [{ version: 1, credits_per_usd: '70', rules: [{ match: { byo_key: true }, multiplier: '1' }] }],
    });
    expect((await audits()).map(({ action, target_id, source }) => [action, target_id, source])).toEqual([
      ['rate_card.published', '1', 'admin'],
      ['rate_card.replaced', '1', 'admin'],
    ]);
  });

  it('is published once, however often it is sent', async () => {
    const { body } = await version(1, 0, { rules: [{ match: { mode: 'trivial' }, min_credits: '0.50' }] });
    const again = await version(1, 0, { credits_per_usd: 100, rules: [{ match: { mode: 'trivial' }, min_credits: '0.50' }] });
    expect([again.status, again.body]).toEqual([200, body]);
    expect(await audits()).toHaveLength(1);
  });

  it('gets one version of those that are published at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, (_, i) => version(1, i + 1)));
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(422)]);
    expect((await get()).versions).toHaveLength(1);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a day that there is not', { effective_from: '2027-02-30' }],
    ['a time', { effective_from: '2027-02-01T00:00:00Z' }],
    ['no day', { effective_from: null }],
    ['no credits for a dollar', { credits_per_usd: '0' }],
    ['seven digits', { credits_per_usd: '1.0000001' }],
    ['version 0', { version: 0 }],
    ['rules that are none', { rules: ['free'] }],
    ['a rule that says nothing', { rules: [{}] }],
    ['too many rules', { rules: Array(201).fill({ match: { kind: 'chat' }, multiplier: '1' }) }],
  ])('refuses %s', async (_, over) => {
    expect(outcome(await version(1, 1, over))).toEqual([422, 'validation_error']);
  });

  it('says what credits bring in beside what they cost', async () => {
    await begun(1, -40);
    const receipt = (credits: string, usd: string, { enforced = true, ago = 0 } = {}) =>
      t.db.execute(
        sql(`INSERT INTO inference_receipts (id, org_id, feature, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
          usd_cost, credits, enforced, duration_ms, created_at) VALUES ($1, $2, 'turn', 'mock', 'requested', $1, 1, 0, 0, 0, 0, $3, $4, $5, 1, now() - make_interval(days => $6::int))`),
        [uuidv7(), org, usd, credits, enforced, ago],
      );
    const org = (await aTeam(t)).id;
    await receipt('60', '1');
    await receipt('15', '0.25', { ago: 29 });
    await receipt('1000', '1', { enforced: false });
    await receipt('0', '1');
    await receipt('1000', '1', { ago: 31 });
    expect((await get()).margin).toEqual({ window_days: 30, credits: '75', usd_cost: '1.25', usd_value: '1.5', ratio: '1.2' });
  });

  it('shows amounts by rates that replace each other, and charge nothing', async () => {
    const set = (rates: unknown) => call('PUT', '/credit-display-fx', { rates });
    expect((await set({ EUR: 0.92, JPY: '155.10' })).body.display_fx).toEqual({ EUR: '0.92', JPY: '155.1' });
    await set({ JPY: '155.1', EUR: '0.920' });
    expect((await set({ GBP: '0.79' })).body.display_fx).toEqual({ GBP: '0.79' });
    expect((await get()).display_fx).toEqual({ GBP: '0.79' });
    expect((await audits()).map(({ metadata }) => metadata)).toMatchObject([
      { before: {}, after: { EUR: '0.92', JPY: '155.1' } },
      { before: { EUR: '0.92', JPY: '155.1' }, after: { GBP: '0.79' } },
    ]);
    for (const rates of [null, [], { EUR: 0 }, { EUR: -1 }, { EUR: 'x' }, { eur: 1 }, { ZZZ: 1 }, { EUR: null }, { EUR: '0.0000001' }])
      expect(outcome(await set(rates))).toEqual([422, 'validation_error']);
    expect((await set({})).body.display_fx).toEqual({});
  });
});
