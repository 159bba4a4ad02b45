import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { FILE_INPUT_MODES, type FileInputMode } from '@aps/contracts';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntField,
  ListField,
  NestedField,
  PageQuery,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { AgentSettings } from '../agents';
import { IdOrNone } from '../common';

const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'enum', 'array', 'object'] as const;
const KINDS = ['plain', 'structured'] as const;
const CHANGES = ['text', 'fields', 'post_processing_instructions'] as const;

const VARIABLES = '`{{name}}` stands for the variable of that name.';

/** A value that a structured prompt extracts. Objects and lists nest five levels deep. */
export class PromptFieldSchema {
  @StringField({
    max: 64,
    pattern: /^[a-z][a-z0-9_]*$/,
    patternMessage: 'Name should be lower-case letters, digits and underscores, and begin with a letter',
    description: 'Names it; unique among its siblings.',
    example: 'total',
  })
  name: string;

  @EnumField(FIELD_TYPES, { description: 'What it is.', example: 'number' }) type: (typeof FIELD_TYPES)[number];

  @StringField({ optional: true, nullable: true, max: 2_000, description: 'Tells the model what to look for.', example: 'With tax.' })
  description?: string | null;

  @BooleanField({ optional: true, default: false, description: 'Whether an answer without it is refused.' }) required?: boolean;

  @ListField('string', { optional: true, max: 100, item: { min: 1, max: 200 }, description: 'Of an `enum`: what it may be.', example: [] })
  enum_values?: string[];

  @NestedField(() => PromptFieldSchema, { optional: true, nullable: true, description: 'Of an `array`: each of its elements.' })
  items?: PromptFieldSchema | null;

  @ListField(() => PromptFieldSchema, { optional: true, max: 100, description: 'Of an `object`: what it has.', example: [] })
  fields?: PromptFieldSchema[];
}

/** What can be set of a template. */
export class PromptTemplateSettings extends PickType(AgentSettings, ['model', 'reasoning_effort']) {
  @StringField({ min: 1, max: 120, description: 'What people call it.', example: 'Invoice' }) name: string;
  @StringField({ nullable: true, max: 2_000, description: 'What it is for.', example: 'Reads an invoice.' }) description: string | null;
  @StringField({ nullable: true, max: 100_000, description: `What the model is told. ${VARIABLES}`, example: 'Read the invoice.' }) text:
    string | null;

  @ListField(() => PromptFieldSchema, {
    nullable: true,
    max: 100,
    description: 'What is extracted; empty or null: the answer is plain text.',
  })
  fields: PromptFieldSchema[] | null;

  @StringField({
    nullable: true,
    max: 20_000,
    description: `What a structured template makes of what it has extracted. ${VARIABLES}`,
    example: 'Sum it up in one sentence.',
  })
  post_processing_instructions: string | null;

  @EnumField(FILE_INPUT_MODES, {
    nullable: true,
    description:
      'How the model gets files. `text`: what has a text, by that alone; `image`: images and PDFs alone, to see; `both`: images to see, texts, and PDFs as both; ' +
      '`auto` (as null): the same, but PDFs to see only where they have no text, as scanned ones. A model that sees nothing is shown no PDF, and given no image.',
    example: 'auto',
  })
  file_input_mode: FileInputMode | null;

  @ListField('string', { max: 20, item: { min: 1, max: 50 }, description: 'Kept once each.', example: ['finance'] }) tags: string[];
}

const REQUIRED_IN_PUT = ['description', 'file_input_mode', 'model', 'reasoning_effort'] as const;
const Optional = PartialType(PromptTemplateSettings, { skipNullProperties: false });

export class CreatePromptTemplateRequest extends IntersectionType(
  OmitType(Optional, ['name']),
  PickType(PromptTemplateSettings, ['name']),
) {}

/** What must be there may be null; what need not, and is absent, stays as it is. */
export class UpdatePromptTemplateRequest extends IntersectionType(
  OmitType(Optional, REQUIRED_IN_PUT),
  PickType(PromptTemplateSettings, REQUIRED_IN_PUT),
) {}

export class PromptTemplateListQuery extends PageQuery {
  @IdOrNone('Only templates of this project, or `none`.') project_id?: string;
}

export class PromptTemplateRevision {
  @UuidField({ description: 'The revision.' }) id: string;
  @IntField({ description: '1, 2, 3 … within the template.', example: 3 }) version: number;
}

export class PromptTemplateResponse extends PromptTemplateSettings {
  @UuidField({ description: 'The template.' }) id: string;
  @StringField({ description: 'Names it in addresses and tool scopes; made from its first name.', example: 'invoice' }) slug: string;
  @ListField(() => PromptFieldSchema, { description: 'What is extracted; empty: the answer is plain text.' })
  declare fields: PromptFieldSchema[];
  @EnumField(FILE_INPUT_MODES, { description: 'How the model gets files.', example: 'auto' })
  declare file_input_mode: FileInputMode;
  @EnumField(KINDS, { description: '`structured` where it has fields.', example: 'structured' }) kind: (typeof KINDS)[number];
  @UuidField({ nullable: true, description: 'The project it belongs to.' }) project_id: string | null;
  @NestedField(() => PromptTemplateRevision, { description: 'What it says now.' }) current_revision: PromptTemplateRevision;
  @UuidField({ nullable: true, description: 'Who made it.' }) created_by: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

/** What a template said from one change to the next. */
export class PromptTemplateRevisionSummary extends PromptTemplateRevision {
  @ListField(CHANGES, { description: 'What differs from the version before.', example: ['text'] }) changed: (typeof CHANGES)[number][];
  @UuidField({ nullable: true, description: 'Who changed it.' }) created_by: string | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
}
