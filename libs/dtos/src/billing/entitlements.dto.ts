import { PartialType } from '@nestjs/swagger';
import { BooleanField, IntField, nullableFields } from '@aps/platform/http';

/** What an organization may do. */
export class EntitlementFields {
  @BooleanField({ default: false, description: 'Members may read the audit log.', example: true }) audit_log: boolean;
  @BooleanField({ default: false, description: 'Own keys, routes and models.', example: true }) byo_keys: boolean;
  @BooleanField({ default: false, description: 'Decisions are recorded and enforced.', example: true }) decision_log: boolean;
  @BooleanField({ default: false, description: 'Models are chosen one by one, and not by mode.', example: true })
  direct_model_choice: boolean;
  @BooleanField({ default: false, description: 'Sessions that began with a password are refused.', example: true })
  enforced_idp_sso: boolean;
  @BooleanField({ default: false, description: 'Model calls are paid in credits.', example: true }) enforces_credits: boolean;
  @BooleanField({ default: false, description: 'Requests to humans have assignees, and escalations reach people.', example: true })
  hitl_routing: boolean;
  @BooleanField({ default: false, description: 'Agents have budgets of their own.', example: true }) per_agent_budgets: boolean;
  @BooleanField({ default: false, description: 'Teams and projects share instructions and memories.', example: true })
  shared_blocks: boolean;

  @IntField({ min: -1, default: 0, description: 'Agents; -1 = unlimited, 0 = none.', example: 25 }) max_agents: number;
  @IntField({ min: -1, default: 0, description: 'Members and open invitations; -1 = unlimited, 0 = none.', example: 25 }) max_seats: number;
  @IntField({ min: -1, default: 0, description: 'Inboxes; -1 = unlimited, 0 = none.', example: 25 }) max_inboxes: number;
  @IntField({ min: -1, default: 0, description: 'Connections; -1 = unlimited, 0 = none.', example: 25 }) max_integrations: number;
  @IntField({ min: -1, default: 0, description: 'Environments of its own; -1 = unlimited, 0 = none.', example: 25 })
  max_custom_environments: number;
  @IntField({ min: -1, default: 0, description: 'Models of its own; -1 = unlimited, 0 = none.', example: 25 }) max_custom_models: number;
  @IntField({ min: -1, default: 0, description: 'Size of an own image, in gigabytes; -1 = unlimited, 0 = none.', example: 25 })
  max_custom_image_gb: number;
  @IntField({ min: -1, default: 0, description: 'Turns that run at once; -1 = unlimited, 0 = none.', example: 25 })
  max_concurrent_chats: number;
  @IntField({ min: -1, default: 0, description: 'Turns that wait; -1 = unlimited, 0 = none.', example: 25 }) max_queue_depth: number;
  @IntField({ min: -1, default: 0, description: 'Messages that inboxes take in a day (UTC); -1 = unlimited, 0 = none.', example: 25 })
  intake_messages_per_day: number;
  @IntField({ min: -1, default: 0, description: 'Calls of classifiers in a day (UTC); -1 = unlimited, 0 = none.', example: 25 })
  intake_classifier_calls_per_day: number;
  @IntField({ min: -1, default: 0, description: 'Days that decisions are kept; -1 = unlimited, 0 = none.', example: 25 })
  decision_retention_days: number;
}

/** Of an organization's own: what is absent stays, null inherits from its plan. */
@nullableFields()
export class EntitlementOverrides extends PartialType(EntitlementFields, { skipNullProperties: false }) {}
