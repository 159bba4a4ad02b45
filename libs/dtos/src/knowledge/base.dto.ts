import { IntersectionType, PartialType } from '@nestjs/swagger';
import { DateTimeField, IntField, PageQuery, StringField, UuidField } from '@aps/platform/http';
import { IdOrNone, WishedSlug } from '../common';

class KnowledgeBaseName {
  @StringField({ trim: true, min: 1, max: 200, description: 'What people call it.', example: 'Handbook' }) name: string;
}

class KnowledgeBaseDescription {
  @StringField({ optional: true, nullable: true, max: 2_000, description: 'What is in it.', example: 'How we work.' })
  description?: string | null;
}

export class CreateKnowledgeBaseRequest extends IntersectionType(KnowledgeBaseName, KnowledgeBaseDescription) {
  @WishedSlug('handbook', 'Names it in tool scopes; it stays.') slug?: string | null;
}

/** Fields that are absent stay as they are. */
export class UpdateKnowledgeBaseRequest extends IntersectionType(
  PartialType(KnowledgeBaseName, { skipNullProperties: false }),
  KnowledgeBaseDescription,
) {}

export class KnowledgeBaseListQuery extends PageQuery {
  @IdOrNone('Only bases of this project, or `none`.') project_id?: string;
}

export class KnowledgeBaseResponse {
  @UuidField({ description: 'The base.' }) id: string;
  @StringField({ description: 'Names it in tool scopes, as in `kb:handbook`.', example: 'handbook' }) slug: string;
  @StringField({ description: 'What people call it.', example: 'Handbook' }) name: string;
  @StringField({ nullable: true, description: 'What is in it.', example: 'How we work.' }) description: string | null;
  @UuidField({ nullable: true, description: 'The project it belongs to.' }) project_id: string | null;
  @IntField({ description: 'Sources of every kind, documents too.', example: 12 }) source_count: number;
  @IntField({ description: 'Pieces that a search can find.', example: 480 }) chunk_count: number;
  @IntField({ description: 'Sources that are to be indexed, or are being.', example: 1 }) pending_count: number;
  @IntField({ description: 'Sources that could not be indexed.', example: 0 }) failed_count: number;
  @UuidField({ nullable: true, description: 'Who made it.' }) created_by: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}
