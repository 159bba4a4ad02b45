import { DateTimeField, EnumField, IntField, NestedField, StringField, UuidField } from '@aps/platform/http';
import { MAX_TEXT } from './vocabulary';

export const INSTRUCTION_STATES = ['draft', 'active', 'superseded'] as const;

export class SaveInstructionDraftRequest {
  @StringField({ max: MAX_TEXT, description: 'The whole text.', example: 'You answer politely and briefly.' }) content: string;

  @StringField({
    optional: true,
    nullable: true,
    max: 64,
    description:
      'The `base_version` that the author had read. If it is no longer the current one, nothing is saved (409). Without it the last save wins.',
    example: 'v4',
  })
  base_version?: string | null;
}

export class PublishInstructionDraftRequest {
  @StringField({
    optional: true,
    nullable: true,
    max: 64,
    description:
      'The `base_version` that the publisher had read. If it is no longer the current one, nothing is published (409). Without it the draft is published as it stands.',
    example: 'v4',
  })
  base_version?: string | null;
}

export class DiscardInstructionDraftQuery {
  @StringField({
    optional: true,
    max: 64,
    description: 'The `base_version` that was read. If it is no longer the current one, nothing is discarded (409).',
    example: 'v4',
  })
  base_version?: string;
}

export class InstructionRevisionResponse {
  @UuidField({ description: 'The revision.' }) id: string;
  @UuidField({ description: 'The agent it belongs to.' }) agent_id: string;
  @IntField({ nullable: true, description: 'Given when it is published; null for the draft.', example: 2 }) version: number | null;

  @EnumField(INSTRUCTION_STATES, { name: 'InstructionState', description: 'At most one is the draft, at most one is active.' })
  state: (typeof INSTRUCTION_STATES)[number];

  @StringField({ description: 'The text.', example: 'You answer politely and briefly.' }) content: string;
  @UuidField({ nullable: true, description: 'The revision that was active when it was begun.' }) base_revision_id: string | null;
  @UuidField({ nullable: true, description: 'Who began it.' }) created_by: string | null;
  @DateTimeField({ nullable: true, description: 'When it was published.' }) published_at: string | null;
  @DateTimeField({ description: 'When it was begun.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

/** An agent's instruction: what is published, and what is being written. */
export class InstructionResponse {
  @UuidField({ description: 'The agent.' }) agent_id: string;

  @NestedField(() => InstructionRevisionResponse, { nullable: true, description: 'The published instruction; null when none ever was.' })
  active: InstructionRevisionResponse | null;

  @NestedField(() => InstructionRevisionResponse, { nullable: true, description: 'What is being written; null when nothing is.' })
  draft: InstructionRevisionResponse | null;

  @StringField({
    description: 'Opaque; changes with every change of either. Send it with what follows: a save, publishing or discarding.',
    example: 'v4',
  })
  base_version: string;
}
