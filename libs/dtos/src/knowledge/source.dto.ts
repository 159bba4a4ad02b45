import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntField,
  ListField,
  NestedField,
  PageOf,
  StringField,
  UuidField,
} from '@aps/platform/http';

const MAX_CONTENT_BYTES = 2 * 1024 * 1024;
export const MAX_SOURCE_TITLE = 500;

export const SOURCE_STATES = ['PENDING', 'PROCESSING', 'READY', 'FAILED'] as const;
const KINDS = ['file', 'text', 'url', 'synced', 'document'] as const;
const STAGES = ['fetch', 'extract', 'chunk', 'embed', 'store'] as const;

/** How a source stands. */
export const SourceState = (description: string) =>
  EnumField(SOURCE_STATES, { name: 'KnowledgeSourceStatus', description, example: 'READY' });

/** What is written, in Markdown. */
export const MarkdownField = (o: { optional?: boolean; notBlank?: boolean; default?: string; description: string }) =>
  StringField({
    optional: o.optional,
    default: o.default,
    maxBytes: MAX_CONTENT_BYTES,
    ...(o.notBlank && { pattern: /\S/, patternMessage: 'String should not be blank' }),
    description: `${o.description} At most 2 MiB of UTF-8.`,
    example: '# Holidays\n\nThirty days a year.',
  });

export class AddTextSourceRequest {
  @MarkdownField({ notBlank: true, description: 'What it says, in Markdown.' }) content: string;
  @StringField({ trim: true, min: 1, max: MAX_SOURCE_TITLE, description: 'What people call it.', example: 'Holidays' }) title: string;
}

export class FileRef {
  @UuidField({ description: 'A file that was uploaded, and that the caller may open.' }) file_id: string;
  @StringField({
    optional: true,
    trim: true,
    min: 1,
    max: 255,
    description: 'What the source is called, instead of the name of the file.',
    example: 'handbook.pdf',
  })
  filename?: string;
}

export class AddFileSourcesRequest {
  @ListField(() => FileRef, { min: 1, max: 20, description: 'A source is made of each. All of them or none.' }) file_refs: FileRef[];
}

export class AddUrlSourceRequest {
  @StringField({
    min: 1,
    max: 2_048,
    format: 'uri',
    description: 'Where it stands: https, no user name, a public address.',
    example: 'https://example.com/handbook',
  })
  url: string;
}

export class KnowledgeSourceError {
  @StringField({ description: 'Why, for programs.', example: 'unsupported_type' }) code: string;
  @StringField({ description: 'Why, for people.', example: 'Files of this kind cannot be read.' }) message: string;
  @EnumField(STAGES, { name: 'KnowledgeSourceStage', description: 'Where.', example: 'extract' }) stage: string;
}

export class KnowledgeSourceResponse {
  @UuidField({ description: 'The source.' }) id: string;
  @UuidField({ description: 'Its base.' }) kb_id: string;
  @EnumField(KINDS, { name: 'KnowledgeSourceKind', description: 'What it is made of.', example: 'file' }) kind: string;
  @StringField({ description: 'What people call it.', example: 'handbook.pdf' }) title: string;
  @SourceState('Whether it is indexed. What was found before is found until a later run has brought its own.') status: string;
  @NestedField(() => KnowledgeSourceError, { nullable: true, description: 'Why it could not be indexed.' })
  error: KnowledgeSourceError | null;
  @IntField({ description: 'Pieces that a search can find.', example: 40 }) chunk_count: number;
  @BooleanField({ description: 'Whether its pieces are found by what they mean, too, and not by their words alone.', example: true })
  embedded: boolean;
  @IntField({ nullable: true, description: 'Of what was read; null where nothing was yet.', example: 20_480 }) size_bytes: number | null;
  @StringField({ nullable: true, description: 'What it is, told from its bytes.', example: 'application/pdf' }) media_type: string | null;
  @StringField({ nullable: true, description: 'Where it stands.', example: 'https://example.com/handbook' }) url: string | null;
  @UuidField({ nullable: true, description: 'The synchronisation that brought it.' }) sync_config_id: string | null;
  @StringField({ nullable: true, description: 'What it is called where it came from.' }) remote_id: string | null;
  @IntField({ description: 'How often its newest run was begun.', example: 1 }) attempts: number;
  @DateTimeField({ nullable: true, description: 'When what is found was indexed.' }) indexed_at: string | null;
  @UuidField({ nullable: true, description: 'Who added it.' }) created_by: string | null;
  @DateTimeField({ description: 'When it was added.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

export class KnowledgeChunk {
  @UuidField({ description: 'The piece.' }) id: string;
  @UuidField({ description: 'Its source.' }) source_id: string;
  @IntField({ description: 'Its place in the source: 0, 1, 2 …', example: 3 }) position: number;
  @StringField({ description: 'What it says.' }) content: string;
  @ListField('string', { description: 'The headings above it, outermost first.', example: ['Holidays'] }) heading_path: string[];
  @IntField({ description: 'Where it begins in the text of the source, in code points.', example: 1_200 }) char_start: number;
  @IntField({ description: 'Where it ends, exclusive.', example: 4_000 }) char_end: number;
  @IntField({ nullable: true, description: 'From 1; null where the source has no pages.', example: 2 }) page: number | null;
  @IntField({ description: 'As `o200k_base` counts.', example: 780 }) token_count: number;
}

export const ChunkListResponse = PageOf(KnowledgeChunk, 'ChunkListResponse');
