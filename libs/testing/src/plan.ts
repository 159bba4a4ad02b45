import { Plan } from '@aps/entities';
import type { Database } from '@aps/platform/database';

/**
 * The plan that organizations of specs are on: generous, but finite where one organization could otherwise fill the machine. All its
 * features are on, but for the two that take something away: metering, and keeping members from signing in by password.
 */
export const TEST_PLAN = {
  id: '00000000-0000-7000-8000-000000000001',
  code: 'test',
  name: 'Test',
  // As overdraft: where a spec has it paid in credits, it can pay without having been granted any.
  monthly_credits: '1000000',
  overdraft_pct: '100',
  audit_log: true,
  byo_keys: true,
  decision_log: true,
  direct_model_choice: true,
  enforced_idp_sso: false,
  enforces_credits: false,
  hitl_routing: true,
  per_agent_budgets: true,
  shared_blocks: true,
  max_agents: 1_000,
  max_seats: 1_000,
  max_inboxes: 1_000,
  max_integrations: 1_000,
  max_custom_environments: 100,
  max_custom_models: 1_000,
  max_custom_image_gb: 50,
  max_concurrent_chats: 2_000,
  max_queue_depth: 20_000,
  intake_messages_per_day: -1,
  intake_classifier_calls_per_day: -1,
  decision_retention_days: -1,
} satisfies Partial<Plan>;

export const makeTestPlan = async (db: Database): Promise<void> => void (await db.manager.insert(Plan, TEST_PLAN));
