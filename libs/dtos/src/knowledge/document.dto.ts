import { DateTimeField, IntField, NestedField, NumberField, StringField, UuidField } from '@aps/platform/http';
import { KnowledgeSourceError, MarkdownField, MAX_SOURCE_TITLE, SourceState } from './source.dto';

const TITLE = { trim: true, min: 1, max: MAX_SOURCE_TITLE, description: 'What people call it.', example: 'Holidays' };
const CONTENT = 'What it says, in Markdown.';
const PARENT = 'The page that it stands below; null: none.';
const POSITION = { description: 'Its place among its siblings: the lowest first.', example: 2 };

export class CreateKnowledgeDocumentRequest {
  @StringField({ ...TITLE, optional: true, default: 'Untitled' }) title?: string;
  @MarkdownField({ optional: true, default: '', description: CONTENT }) content?: string;
  @UuidField({ optional: true, nullable: true, description: PARENT }) parent_id?: string | null;
  @NumberField({ ...POSITION, optional: true, nullable: true, description: `${POSITION.description} Default: the last.` })
  position?: number | null;
}

/** Fields that are absent stay as they are. */
export class SaveKnowledgeDocumentRequest {
  @StringField({ ...TITLE, optional: true }) title?: string;
  @MarkdownField({ optional: true, description: CONTENT }) content?: string;
  @StringField({
    optional: true,
    nullable: true,
    max: 64,
    description: 'The `version` that was read: one that is not the newest any more is refused. Absent or null: whatever it is.',
    example: 'v12',
  })
  base_version?: string | null;
}

export class MoveKnowledgeDocumentRequest {
  @NumberField(POSITION) position: number;
  @UuidField({ optional: true, nullable: true, description: `${PARENT} Absent: as it is.` }) parent_id?: string | null;
}

export class KnowledgeDocumentTreeItem {
  @UuidField({ description: 'The document, as a source of its base.' }) source_id: string;
  @StringField({ description: 'What people call it.', example: 'Holidays' }) title: string;
  @UuidField({ nullable: true, description: 'The page that it stands below.' }) parent_id: string | null;
  @NumberField(POSITION) position: number;
  @SourceState('Whether it is indexed.') status: string;
  @StringField({ description: 'What it says is another one with each.', example: 'v12' }) version: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

export class KnowledgeDocumentResponse extends KnowledgeDocumentTreeItem {
  @UuidField({ description: 'Its base.' }) kb_id: string;
  @StringField({ description: CONTENT }) content: string;
  @NestedField(() => KnowledgeSourceError, { nullable: true, description: 'Why it could not be indexed.' })
  error: KnowledgeSourceError | null;
  @IntField({ description: 'Pieces that a search can find.', example: 3 }) chunk_count: number;
  @UuidField({ nullable: true, description: 'Who made it.' }) created_by: string | null;
  @UuidField({ nullable: true, description: 'Who saved it last.' }) updated_by: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
}
