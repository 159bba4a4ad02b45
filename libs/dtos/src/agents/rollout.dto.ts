import { BooleanField, DateTimeField, EnumField, IntField, ListField, StringField, UuidField } from '@aps/platform/http';

export const ROLLOUT_KINDS = ['deploy', 'experiment'] as const;
export const ROLLOUT_STATUSES = ['live', 'running', 'superseded', 'promoted', 'stopped'] as const;
export const ROLLOUT_UNITS = ['chat', 'originator'] as const;
export const BILLING_UNITS = ['credits', 'usd'] as const;

export class RolloutArmResponse {
  @StringField({ description: 'Names the arm within the rollout.', example: 'v3' }) label: string;
  @UuidField({ description: 'The revision that its chats run on.' }) revision_id: string;
  @IntField({ description: 'Number of that revision.', example: 3 }) version: number;
  @IntField({ description: 'Its share of new chats, in basis points; all arms together have 10000.', example: 10_000 }) weight: number;
  @IntField({ description: 'Chats that it got.', example: 0 }) chat_count: number;
  @BooleanField({ description: 'Whether the other arms are compared with it.', example: false }) is_control: boolean;
}

/** A deployment of one revision, or an experiment between several. */
export class RolloutDetailResponse {
  @UuidField({ description: 'The rollout.' }) id: string;
  @UuidField({ description: 'The agent.' }) agent_id: string;

  @EnumField(ROLLOUT_KINDS, { name: 'RolloutKind', description: 'One revision for all chats, or several side by side.' })
  kind: (typeof ROLLOUT_KINDS)[number];

  @EnumField(ROLLOUT_STATUSES, {
    name: 'RolloutStatus',
    description: '`live` for the deployment in force, `running` for an experiment in progress.',
  })
  status: (typeof ROLLOUT_STATUSES)[number];

  @StringField({ nullable: true, description: 'What people call it.' }) label: string | null;
  @StringField({ nullable: true, description: 'What the experiment is to show.' }) hypothesis: string | null;

  @EnumField(ROLLOUT_UNITS, {
    name: 'RolloutUnit',
    description: 'What is assigned to an arm: each chat, or all chats of whoever began them.',
  })
  unit: (typeof ROLLOUT_UNITS)[number];

  @StringField({ nullable: true, description: 'Label of the arm that the others are compared with.' }) control: string | null;
  @IntField({ nullable: true, description: 'Chats per arm below which results say nothing.' }) min_sample: number | null;

  @EnumField(BILLING_UNITS, { name: 'BillingUnit', description: 'What its costs are counted in.' })
  billing_unit: (typeof BILLING_UNITS)[number];

  @ListField(() => RolloutArmResponse, { description: 'The revisions in it.' }) arms: RolloutArmResponse[];
  @StringField({ nullable: true, description: 'Label of the arm that was promoted.' }) promoted_arm: string | null;
  @UuidField({ nullable: true, description: 'The deployment that its end made.' }) deployed_rollout_id: string | null;
  @UuidField({ nullable: true, description: 'Who started it.' }) started_by: string | null;
  @DateTimeField({ description: 'When it began.' }) started_at: string;
  @DateTimeField({ nullable: true, description: 'When it ended.', example: '2026-11-21T09:30:00.000Z' }) ended_at: string | null;
  @DateTimeField({ description: 'The same as `started_at`.' }) created_at: string;
  @DateTimeField({ description: 'When it began or ended.' }) updated_at: string;
}
