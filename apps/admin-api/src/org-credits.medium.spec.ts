import { aPlan, movesOf, onPlan, subscriptionOf } from '@aps/billing/testing';
import { Plan } from '@aps/entities';
import { anOrg, type TestOrg } from '@aps/orgs/testing';
import { NO_CALLER } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { outcome, sql } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

describe('the credits of an organization, administered', () => {
  const admin = adminService();
  const { t, call } = admin;
  let org: TestOrg;
  let starter: Plan;
  let team: Plan;
  let trial: Plan;
  beforeEach(async () => {
    org = await anOrg(t, { plan: null });
    const renewing = { renews: true, overdraft_pct: '5', max_agents: 5 };
    starter = await aPlan(t, { ...renewing, monthly_credits: '3000' });
    team = await aPlan(t, { ...renewing, monthly_credits: '20000', initial_credits: '500' });
    trial = await aPlan(t, { renews: false, initial_credits: '500' });
  });

  const at = (path: string) => `/orgs/${org.id}${path}`;
  const credits = async () => (await call('GET', at('/credits'))).body;
  const adjust = (delta: unknown, options?: { headers: Record<string, string> }) =>
    call('POST', at('/credits/adjust'), { delta, reason: 'because' }, options);
  const patch = (body: object) => call('PATCH', at('/subscription'), body);
  const reset = (plan_code: string) => call('POST', at('/reset-baseline'), { plan_code, reason: 'again' });
  const roll = (force?: boolean, options?: { headers: Record<string, string> }) =>
    call('POST', at('/credits/roll-period'), { force }, options);
  const moves = () => movesOf(t, org.id);
  const audits = async (action: string) => t.audit({ org_id: org.id, action });
  const ended = (ago: string) =>
    t.db.execute(sql(`UPDATE subscriptions SET period_start = now() - interval '1 month' - $2::interval, period_end = now() - $2::interval, period_anchor = now() - interval '1 month' - $2::interval WHERE org_id = $1`), [org.id, ago]); // prettier-ignore

  describe('as they stand', () => {
    it('are nothing without a subscription', async () => {
      expect(await credits()).toMatchObject({
        balance: '0',
        purchased_balance: '0',
        credits_overdraft: '0',
        credits_remaining: '0',
        purchase_total: '0',
        reconciled: true,
        open_holds: '0',
        subscription: null,
        overrides: {},
        override_reason: null,
      });
    });

    it('are both balances and the overdraft of the plan', async () => {
      await patch({ plan_code: starter.code });
      expect(await credits()).toMatchObject({ balance: '3000', credits_overdraft: '150', credits_remaining: '3150', reconciled: true });
    });

    it('are of one moment though a call burns while they are read', async () => {
      await patch({ plan_code: starter.code });
      const waiting = sql<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_locks WHERE relation = 'call_holds'::regclass AND NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`,
      );
      const { reading } = await t.db.transaction(NO_CALLER, async (tx) => {
        await tx.execute(sql('LOCK TABLE call_holds IN ACCESS EXCLUSIVE MODE'));
        const begun = credits();
        await eventually(
          async () => (await tx.query(waiting))[0].n,
          (n) => n > 0,
        );
        await t.db.query(sql(`SELECT credit_post($1, NULL, 100, 'burn', $2, NULL, NULL, NULL, NULL, NULL)`), [org.id, uuidv7()]);
        return { reading: begun };
      });
      expect(await reading).toMatchObject({ balance: '3000', credits_overdraft: '150', credits_remaining: '3150' });
    });

    it('are the sum of every row, however many there are, of which those since the last thousandth are read', async () => {
      await t.db.query(sql(`SELECT credit_post($1, 'purchased', 10, 'purchase', $2, NULL, NULL, NULL, NULL, NULL)`), [org.id, uuidv7()]);
      const post = (n: number) =>
        t.db.execute(
          sql(`INSERT INTO credit_ledger (id, org_id, bucket, delta, kind, key, content_hash)
            SELECT uuidv7(), $1::uuid, 'granted', n * 0.000001, 'adjust', uuidv7(), '' FROM generate_series(1, $2::int) n`),
          [org.id, n],
        );
      const past = (text: string) =>
        t.db.transaction(NO_CALLER, async (tx) => {
          await tx.execute(sql(`SET LOCAL session_replication_role = 'replica'`));
          await tx.execute(sql(text), [org.id]);
        });
      await post(998);
      expect(await credits()).toMatchObject({ balance: '0.498501', reconciled: true });
      await Promise.all([post(1), post(600), post(600)]);
      expect(await credits()).toMatchObject({ purchased_balance: '10', reconciled: true });
      const summed = sql<{ ok: boolean }>(`
        SELECT count(*) = 2 AND bool_and(l.sum_until = (SELECT sum(b.delta) FROM credit_ledger b WHERE b.org_id = l.org_id AND b.seq <= l.seq) AND l.seq % 1000 = 0) AS ok
        FROM credit_ledger l WHERE l.org_id = $1 AND l.sum_until IS NOT NULL`);
      expect((await t.db.query(summed, [org.id]))[0].ok).toBe(true);
      // What lies before it is the proof's.
      await past('UPDATE credit_ledger SET delta = delta + 1 WHERE org_id = $1 AND seq = 1500');
      expect((await credits()).reconciled).toBe(true);
      await past('UPDATE credit_ledger SET delta = delta + 1 WHERE org_id = $1 AND seq = 2001');
      expect((await credits()).reconciled).toBe(false);
    });

    it('are not those of an organization that is not there', async () => {
      const nobody = `/orgs/${uuidv7()}`;
      for (const [method, path, body] of [
        ['GET', '/credits', undefined],
        ['GET', '/credits/ledger', undefined],
        ['GET', '/credits/receipts', undefined],
        ['GET', '/credits/forensics', undefined],
        ['POST', '/credits/adjust', { delta: 1, reason: 'r' }],
        ['POST', '/credits/roll-period', {}],
        ['POST', '/reset-baseline', { plan_code: starter.code }],
        ['PATCH', '/subscription', { plan_code: starter.code }],
      ] as const)
        expect([path, ...outcome(await call(method, nobody + path, body))]).toEqual([path, 404, 'not_found']);
    });
  });

  it('are not changed where what was ever posted cannot be summed for the answer', async () => {
    await onPlan(t, org.id, starter);
    await t.db.execute(sql('ALTER TABLE credit_ledger RENAME TO all_postings'));
    const { status } = await patch({ overrides: { max_agents: 9 }, override_reason: 'because' });
    await t.db.execute(sql('ALTER TABLE all_postings RENAME TO credit_ledger'));
    expect([status, (await credits()).overrides]).toEqual([500, {}]);
  });

  describe('adjusted', () => {
    it('go to granted ones, and come from granted, bought, and granted below zero', async () => {
      await t.db.query(sql(`SELECT credit_post($1, 'purchased', 10, 'purchase', $2, NULL, NULL, NULL, NULL, NULL)`), [org.id, uuidv7()]);
      expect((await adjust('5.5')).body).toMatchObject({
        delta: '5.5',
        balance: '5.5',
        purchased_balance: '10',
        credits_remaining: '15.5',
      });
      expect((await adjust(-8)).body).toMatchObject({ delta: '-8', balance: '0', purchased_balance: '7.5' });
      expect((await adjust('-10.000001')).body).toMatchObject({
        balance: '-2.500001',
        purchased_balance: '0',
        credits_remaining: '-2.500001',
      });
      expect(await moves()).toEqual([
        'purchase purchased 10',
        'adjust granted 5.5',
        'adjust granted -5.5',
        'adjust purchased -2.5',
        'adjust granted -2.500001',
        'adjust purchased -7.5',
      ]);
      expect(await credits()).toMatchObject({ purchase_total: '10', reconciled: true });
    });

    it('are in the ledger, newest first, and in the audit log, once for a repeat', async () => {
      const key = { headers: { 'idempotency-key': uuidv7() } };
      const { body } = await adjust('7', key);
      expect((await adjust('7', key)).body).toEqual(body);
      await adjust('-2');
      const { items, total } = (await call('GET', at('/credits/ledger?limit=1'))).body;
      expect([items.length, total]).toEqual([1, 2]);
      expect(items[0]).toMatchObject({
        seq: 2,
        bucket: 'granted',
        delta: '-2',
        kind: 'adjust',
        reason: 'because',
        actor_id: admin.operator.id,
        balance_after: '5',
      });
      expect((await audits('credits.adjusted')).map(({ metadata, source }) => [source, metadata])).toEqual([
        ['admin', { delta: '7', reason: 'because' }],
        ['admin', { delta: '-2', reason: 'because' }],
      ]);
    });

    it('are so once for a repeat, however its first try ended after the commit', async () => {
      const store = t.get(IdempotencyStore);
      const killed = () => t.db.execute(sql('UPDATE idempotency_keys SET locked_until = now() WHERE status_code IS NULL'));
      // As of one that was not told that its commit had gone through.
      const letGo = (attempt: Attempt) => store.abandon(attempt);
      for (const end of [killed, letGo]) {
        for (const [delta, balance] of [
          ['7', '7'],
          ['-7', '0'],
        ]) {
          const key = { headers: { 'idempotency-key': uuidv7() } };
          jest.spyOn(store, 'complete').mockImplementationOnce(async (attempt) => {
            await end(attempt);
            throw new Error('The answer is lost');
          });
          const first = await adjust(delta, key);
          expect(first.body).toMatchObject({ delta, balance, ledger_id: expect.any(String) });
          expect(await adjust(delta, key)).toMatchObject({ status: 200, body: first.body });
        }
      }
      expect(await moves()).toEqual(Array(2).fill(['adjust granted 7', 'adjust granted -7']).flat());
      expect(await audits('credits.adjusted')).toHaveLength(4);
    });

    it.each([['0'], ['0.000000'], ['-0'], ['0.0000001'], ['1e5'], [null], ['x']])('refuse %s', async (delta) => {
      expect(outcome(await adjust(delta))).toEqual([422, 'validation_error']);
      expect(await moves()).toEqual([]);
    });

    it('keep every one of many at once', async () => {
      await Promise.all(Array.from({ length: 20 }, (_, i) => adjust(i % 2 ? '3' : '-1')));
      expect(await credits()).toMatchObject({ balance: '20', reconciled: true });
    });
  });

  describe('changed by a plan', () => {
    it('expire, and those of the new plan come, once ever', async () => {
      const { body } = await patch({ plan_code: team.code });
      expect(body).toMatchObject({ balance: '20500', subscription: { plan_code: team.code, status: 'active', external_status: null } });
      const month = new Date(body.subscription.period_end).getTime() - new Date(body.subscription.period_start).getTime();
      expect(month / 86_400_000).toBeGreaterThanOrEqual(28);
      await patch({ plan_code: starter.code });
      await patch({ plan_code: team.code });
      expect(await moves()).toEqual(['grant granted 20500', 'expire granted -20500', 'grant granted 3000', 'expire granted -3000']);
      expect((await audits('subscription.updated')).length).toBe(3);
    });

    it('carry a debt over, and leave what was bought', async () => {
      await t.db.query(sql(`SELECT credit_post($1, 'purchased', 10, 'purchase', $2, NULL, NULL, NULL, NULL, NULL)`), [org.id, uuidv7()]);
      await adjust('-15');
      await patch({ plan_code: starter.code });
      expect(await credits()).toMatchObject({ balance: '2995', purchased_balance: '0' });
    });

    it('have no period where the plan does not renew', async () => {
      const { body } = await patch({ plan_code: trial.code });
      expect(body).toMatchObject({ balance: '500', credits_overdraft: '0', subscription: { period_start: null, period_end: null } });
    });

    it('follow overrides by the name: absent, null, value', async () => {
      await patch({ plan_code: starter.code, overrides: { max_agents: 9, audit_log: true }, override_reason: 'pilot' });
      expect((await patch({ overrides: { audit_log: null, max_seats: -1 } })).body).toMatchObject({
        overrides: { max_agents: 9, max_seats: -1 },
        override_reason: 'pilot',
      });
      const before = (await audits('subscription.updated')).length;
      for (const body of [
        {},
        { overrides: {} },
        { plan_code: starter.code },
        { overrides: { max_agents: 9 } },
        { overrides: { byo_keys: null } },
      ])
        expect((await patch(body)).body).toMatchObject({ overrides: { max_agents: 9, max_seats: -1 } });
      expect((await audits('subscription.updated')).length).toBe(before);
    });

    it.each([
      [{ no_such: 1, max_agents: 1.5, audit_log: 1 }, ['no_such', 'max_agents', 'audit_log']],
      [{ is_enterprise: true }, ['is_enterprise']],
      [{ monthly_credits: '5' }, ['monthly_credits']],
      [{ max_agents: -2, max_seats: '5' }, ['max_agents', 'max_seats']],
      [{ constructor: true }, ['constructor']],
    ])('refuse %j, and change nothing', async (overrides, named) => {
      const refused = await patch({ plan_code: starter.code, overrides });
      expect([...outcome(refused), refused.body.detail.map(({ loc }: { loc: string[] }) => loc.at(-1))]).toEqual([
        422,
        'validation_error',
        named,
      ]);
      expect((await credits()).subscription).toBeNull();
    });

    it('refuse what is not there', async () => {
      expect(outcome(await patch({ plan_code: 'no-such' }))).toEqual([404, 'not_found']);
      expect(outcome(await patch({ status: 'active' }))).toEqual([409, 'not_subscribed']);
      expect(outcome(await patch({ status: 'no-such' }))).toEqual([422, 'validation_error']);
    });

    it('take a state and an end of the period with a plan that is another', async () => {
      const wish = { status: 'past_due', period_end: '2027-03-01T00:00:00.000Z' };
      await patch({ plan_code: starter.code, ...wish });
      expect((await patch({ plan_code: team.code, ...wish })).body.subscription).toMatchObject({ plan_code: team.code, ...wish });
    });

    it('take another state and another end of the period', async () => {
      await patch({ plan_code: starter.code });
      const period_end = '2027-03-01T00:00:00.000Z';
      expect((await patch({ period_end, status: 'past_due' })).body.subscription).toMatchObject({ period_end, status: 'past_due' });
      expect((await patch({ period_end: null, status: 'unsubscribed' })).body).toMatchObject({
        balance: '3000',
        subscription: { period_end: null, status: 'unsubscribed' },
      });
      expect((await roll()).body).toMatchObject({ rolled: false, reason: 'unsubscribed' });
    });
  });

  describe('set to where a plan begins', () => {
    it('move by one posting, and by none the second time', async () => {
      await patch({ plan_code: starter.code, overrides: { max_agents: 9 } });
      await adjust('-700');
      expect((await reset(starter.code)).body).toMatchObject({ plan_code: starter.code, balance: '3000', ledger_written: true });
      const before = {
        moves: await moves(),
        audits: (await audits('credits.reset')).length,
        subscription: await subscriptionOf(t, org.id),
      };
      expect(before.moves.at(-1)).toBe('reset granted 700');
      expect((await reset(starter.code)).body).toMatchObject({ balance: '3000', ledger_written: false });
      expect({
        moves: await moves(),
        audits: (await audits('credits.reset')).length,
        subscription: await subscriptionOf(t, org.id),
      }).toEqual(before);
      expect(await credits()).toMatchObject({ overrides: {}, reconciled: true });
    });

    it('are so once for a repeat, however its first try ended, and whatever was burned meanwhile', async () => {
      const store = t.get(IdempotencyStore);
      for (const isLost of [false, true]) {
        await adjust('-700');
        const key = { headers: { 'idempotency-key': uuidv7() } };
        const again = () => call('POST', at('/reset-baseline'), { plan_code: starter.code }, key);
        if (isLost)
          jest.spyOn(store, 'complete').mockImplementationOnce(async (attempt) => {
            await store.abandon(attempt);
            throw new Error('The answer is lost');
          });
        const first = await again();
        await adjust('-10');
        expect(await again()).toMatchObject({ status: 200, body: { period_start: first.body.period_start } });
        expect(await credits()).toMatchObject({ balance: '2990' });
      }
      expect(await audits('credits.reset')).toHaveLength(2);
    });

    it('begin a period anew, whatever of it was otherwise', async () => {
      await patch({ plan_code: starter.code });
      const later = new Date(Date.now() + 90 * 86_400_000).toISOString();
      for (const differs of [() => adjust('-700'), () => patch({ period_end: null }), () => patch({ period_end: later })]) {
        await ended('10 days');
        await differs();
        const { period_start, period_end } = (await reset(starter.code)).body;
        const begun = Date.parse(period_start);
        expect(Math.abs(t.db.now().getTime() - begun)).toBeLessThan(60_000);
        expect([Date.parse(period_end) > begun, period_end < later]).toEqual([true, true]);
      }
    });

    it('say that credits were moved where what was moved adds up to nothing', async () => {
      await adjust('3000');
      expect((await reset(starter.code)).body).toMatchObject({ balance: '3000', ledger_written: true });
      expect(await moves()).toEqual(['adjust granted 3000', 'grant granted 3000', 'reset granted -3000']);
    });

    it('end the allocation of a plan that was never had, and take more where there is more', async () => {
      await adjust('100');
      await reset(team.code);
      expect(await moves()).toEqual(['adjust granted 100', 'grant granted 20500', 'reset granted -100']);
      await patch({ plan_code: starter.code });
      await patch({ plan_code: team.code });
      expect(await credits()).toMatchObject({ balance: '0' });
      await reset(team.code);
      expect(await credits()).toMatchObject({ balance: '20500', reconciled: true });
      expect(outcome(await reset('no-such'))).toEqual([404, 'not_found']);
    });
  });

  describe('at the end of a period', () => {
    it('expire, and the next come; before it, and twice, nothing happens', async () => {
      await patch({ plan_code: starter.code });
      expect((await roll()).body).toMatchObject({ rolled: false, reason: 'not_due', expired: '0', granted: '0' });
      await adjust('-1000');
      await ended('1 hour');
      expect((await roll()).body).toMatchObject({ rolled: true, reason: 'rolled', expired: '2000', granted: '3000' });
      expect((await roll()).body).toMatchObject({ rolled: false, reason: 'not_due' });
      expect(await credits()).toMatchObject({ balance: '3000', reconciled: true });
      expect((await audits('subscription.period_rolled')).length).toBe(1);
    });

    it('carry a debt, and leave what was bought', async () => {
      await t.db.query(sql(`SELECT credit_post($1, 'purchased', 10, 'purchase', $2, NULL, NULL, NULL, NULL, NULL)`), [org.id, uuidv7()]);
      await patch({ plan_code: starter.code });
      await adjust('-3030');
      await ended('1 hour');
      expect((await roll()).body).toMatchObject({ expired: '0', granted: '3000' });
      expect(await credits()).toMatchObject({ balance: '2980', purchased_balance: '0' });
    });

    it('end with a plan that does not renew, whose end an operator has set', async () => {
      await patch({ plan_code: trial.code });
      expect((await roll()).body).toMatchObject({ rolled: false, reason: 'no_period' });
      await patch({ period_end: '2026-01-01T00:00:00Z' });
      expect((await roll()).body).toMatchObject({ rolled: true, expired: '500', granted: '0' });
      expect((await credits()).subscription.status).toBe('expired');
    });

    it('end with a plan that has ceased to renew within it, whose end an operator has set', async () => {
      await patch({ plan_code: starter.code });
      await t.db.manager.update(Plan, starter.id, { renews: false });
      const { body } = await patch({ period_end: '2026-01-01T00:00:00Z' });
      expect(body.subscription).toMatchObject({ period_start: null, period_end: '2026-01-01T00:00:00.000Z' });
      expect((await roll()).body).toMatchObject({ rolled: true, expired: '3000', granted: '0' });
      expect((await credits()).subscription.status).toBe('expired');
    });

    it('come early only where the deployment allows it', async () => {
      await patch({ plan_code: starter.code });
      expect(outcome(await roll(true))).toEqual([403, 'forced_roll_disabled']);
      t.configure({ CREDITS_FORCE_PERIOD_ROLL_ENABLED: 'on' });
      expect((await roll(true)).body).toMatchObject({ rolled: true, expired: '3000', granted: '3000' });
      t.configure({ CREDITS_FORCE_PERIOD_ROLL_ENABLED: undefined });
    });

    it('come early once for a repeat, however its first try ended', async () => {
      t.configure({ CREDITS_FORCE_PERIOD_ROLL_ENABLED: 'on' });
      await patch({ plan_code: starter.code });
      const key = { headers: { 'idempotency-key': uuidv7() } };
      const { body } = await roll(true, key);
      expect(await roll(true, key)).toMatchObject({ status: 200, body });
      const lost = { headers: { 'idempotency-key': uuidv7() } };
      const store = t.get(IdempotencyStore);
      jest.spyOn(store, 'complete').mockImplementationOnce(async (attempt) => {
        await store.abandon(attempt);
        throw new Error('The answer is lost');
      });
      const first = await roll(true, lost);
      const { rolled, reason, period_end } = (await roll(true, lost)).body;
      expect([first.body.rolled, rolled, reason, period_end]).toEqual([true, false, 'not_due', first.body.period_end]);
      const once = ['expire granted -3000', 'grant granted 3000'];
      expect(await moves()).toEqual(['grant granted 3000', ...once, ...once]);
      t.configure({ CREDITS_FORCE_PERIOD_ROLL_ENABLED: undefined });
    });

    it('are closed once by many at once', async () => {
      await patch({ plan_code: starter.code });
      await ended('1 hour');
      const rolls = await Promise.all(Array.from({ length: 8 }, () => roll()));
      expect(rolls.filter(({ body }) => body.rolled).length).toBe(1);
      expect(await moves()).toEqual(['grant granted 3000', 'expire granted -3000', 'grant granted 3000']);
    });
  });

  describe('burned by calls', () => {
    const receipt = (feature: string, { credits = '0.5', enforced = true, ago = '1 minute', model = 'mock' } = {}) =>
      t.db.execute(
        sql(`INSERT INTO inference_receipts (id, org_id, feature, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
          reasoning_tokens, usd_cost, credits, rate_card_version, rule_index, enforced, duration_ms, created_at)
          VALUES ($1, $2, $3, $4, 'agent', $1, 10, 1, 1, 7, 1, 0.25, $5, 1, 2, $6, 20, now() - $7::interval)`),
        [uuidv7(), org.id, feature, model, credits, enforced, ago],
      );
    beforeEach(() => patch({ plan_code: starter.code }));

    it('are listed with what they were charged by, newest first', async () => {
      await receipt('title', { ago: '1 hour' });
      await receipt('turn', { enforced: false });
      const { items, total } = (await call('GET', at('/credits/receipts?limit=1'))).body;
      expect([items.length, total]).toEqual([1, 2]);
      expect(items[0]).toMatchObject({
        feature: 'turn',
        model_key: 'mock',
        tokens: { input: 10, cached_input: 1, cache_write: 1, output: 7, reasoning: 1 },
        usd_cost: '0.25',
        credits: '0.5',
        enforced: false,
        rate_card_version: 1,
        rule_index: 2,
      });
    });

    it('are summed by feature, model and day within a window, and of all time beside it', async () => {
      for (const call_ of [{}, {}, { model: 'other', credits: '2' }, { enforced: false }, { ago: '40 days' }]) await receipt('turn', call_);
      const { body } = await call('GET', at('/credits/forensics?days=7'));
      expect(new Date(body.to).getTime() - new Date(body.from).getTime()).toBe(7 * 86_400_000);
      const sums = body.buckets.map(({ key: { feature, model_key }, ...rest }: { key: Record<string, string> }) => ({
        feature,
        model_key,
        ...rest,
      }));
      // Two of them may lie on either side of midnight.
      expect(sums.filter(({ model_key }: { model_key: string }) => model_key === 'other')).toEqual([
        { feature: 'turn', model_key: 'other', credits: '2', usd: '0.25', calls: 1, tokens: 20 },
      ]);
      expect(sums.reduce((calls: number, bucket: { calls: number }) => calls + bucket.calls, 0)).toBe(3);
      expect(body).toMatchObject({ days: 7, ledger_total: '2996.5', reconciled: true, unreceipted_burns: 0 });
      expect(
        (await call('GET', at('/credits/forensics?days=60'))).body.buckets.reduce((n: number, b: { calls: number }) => n + b.calls, 0),
      ).toBe(4);
      expect(outcome(await call('GET', at('/credits/forensics?days=0')))).toEqual([422, 'validation_error']);
      // What somebody could do who gets past the triggers.
      await t.db.transaction(NO_CALLER, async (tx) => {
        await tx.execute(sql(`SET LOCAL session_replication_role = 'replica'`));
        await tx.execute(sql(`DELETE FROM inference_receipts WHERE org_id = $1 AND model_key = 'other'`), [org.id]);
        await tx.execute(sql('UPDATE org_credits SET balance = balance + 1 WHERE org_id = $1'), [org.id]);
      });
      expect((await call('GET', at('/credits/forensics?days=7'))).body).toMatchObject({
        ledger_total: '2996.5',
        reconciled: false,
        unreceipted_burns: 1,
      });
      expect(outcome(await call('GET', `/orgs/${uuidv7()}/credits/forensics`))).toEqual([404, 'not_found']);
    });
  });

  it('are not touched by a subscription of no credits', async () => {
    const free = await aPlan(t, { renews: true });
    await onPlan(t, org.id, free, { period_end: new Date(Date.now() - 1_000) });
    expect((await roll()).body).toMatchObject({ rolled: true, granted: '0' });
    expect(await moves()).toEqual([]);
  });
});
