import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  DecimalField,
  DecimalString,
  EnumField,
  IntField,
  ListField,
  NestedField,
  ObjectField,
  PageQuery,
  StringField,
  UuidField,
  type ListOptions,
} from '@aps/platform/http';
import { MODEL_MODES, REASONING_EFFORTS, type ModelMode, type ReasoningEffort } from '@aps/contracts';
import { IdOrNone, WishedSlug } from '../common';
import { MAX_TEXT } from './vocabulary';

const TOOLS =
  'Tool scopes: `core`, `system:web`, `system:exec`, `kb:{slug}`, `con:{slug}`, `agent:{slug}`, `process:{slug}`, `prompt:{slug}`, an exact tool `con_slug.tool_name`, or `*` for all.';
export const toolScopes = (description: string): ListOptions => ({
  max: 500,
  item: { min: 1, max: 256 },
  description: `${TOOLS} ${description}`,
  example: ['core', 'system:web'],
});

/** What can be set of an agent; a revision seals all of it but where it belongs. */
export class AgentSettings {
  @StringField({ min: 1, max: 120, description: 'What people call it.', example: 'Support agent' }) name: string;

  @StringField({ nullable: true, max: 2_000, description: 'What it is for.', example: 'Answers support questions from the handbook.' })
  description: string | null;

  @StringField({ nullable: true, max: 200, description: 'Clients draw its picture from it.', example: 'teal-fox' }) avatar_seed:
    string | null;
  @UuidField({ nullable: true, description: 'The team it belongs to; holds at once, whatever is deployed.' }) team_id: string | null;
  @UuidField({ nullable: true, description: 'The project it belongs to; holds at once, whatever is deployed.' }) project_id: string | null;

  @StringField({
    nullable: true,
    min: 1,
    max: 200,
    description: 'Key of a catalog model; needs `direct_model_choice`. Null: the default.',
    example: 'mock',
  })
  model: string | null;

  @EnumField(MODEL_MODES, {
    nullable: true,
    description: 'Instead of a model, where the plan does not include `direct_model_choice`. Null: the default.',
    example: 'normal',
  })
  model_mode: ModelMode | null;

  @EnumField(REASONING_EFFORTS, { nullable: true, description: 'Needs `direct_model_choice`. Null: the default.', example: 'medium' })
  reasoning_effort: ReasoningEffort | null;

  @ListField('string', toolScopes('What it may use.')) allowed_tools: string[];
  @ListField('string', toolScopes('What it may not use, whatever is granted; `*` leaves it no tool at all.')) denied_tools: string[];

  @ListField('string', { max: 100, item: { min: 1, max: 64 }, description: 'Slugs of skills that it mounts.', example: ['clear-writing'] })
  mounted_skills: string[];

  @ListField('uuid', { max: 100, description: 'Knowledge bases that it reads.' }) knowledge_base_ids: string[];
  @UuidField({ nullable: true, description: 'Where its commands run. Null: the built-in sandbox.' }) environment_id: string | null;
  @ListField('uuid', { max: 100, description: 'Agents that it may delegate to.' }) child_agent_ids: string[];
  @IntField({ min: 1, max: 1_000, description: 'Model calls that one turn may take. Default 50.', example: 50 }) max_steps: number;
  @IntField({ min: 0, max: 5, description: 'How deep delegation may go. Default 5.', example: 5 }) max_child_depth: number;
  @BooleanField({ description: 'Whether it may write memories. Default false.', example: false }) memory_enabled: boolean;

  @ObjectField({
    description:
      'The caller’s own; at most 16 KiB of JSON. Every key is kept; a number that a double cannot keep is refused, with `number_unsafe`.',
    example: { cost_centre: '4711' },
  })
  metadata: Record<string, unknown>;
}

/** Fields that are absent stay as they are. */
export class UpdateAgentRequest extends PartialType(AgentSettings, { skipNullProperties: false }) {
  @WishedSlug('support-agent', 'Unique among the live agents of the organization.') slug?: string | null;

  @StringField({
    optional: true,
    nullable: true,
    max: MAX_TEXT,
    description: 'The instruction. Setting it publishes a new version of it.',
    example: 'You answer politely and briefly.',
  })
  instruction?: string | null;

  @DecimalField({
    optional: true,
    nullable: true,
    min: 0,
    description:
      'Credits it may spend in a billing period, as receipts count them, whether or not the plan takes them; needs `per_agent_budgets`. Null: no limit of its own.',
    example: '500',
  })
  budget_credits_per_period?: string | null;
}

export class CreateAgentRequest extends IntersectionType(OmitType(UpdateAgentRequest, ['name']), PickType(AgentSettings, ['name'])) {}

export class UpdateAgentQuery {
  @BooleanField({ optional: true, default: false, description: 'Seal the edited draft and deploy it at once.' }) deploy?: boolean;
}

export class AgentListQuery extends PageQuery {
  @StringField({ optional: true, max: 200, description: 'Part of a name, slug or description.', example: 'support' }) q?: string;
  @IdOrNone('Only agents of this team, or `none`.') team_id?: string;
  @IdOrNone('Only agents of this project, or `none`.') project_id?: string;
}

export class AgentLiveRevision {
  @UuidField({ description: 'The revision that new chats run on.' }) id: string;
  @IntField({ description: 'Its number.', example: 3 }) version: number;
}

/** An agent: its draft, and what of it is live. */
export class AgentResponse extends AgentSettings {
  @UuidField({ description: 'The agent.' }) id: string;
  @StringField({ description: 'Names it in addresses and tool scopes.', example: 'support-agent' }) slug: string;

  @StringField({ description: 'The published instruction; empty when there is none.', example: 'You answer politely and briefly.' })
  instruction: string;

  @IntField({ description: 'Version of the published instruction; 0 when there is none.', example: 1 }) instruction_version: number;
  @BooleanField({ description: 'Whether a change of the instruction is being written.', example: false }) has_instruction_draft: boolean;

  @DecimalString({ nullable: true, description: 'Credits it may spend in a billing period.', example: '500' })
  budget_credits_per_period: string | null;

  @NestedField(() => AgentLiveRevision, { nullable: true, description: 'What new chats run on.' }) live_revision: AgentLiveRevision | null;
  @BooleanField({ description: 'Whether sealing and deploying now would change what is live.', example: false }) draft_dirty: boolean;
  @UuidField({ nullable: true, description: 'The experiment that runs, if any.' }) running_rollout_id: string | null;
  @UuidField({ nullable: true, description: 'Who made it.' }) created_by: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}
