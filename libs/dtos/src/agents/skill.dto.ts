import { OmitType } from '@nestjs/swagger';
import { BooleanField, DateTimeField, ListField, PageQuery, StringField, UuidField } from '@aps/platform/http';
import { IdOrNone, WishedSlug } from '../common';
import { MAX_TEXT } from './vocabulary';

export class SkillFile {
  @UuidField({ description: 'An uploaded file.' }) file_id: string;

  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 255,
    description: 'What it is called in the skill.',
    example: 'checklist.md',
  })
  filename?: string | null;
}

/** A skill as a whole: what is absent is emptied. */
export class PutSkillRequest {
  @StringField({ min: 1, max: 120, description: 'What people call it.', example: 'Refunds' }) name: string;

  @StringField({
    min: 1,
    max: 1_024,
    description: 'What it does and when to use it; by this the agent decides whether to read on.',
    example: 'Use when a customer asks for money back.',
  })
  description: string;

  @StringField({ min: 1, max: MAX_TEXT, description: 'Markdown.', example: '# Refunds\n\n1. Find the order.' }) content: string;
  @ListField(() => SkillFile, {
    optional: true,
    max: 20,
    description: 'Files that belong to it; every member may open them as long as they do.',
  })
  files?: SkillFile[];
}

export class CreateSkillRequest extends PutSkillRequest {
  @WishedSlug('refunds') slug?: string | null;
}

export class SkillListQuery extends PageQuery {
  @StringField({ optional: true, max: 200, description: 'Part of a name, slug or description.', example: 'refund' }) q?: string;
  @IdOrNone('Only skills of the organization in this project, or `none`.') project_id?: string;
}

/** Instructions that an agent can mount. */
export class SkillResponse extends OmitType(PutSkillRequest, ['files']) {
  @UuidField({ description: 'The skill.' }) id: string;
  @StringField({ description: 'Names it.', example: 'refunds' }) slug: string;
  @ListField(() => SkillFile, { description: 'Files that belong to it.' }) files: SkillFile[];
  @BooleanField({ description: 'Whether it comes with the service; such a skill cannot be changed.', example: false }) is_system: boolean;
  @UuidField({ nullable: true, description: 'The project it belongs to.' }) project_id: string | null;
  @UuidField({ nullable: true, description: 'Who made it.' }) created_by: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}
