import { OmitType } from '@nestjs/swagger';
import { BooleanField, DateTimeField, DecimalString, IntField, NestedField, StringField, UuidField } from '@aps/platform/http';
import { AgentSettings } from './agent.dto';

/** Everything that the agent was when it was sealed. */
export class SealedAgentConfigResponse extends OmitType(AgentSettings, ['team_id', 'project_id']) {
  @IntField({ description: 'Version of this shape.', example: 1 }) schema_version: number;
  @UuidField({ description: 'The agent.' }) agent_id: string;
  @StringField({ description: 'Its slug.', example: 'support-agent' }) slug: string;
  @StringField({ description: 'The instruction that was published.', example: 'You answer politely and briefly.' }) instruction: string;
  @IntField({ description: 'Version of that instruction; 0 when there was none.', example: 1 }) instruction_version: number;

  @DecimalString({ nullable: true, description: 'Credits it may spend in a billing period.', example: '500.000000' })
  budget_credits_per_period: string | null;
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
