import { CAPS, FEATURES } from '../entitlements';
import { PlanEntitlements } from '../plans/plan-entitlements';
import { sql } from '@aps/platform/testing';
import type { TestService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { RateCards } from '../rate-cards/rate-cards';
import type { CreditRule } from '../rate-cards/rate-card.policy';

export interface TestCredits {
  granted?: string;
  purchased?: string;
  /** How far below zero calls may begin. */
  overdraft?: string;
}

const ON = FEATURES.filter((feature) => feature !== 'enforced_idp_sso');
const PLAN = sql(`
  INSERT INTO plans (id, code, name, monthly_credits, overdraft_pct, ${[...ON, ...CAPS].join(', ')})
  VALUES ($1::uuid, $1::text, 'Test', $2, 100, ${[...ON.map(() => 'true'), ...CAPS.map(() => '-1')].join(', ')})`);
const SUBSCRIBE = sql(
  'INSERT INTO subscriptions (org_id, plan_id) VALUES ($1, $2) ON CONFLICT (org_id) DO UPDATE SET plan_id = excluded.plan_id',
);
const POST = sql(`SELECT credit_post($1, $2, $3, 'adjust', 'adjust:' || $4::text, NULL, NULL, NULL, 'test', NULL)`);

/** Puts an organization on a plan of its own that allows everything and is paid in credits, and gives it some. */
export async function withCredits(
  service: TestService,
  orgId: string,
  { granted = '0', purchased = '0', overdraft = '0' }: TestCredits,
): Promise<void> {
  const plan = uuidv7();
  await service.db.execute(PLAN, [plan, overdraft]);
  await service.db.execute(SUBSCRIBE, [orgId, plan]);
  for (const entitlements of service.all(PlanEntitlements)) entitlements.drop(orgId);
  for (const [bucket, amount] of Object.entries({ granted, purchased }))
    if (amount !== '0') await addCredits(service, orgId, amount, bucket as 'granted');
}

/** Moves a balance, as operators do. */
export async function addCredits(
  service: TestService,
  orgId: string,
  amount: string,
  bucket: 'granted' | 'purchased' = 'granted',
): Promise<void> {
  await service.db.execute(POST, [orgId, bucket, amount, uuidv7()]);
}

const CARD = sql(`
  INSERT INTO rate_cards (version, effective_from, credits_per_usd, rules) VALUES ($1, '2020-01-01', $2, $3)
  ON CONFLICT (version) DO UPDATE SET effective_from = excluded.effective_from, credits_per_usd = excluded.credits_per_usd, rules = excluded.rules`);

/** The rate card of the test: a version that has begun long ago. */
export async function withRateCard(
  service: TestService,
  { rules = [], perUsd = '100' }: { rules?: CreditRule[]; perUsd?: string } = {},
): Promise<void> {
  await service.db.execute(CARD, [1, perUsd, JSON.stringify(rules)]);
  service.get(RateCards).drop();
}
