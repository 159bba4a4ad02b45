import { aPlan, withRateCard } from '@aps/billing/testing';
import type { Plan } from '@aps/entities';
import { anOrg } from '@aps/orgs/testing';
import { NO_CALLER } from '@aps/platform/database';
import { outcome, sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

describe('the proof of credits', () => {
  const admin = adminService();
  const { t, call } = admin;
  let plan: Plan;
  beforeAll(async () => {
    await withRateCard(t, {
      rules: [{ match: { feature: 'title' }, unit: '1k_tokens', credits_per_unit: '0.3', multiplier: '2', min_credits: '0.001' }],
    });
    plan = await aPlan(t, { renews: true, monthly_credits: '100', enforces_credits: true });
  });

  /** A call of 1,000 tokens in and 500 out, at 1 and 2 dollars per million: 0.2 credits; of the feature `title`, 0.9. */
  const receipt = (org_id: string, { feature = 'turn', enforced = true, credits = '0.2', rule = null as number | null } = {}) =>
    t.db.query(
      sql<{
        id: string;
      }>(`INSERT INTO inference_receipts (id, org_id, feature, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
        reasoning_tokens, input_price_per_1m, cached_input_price_per_1m, cache_write_price_per_1m, output_price_per_1m, usd_cost, credits, rate_card_version, rule_index, enforced, duration_ms)
        VALUES ($1, $2, $3, 'mock', 'agent', $1, 1000, 0, 0, 400, 100, 1, 1, 1, 2, 0.002, $4, 1, $5, $6, 20) RETURNING id`),
      [uuidv7(), org_id, feature, credits, rule, enforced],
    );

  /** An organization with one of everything that moves credits. */
  async function busy(): Promise<string> {
    const { id } = await anOrg(t, { plan: null });
    await call('PATCH', `/orgs/${id}/subscription`, { plan_code: plan.code });
    await receipt(id);
    await receipt(id, { feature: 'title', credits: '0.9', rule: 0 });
    await receipt(id, { enforced: false });
    const order = `order-${id}`;
    await t.db.execute(
      sql(
        `INSERT INTO billing_orders (id, org_id, kind, code, billing_reason, granted, paid_at) VALUES ($1, $2, 'pack', 'p', 'purchase', 10, now())`,
      ),
      [order, id],
    );
    await t.db.query(
      sql(`SELECT credit_post($1, 'purchased', 10, 'purchase', 'polar:order:' || $2::text || ':pack', 'order', $2, NULL, NULL, NULL)`),
      [id, order],
    );
    await call('POST', `/orgs/${id}/credits/adjust`, { delta: '-103.5', reason: 'r' });
    await call('POST', `/orgs/${id}/reset-baseline`, { plan_code: plan.code });
    await t.db.execute(sql(`UPDATE subscriptions SET period_end = now() - interval '1 minute' WHERE org_id = $1`), [id]);
    await call('POST', `/orgs/${id}/credits/roll-period`, {});
    return id;
  }

  const prove = async (org?: string) => (await call('GET', `/credits/proof${org ? `?org_id=${org}` : ''}`)).body;
  const broken = async (org: string) =>
    (await prove(org)).invariants.filter(({ ok }: { ok: boolean }) => !ok).map(({ name }: { name: string }) => name);

  it('holds for whatever the service does', async () => {
    const org = await busy();
    const proof = await prove(org);
    expect(proof).toMatchObject({ ok: true, organizations: 1, checked_at: expect.any(String) });
    expect(
      proof.invariants.map(({ name, ok, violations, difference, sample }: Record<string, unknown>) => [
        name,
        ok,
        violations,
        difference,
        sample,
      ]),
    ).toEqual(
      [
        'balance_is_ledger_sum',
        'balance_after_is_a_chain',
        'one_burn_per_receipt',
        'burn_is_receipt_credits',
        'receipt_is_card_times_usage',
        'keys_are_unique',
        'floor_held',
        'holds_are_open_and_young',
        'one_effect_per_order',
        'one_grant_per_period',
        'no_ledger_row_without_cause',
      ].map((name) => [name, true, 0, '0', []]),
    );
    const checked = Object.fromEntries(proof.invariants.map(({ name, checked }: { name: string; checked: number }) => [name, checked]));
    expect(checked).toMatchObject({
      balance_is_ledger_sum: 2,
      one_burn_per_receipt: 3,
      burn_is_receipt_credits: 2,
      receipt_is_card_times_usage: 3,
      one_effect_per_order: 1,
    });
    expect(await prove()).toMatchObject({ ok: true });
  });

  /** What somebody could do who gets past the triggers. */
  const LAST = `(SELECT max(seq) FROM credit_ledger WHERE org_id = $1)`;
  const row = (kind: string, key: string, delta: string, more = '') => `
    INSERT INTO credit_ledger (id, org_id, bucket, delta, kind, key, content_hash, seq, balance_after${more && `, ${more.split('=')[0]}`})
    SELECT uuidv7(), $1, 'granted', ${delta}, '${kind}', ${key}, '', l.seq + 1, (SELECT balance_after FROM credit_ledger WHERE org_id = $1 AND bucket = 'granted' ORDER BY seq DESC LIMIT 1) + ${delta}
      ${more && `, ${more.split('=')[1]}`}
    FROM credit_ledger l WHERE l.org_id = $1 AND l.seq = ${LAST}`;
  const balance = (delta: string) => `UPDATE org_credits SET balance = balance + ${delta}, ledger_seq = ledger_seq + 1 WHERE org_id = $1`;
  const ONE_BURN = `(SELECT id FROM credit_ledger WHERE org_id = $1 AND kind = 'burn' AND ref_id IS NOT NULL LIMIT 1)`;
  it.each<[string[], string[]]>([
    [['balance_is_ledger_sum'], [`UPDATE org_credits SET balance = balance + 1 WHERE org_id = $1`]],
    [['balance_is_ledger_sum'], [`UPDATE org_credits SET purchased_balance = purchased_balance + 1 WHERE org_id = $1`]],
    [
      ['balance_is_ledger_sum', 'balance_after_is_a_chain', 'burn_is_receipt_credits'],
      [`UPDATE credit_ledger SET delta = delta - 1 WHERE id = ${ONE_BURN}`],
    ],
    [['balance_after_is_a_chain'], [`UPDATE credit_ledger SET balance_after = balance_after + 1 WHERE org_id = $1 AND seq = ${LAST}`]],
    [['balance_after_is_a_chain'], [`UPDATE credit_ledger SET sum_until = balance_after WHERE org_id = $1 AND seq = ${LAST}`]],
    [['balance_is_ledger_sum', 'balance_after_is_a_chain', 'one_burn_per_receipt'], [`DELETE FROM credit_ledger WHERE id = ${ONE_BURN}`]],
    [
      ['burn_is_receipt_credits', 'receipt_is_card_times_usage'],
      [`UPDATE inference_receipts SET credits = credits + 1 WHERE org_id = $1 AND enforced`],
    ],
    [['receipt_is_card_times_usage'], [`UPDATE inference_receipts SET usd_cost = usd_cost + 1 WHERE org_id = $1 AND feature = 'title'`]],
    [['receipt_is_card_times_usage'], [`UPDATE inference_receipts SET input_tokens = 999 WHERE org_id = $1 AND feature = 'title'`]],
    [['one_burn_per_receipt'], [`UPDATE inference_receipts SET enforced = false WHERE org_id = $1 AND feature = 'title'`]],
    [['floor_held'], [row('expire', `'expire:' || $1`, '-1000'), balance('-1000')]],
    [
      ['holds_are_open_and_young'],
      [
        `INSERT INTO call_holds (work, org_id, receipt_id, unit, amount, expires_at) VALUES ('forged:' || $1, $1, $1, 'credits', 1, now() + interval '1 day')`,
      ],
    ],
    [
      ['holds_are_open_and_young'],
      [
        `INSERT INTO call_holds (work, org_id, receipt_id, unit, amount, expires_at) VALUES ('forged:' || $1, $1, $1, 'credits', 1, now() - interval '1 day')`,
      ],
    ],
    [
      ['one_effect_per_order'],
      [row('grant', `'grant:' || $1 || ':again'`, '10', `ref_type, ref_id='order', 'order-' || $1`), balance('10')],
    ],
    [['one_effect_per_order'], [`UPDATE billing_orders SET granted = 11 WHERE org_id = $1`]],
    [['one_effect_per_order', 'no_ledger_row_without_cause'], [`UPDATE billing_orders SET id = id || '-2' WHERE org_id = $1`]],
    [['one_grant_per_period'], [row('grant', `'grant:' || $1 || ':other:' || (SELECT substring(key FROM ':(\\d{4}-.*T.*)$') FROM credit_ledger WHERE org_id = $1 AND key ~ 'grant:.*\\dT' LIMIT 1)`, '1'), balance('1')]], // prettier-ignore
    [['no_ledger_row_without_cause'], [row('burn', `'burn:none:' || $1`, '-1'), balance('-1')]],
    [
      ['one_burn_per_receipt', 'burn_is_receipt_credits'],
      [
        row('burn', `'burn:again:' || $1`, '-1'),
        `UPDATE credit_ledger l SET ref_type = 'receipt', ref_id = b.ref_id, key = 'burn:' || b.ref_id || ':again' FROM credit_ledger b
          WHERE b.id = ${ONE_BURN} AND l.key = 'burn:again:' || $1`,
        balance('-1'),
      ],
    ],
    [['no_ledger_row_without_cause'], [row('adjust', `'adjust:' || $1`, '5'), balance('5')]],
    [['no_ledger_row_without_cause'], [row('purchase', `'polar:order:none:' || $1`, '5'), balance('5')]],
  ])('names %j where a row was forged', async (names, forged) => {
    const org = await busy();
    await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql(`SET LOCAL session_replication_role = 'replica'`));
      for (const text of forged) await tx.execute(sql(text.replaceAll('$1', `'${org}'::uuid`)));
    });
    expect(await broken(org)).toEqual(names);
    const found = (await prove(org)).invariants.find(({ name }: { name: string }) => name === names[0]);
    expect([found.violations > 0, found.sample.length > 0]).toEqual([true, true]);
    expect((await prove()).ok).toBe(false);
  });

  it('finds what another organization has burned for a receipt, though both burns together are what it cost', async () => {
    const [org, other] = [await busy(), await busy()];
    const found = async () => {
      const of = (await prove()).invariants as { name: string; violations: number }[];
      return ['one_burn_per_receipt', 'burn_is_receipt_credits', 'no_ledger_row_without_cause'].map(
        (name) => of.find((one) => one.name === name)!.violations,
      );
    };
    const before = await found();
    const [{ id }] = await receipt(org, { feature: 'title', credits: '0.9', rule: 0 });
    await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql(`SET LOCAL session_replication_role = 'replica'`));
      await tx.execute(sql(`UPDATE credit_ledger SET delta = -0.5 WHERE key = 'burn:${id}'`));
      await tx.execute(sql(row('burn', `'burn:${id}:foreign'`, '-0.4', `ref_id='${id}'`).replaceAll('$1', `'${other}'::uuid`)));
    });
    // Both burns differ from the receipt, and the foreign one is not the receipt's.
    expect((await found()).map((n, i) => n - before[i])).toEqual([1, 2, 1]);
  });

  it('says by how much in all, and shows the first five', async () => {
    const org = await busy();
    await t.db.execute(
      sql(
        `INSERT INTO call_holds (work, org_id, receipt_id, unit, amount, expires_at) SELECT 'forged:' || $1::uuid || n, $1::uuid, $1::uuid, 'credits', 1.5, now() + interval '1 day' FROM generate_series(1, 7) n`,
      ),
      [org],
    );
    const found = (await prove(org)).invariants.find(({ ok }: { ok: boolean }) => !ok);
    expect(found).toMatchObject({ name: 'holds_are_open_and_young', checked: 7, violations: 7, difference: '10.5' });
    expect(found.sample.map(({ org_id }: { org_id: string }) => org_id)).toEqual(Array(5).fill(org));
  });

  it('is refused by the database to whoever comes by the front door', async () => {
    const org = await busy();
    const tried = (text: string) => t.db.execute(sql(text), [org]).then(() => 'done', (error: { code: string }) => error.code); // prettier-ignore
    for (const text of [
      'UPDATE credit_ledger SET delta = 5 WHERE org_id = $1',
      'DELETE FROM credit_ledger WHERE org_id = $1',
      'UPDATE org_credits SET balance = 5 WHERE org_id = $1',
    ])
      expect([text, await tried(text)]).toEqual([text, '42501']);
    expect(await t.db.execute(sql('TRUNCATE credit_ledger')).catch((error: { code: string }) => error.code)).toBe('42501');
    expect(await broken(org)).toEqual([]);
  });

  it('is asked for once under a key', async () => {
    const ask = async (key = uuidv7()) =>
      (await call('POST', '/credits/proof', undefined, { headers: { 'idempotency-key': key } })).body.proof_id as string;
    const key = uuidv7();
    const first = await ask(key);
    expect([await ask(key), (await ask()) === first]).toEqual([first, false]);
  });

  it('is computed by one at a time', async () => {
    await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.query(sql(`SELECT pg_advisory_xact_lock(hashtextextended('ledger-proof', 0))`));
      expect(outcome(await call('GET', '/credits/proof'))).toEqual([409, 'proof_running']);
    });
  });
});
