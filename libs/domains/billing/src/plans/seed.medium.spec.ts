import { BillingSeed, CreditPack, ENTITIES, MIGRATIONS, Plan, RateCard } from '@aps/entities';
import { createTestDatabase, sql, type TestDatabase } from '@aps/platform/testing';
import { seedBilling } from './seed';

describe('the seed of billing', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS });
  });
  afterEach(() => database.drop());

  const all = async () =>
    JSON.stringify(
      await Promise.all(
        ['plans', 'credit_packs', 'rate_cards', 'billing_seeds'].map((table) =>
          database.db.query(sql(`SELECT * FROM ${table} ORDER BY 1`)),
        ),
      ),
    );
  const COLUMNS = `code, price_display::float8 AS price, monthly_credits::int AS monthly, initial_credits::int AS initial, overdraft_pct::int AS overdraft, renews, is_enterprise,
    concat_ws(' ', max_seats, max_agents, max_inboxes, max_integrations) AS counts, concat_ws(' ', max_concurrent_chats, max_queue_depth) AS turns,
    concat_ws(' ', intake_messages_per_day, intake_classifier_calls_per_day) AS intake, concat_ws(' ', max_custom_environments, max_custom_image_gb, max_custom_models) AS own,
    decision_retention_days AS days, polar_product_id IS NOT NULL AS sold,
    (SELECT string_agg(key, ' ' ORDER BY key) FROM jsonb_each(to_jsonb(p)) WHERE value = 'true' AND key NOT IN ('renews', 'is_enterprise')) AS features`;

  it('makes four plans, two packs and the first rate card, once, whoever does it at the same time', async () => {
    await Promise.all([1, 2, 3].map(() => seedBilling(database.db)));
    const trial = 'decision_log enforces_credits';
    const starter = `audit_log ${trial} shared_blocks`;
    const team = 'audit_log decision_log direct_model_choice enforces_credits hitl_routing per_agent_budgets shared_blocks';
    const every = 'audit_log byo_keys decision_log direct_model_choice enforced_idp_sso hitl_routing per_agent_budgets shared_blocks';
    const plan = { renews: true, is_enterprise: false, initial: 0 };
    expect(await database.db.query(sql(`SELECT ${COLUMNS} FROM plans p ORDER BY sort_order`))).toEqual([
      { ...plan, code: 'trial', price: 0, monthly: 0, initial: 500, overdraft: 0, renews: false, counts: '3 3 1 3', turns: '2 20', intake: '100 50', own: '0 0 0', days: 30, sold: false, features: trial }, // prettier-ignore
      { ...plan, code: 'starter', price: 29, monthly: 3_000, overdraft: 5, counts: '5 10 3 10', turns: '5 100', intake: '1000 500', own: '1 2 0', days: 180, sold: true, features: starter }, // prettier-ignore
      { ...plan, code: 'team', price: 149, monthly: 20_000, overdraft: 10, counts: '25 50 20 50', turns: '20 1000', intake: '10000 5000', own: '5 10 5', days: 365, sold: true, features: team }, // prettier-ignore
      { ...plan, code: 'enterprise', price: null, monthly: 0, overdraft: 0, is_enterprise: true, counts: '-1 -1 -1 -1', turns: '200 20000', intake: '-1 -1', own: '-1 50 -1', days: -1, sold: false, features: every }, // prettier-ignore
    ]);
    const packs = await database.db.manager.find(CreditPack, { order: { sort_order: 'ASC' } });
    expect(packs.map(({ code, credits, price_display }) => [code, Number(credits), Number(price_display)])).toEqual([
      ['pack_1k', 1_000, 12],
      ['pack_10k', 10_000, 100],
    ]);
    const plans = await database.db.manager.find(Plan);
    const products = [...plans, ...packs].map((row) => row.polar_product_id).filter((product) => product !== null);
    expect([products.length, new Set(products).size]).toEqual([4, 4]);
    expect(await database.db.manager.find(RateCard)).toMatchObject([{ version: 1, credits_per_usd: '100.000000', rules: [] }]);
    const before = await all();
    await seedBilling(database.db);
    expect(await all()).toBe(before);
  });

  it('leaves what operators have edited, and does not bring back what they have deleted', async () => {
    const { manager } = database.db;
    await seedBilling(database.db);
    await manager.update(Plan, { code: 'team' }, { name: 'Ours', monthly_credits: '1' });
    await manager.delete(Plan, { code: 'starter' });
    await manager.delete(CreditPack, { code: 'pack_1k' });
    const before = await all();
    await seedBilling(database.db);
    expect(await all()).toBe(before);
  });

  it('makes what came with a later version, and nothing where an operator has the code already', async () => {
    const { manager } = database.db;
    await seedBilling(database.db);
    for (const name of ['plan:starter', 'plan:team', 'pack:pack_1k']) await manager.delete(BillingSeed, { name });
    await manager.delete(Plan, { code: 'starter' });
    await manager.update(Plan, { code: 'team' }, { name: 'Ours', polar_product_id: null });
    await seedBilling(database.db);
    expect(await manager.countBy(Plan, { code: 'starter' })).toBe(1);
    expect(await manager.findOneBy(Plan, { code: 'team' })).toMatchObject({ name: 'Ours', polar_product_id: null });
  });
});
