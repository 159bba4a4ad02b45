import { CAPS, FEATURES, type Cap, type Feature } from '../entitlements';
import type { PackInput, PlanInput } from './catalog.policy';

const on = (...features: readonly Feature[]) => Object.fromEntries(features.map((name) => [name, true]));
const unlimited = (...caps: readonly Cap[]) => Object.fromEntries(caps.map((name) => [name, -1]));

const TRIAL: Feature[] = ['decision_log', 'enforces_credits'];
const STARTER: Feature[] = [...TRIAL, 'audit_log', 'shared_blocks'];
const TEAM: Feature[] = [...STARTER, 'hitl_routing', 'per_agent_budgets', 'direct_model_choice'];

/** The plans of an installation that nobody has edited. The products are those of the local payment provider. */
export const PLAN_SEED: readonly PlanInput[] = [
  {
    code: 'trial',
    name: 'Trial',
    sort_order: 10,
    price_display: '0',
    initial_credits: '500',
    renews: false,
    ...on(...TRIAL),
    max_seats: 3,
    max_agents: 3,
    max_inboxes: 1,
    max_integrations: 3,
    max_concurrent_chats: 2,
    max_queue_depth: 20,
    intake_messages_per_day: 100,
    intake_classifier_calls_per_day: 50,
    decision_retention_days: 30,
  },
  {
    code: 'starter',
    name: 'Starter',
    sort_order: 20,
    price_display: '29',
    monthly_credits: '3000',
    overdraft_pct: '5',
    ...on(...STARTER),
    max_seats: 5,
    max_agents: 10,
    max_inboxes: 3,
    max_integrations: 10,
    max_concurrent_chats: 5,
    max_queue_depth: 100,
    intake_messages_per_day: 1_000,
    intake_classifier_calls_per_day: 500,
    max_custom_environments: 1,
    max_custom_image_gb: 2,
    decision_retention_days: 180,
    polar_product_id: '5eed0000-0000-4000-8000-000000000001',
  },
  {
    code: 'team',
    name: 'Team',
    sort_order: 30,
    price_display: '149',
    monthly_credits: '20000',
    overdraft_pct: '10',
    ...on(...TEAM),
    max_seats: 25,
    max_agents: 50,
    max_inboxes: 20,
    max_integrations: 50,
    max_concurrent_chats: 20,
    max_queue_depth: 1_000,
    intake_messages_per_day: 10_000,
    intake_classifier_calls_per_day: 5_000,
    max_custom_environments: 5,
    max_custom_image_gb: 10,
    max_custom_models: 5,
    decision_retention_days: 365,
    polar_product_id: '5eed0000-0000-4000-8000-000000000002',
  },
  {
    code: 'enterprise',
    name: 'Enterprise',
    sort_order: 40,
    is_enterprise: true,
    ...on(...FEATURES),
    enforces_credits: false,
    ...unlimited(...CAPS),
    max_concurrent_chats: 200,
    max_queue_depth: 20_000,
    max_custom_image_gb: 50,
  },
];

export const PACK_SEED: readonly PackInput[] = [
  {
    code: 'pack_1k',
    name: '1,000 credits',
    credits: '1000',
    price_display: '12',
    sort_order: 10,
    polar_product_id: '5eed0000-0000-4000-8000-000000000011',
  },
  {
    code: 'pack_10k',
    name: '10,000 credits',
    credits: '10000',
    price_display: '100',
    sort_order: 20,
    polar_product_id: '5eed0000-0000-4000-8000-000000000012',
  },
];

/** Rules from before any installation: an operator can publish one for the day on which this is seeded. */
export const CARD_SEED = { version: 1, effective_from: '2026-01-01', credits_per_usd: '100', rules: [] };
