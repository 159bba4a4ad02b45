import {
  BooleanField,
  DateTimeField,
  DecimalString,
  EnumField,
  IntField,
  ListField,
  NestedField,
  ObjectField,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { AGENT_MODEL_MODES, AGENT_REASONING_EFFORTS, type AgentModelMode, type AgentReasoningEffort } from './vocabulary';

/** Everything that the agent was when it was sealed. */
export class SealedAgentConfigResponse {
  @IntField({ description: 'Version of this shape.', example: 1 }) schema_version: number;
  @UuidField({ description: 'The agent.' }) agent_id: string;
  @StringField({ description: 'Its name.', example: 'Support agent' }) name: string;
  @StringField({ description: 'Its slug.', example: 'support-agent' }) slug: string;
  @StringField({ nullable: true, description: 'What it is for.' }) description: string | null;
  @StringField({ nullable: true, description: 'Seed of its picture.' }) avatar_seed: string | null;
  @UuidField({ nullable: true, description: 'Its team.' }) team_id: string | null;
  @UuidField({ nullable: true, description: 'Its project.' }) project_id: string | null;
  @StringField({ description: 'The instruction that was published.', example: 'You answer politely and briefly.' }) instruction: string;
  @IntField({ description: 'Version of that instruction; 0 when there was none.', example: 1 }) instruction_version: number;
  @StringField({ nullable: true, description: 'Key of its model; null for the default.', example: 'mock' }) model: string | null;
  @EnumField(AGENT_MODEL_MODES, { nullable: true, description: 'Its mode; null for the default.' }) model_mode: AgentModelMode | null;

  @EnumField(AGENT_REASONING_EFFORTS, { nullable: true, description: 'Null for the default.' })
  reasoning_effort: AgentReasoningEffort | null;

  @ListField('string', { description: 'Tool scopes that it may use.', example: ['core'] }) allowed_tools: string[];
  @ListField('string', { description: 'Tool scopes that it may not use.', example: [] }) denied_tools: string[];
  @ListField('string', { description: 'Slugs of its skills.', example: ['clear-writing'] }) mounted_skills: string[];
  @ListField('uuid', { description: 'Knowledge bases that it reads.' }) knowledge_base_ids: string[];
  @UuidField({ nullable: true, description: 'Where its commands run.' }) environment_id: string | null;
  @ListField('uuid', { description: 'Agents that it may delegate to.' }) child_agent_ids: string[];
  @IntField({ description: 'Model calls that one turn may take.', example: 50 }) max_steps: number;
  @IntField({ description: 'How deep delegation may go.', example: 5 }) max_child_depth: number;
  @BooleanField({ description: 'Whether it may write memories.' }) memory_enabled: boolean;

  @DecimalString({ nullable: true, description: 'Credits it may spend in a billing period.', example: '500.000000' })
  budget_credits_per_period: string | null;

  @ObjectField({ description: 'The caller’s own.' }) metadata: Record<string, unknown>;
}

/** A sealed revision. It never changes. */
export class AgentRevisionResponse {
  @UuidField({ description: 'The revision.' }) id: string;
  @UuidField({ description: 'The agent it belongs to.' }) agent_id: string;
  @IntField({ description: '1, 2, 3 … within the agent, without gaps.', example: 3 }) version: number;

  @StringField({
    description: 'SHA-256 over the canonical JSON (RFC 8785) of `config`, hex. Equal configurations have equal hashes.',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  })
  hash: string;

  @NestedField(() => SealedAgentConfigResponse, { description: 'What it seals.' }) config: SealedAgentConfigResponse;
  @BooleanField({ description: 'Whether new chats run on it.', example: true }) is_live: boolean;
  @UuidField({ nullable: true, description: 'Who sealed it.' }) created_by: string | null;
  @DateTimeField({ description: 'When it was sealed.' }) created_at: string;
  @DateTimeField({ description: 'The same: a revision never changes.' }) updated_at: string;
}
