import { DateTimeField, EnumField, NestedField, StringField, UuidField } from '@aps/platform/http';

export const MEMORY_OWNER_KINDS = ['project', 'team', 'agent'] as const;
export const MEMORY_SOURCES = ['human', 'agent'] as const;

export class CreateMemoryRequest {
  @StringField({
    min: 1,
    max: 8_192,
    description: 'What to remember; at most 8 KiB.',
    example: 'The customer writes in German and wants answers in German.',
  })
  content: string;
}

export class MemoryOwnerResponse {
  @EnumField(MEMORY_OWNER_KINDS, { name: 'MemoryOwnerKind', description: 'Who remembers.' }) kind: (typeof MEMORY_OWNER_KINDS)[number];
  @UuidField({ description: 'Its id.' }) id: string;
}

/** Something to remember. The newest of an agent, its team and its project enter its prompt. */
export class AgentMemoryResponse {
  @UuidField({ description: 'The memory.' }) id: string;
  @StringField({ description: 'What to remember.', example: 'The customer writes in German and wants answers in German.' }) content: string;
  @NestedField(() => MemoryOwnerResponse, { description: 'Whose it is.' }) owner: MemoryOwnerResponse;
  @EnumField(MEMORY_SOURCES, { name: 'MemorySource', description: 'Who wrote it.' }) source: (typeof MEMORY_SOURCES)[number];
  @UuidField({ nullable: true, description: 'The user who wrote it; null when an agent did.' }) created_by: string | null;
  @DateTimeField({ description: 'When it was written.' }) created_at: string;
  @DateTimeField({ description: 'The same: a memory never changes.' }) updated_at: string;
}
