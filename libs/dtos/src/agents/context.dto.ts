import { BooleanField, EnumField, IntField, ListField, NestedField, StringField, UuidField } from '@aps/platform/http';
import { MEMORY_OWNER_KINDS, MemoryOwnerResponse } from './memory.dto';

const SOURCES = ['platform', ...MEMORY_OWNER_KINDS] as const;

export class ContextSource {
  @EnumField(SOURCES, { name: 'ContextSourceKind', description: 'Where it comes from.', example: 'team' }) kind: (typeof SOURCES)[number];
  @UuidField({ nullable: true, description: 'Its id; null for the platform.' }) id: string | null;
}

export class ContextInstruction {
  @NestedField(() => ContextSource, { description: 'Whose it is.' }) source: ContextSource;
  @StringField({ description: 'What it says.', example: 'You answer politely and briefly.' }) text: string;
}

export class ContextTool {
  @StringField({ description: 'A tool scope.', example: 'system:web' }) scope: string;
  @ListField(() => ContextSource, { description: 'Who grants it.' }) sources: ContextSource[];
  @BooleanField({ description: 'Whether the agent denies it; then nobody’s grant holds.', example: false }) denied: boolean;
}

export class ContextSkill {
  @StringField({ description: 'A skill that is there.', example: 'clear-writing' }) slug: string;
  @NestedField(() => ContextSource, { description: 'Who mounts it; the first of project, team and agent.' }) source: ContextSource;
}

export class ContextMemory {
  @UuidField({ description: 'The memory.' }) id: string;
  @NestedField(() => MemoryOwnerResponse, { description: 'Who remembers.' }) owner: MemoryOwnerResponse;
}

/** What the next turn of an agent would be told and may use, beside its chat. */
export class EffectiveContextResponse {
  @StringField({
    description: 'Over all the rest. A turn’s steps carry it, too, as `context_sha256` of their timeline events.',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  })
  sha256: string;

  @ListField(() => ContextInstruction, { description: 'In the order in which they are said.' }) instruction: ContextInstruction[];
  @ListField(() => ContextTool, { description: 'What is granted, by scope.' }) tools: ContextTool[];
  @ListField(() => ContextSkill, { description: 'In the order in which they are told of.' }) skills: ContextSkill[];
  @ListField(() => ContextMemory, { description: 'Those that are told, the agent’s first.' }) memories: ContextMemory[];
  @IntField({ description: 'What these come to in tokens, roughly.', example: 120 }) memory_tokens: number;
}
