import { PickType } from '@nestjs/swagger';
import { FILE_INPUT_MODES, MODEL_MODES, REASONING_EFFORTS, type FileInputMode, type ModelMode, type ReasoningEffort } from '@aps/contracts';
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
import { TokenCounts } from '../chats';

const SOURCES = ['test', 'agent', 'process'] as const;
const STATUSES = ['running', 'succeeded', 'failed', 'cancelled'] as const;
const UNSEEN =
  'Null too where it comes from a chat that you may not open, and once the run is older than its content is kept (30 days by default).';

/** A file: one that was uploaded, by its `file_id`, or the bytes themselves. */
export class PromptTestAttachment {
  @UuidField({ optional: true, description: 'A file that was uploaded. Without the other fields.' }) file_id?: string;
  @StringField({ optional: true, min: 1, max: 255, description: 'Its name; tells kinds of text apart.', example: 'invoice.pdf' })
  filename?: string;
  @StringField({
    optional: true,
    min: 1,
    max: 255,
    description: 'What its sender takes it for. What it is, is told from its bytes.',
    example: 'application/pdf',
  })
  media_type?: string;
  @StringField({
    optional: true,
    min: 1,
    description: 'Its bytes in base64; of all attachments together 5 MiB.',
    example: 'dG90YWw6IDEyLjUw',
  })
  data_base64?: string;
}

/** What a template is run on, and with. */
export class TestPromptTemplateRequest {
  @StringField({
    optional: true,
    nullable: true,
    max: 1_000_000,
    description: 'What a structured template reads.',
    example: 'total: 12.50',
  })
  input_text?: string | null;

  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 2_048,
    description:
      'Where what a structured template reads is fetched from, 10 MiB at most: instead of `input_text`, or beside it. Public and https.',
    example: 'https://example.com/invoice.txt',
  })
  input_url?: string | null;

  @ListField(() => PromptTestAttachment, {
    optional: true,
    max: 20,
    description:
      'Files that the model is given besides: texts as they stand, images, and the texts of PDFs, Word, Excel and PowerPoint files, mails and pages, as Markdown. Each whole, or the request is refused.',
  })
  attachments?: PromptTestAttachment[];

  @EnumField(FILE_INPUT_MODES, { optional: true, nullable: true, description: 'Instead of the template’s.' })
  file_input_mode?: FileInputMode | null;

  @ObjectField({ optional: true, description: 'Values of the variables, by name; other values than strings go in as JSON.', example: {} })
  variables?: Record<string, unknown>;

  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 200,
    description: 'Instead of the template’s; needs `direct_model_choice`.',
    example: 'mock',
  })
  model?: string | null;

  @EnumField(REASONING_EFFORTS, { optional: true, nullable: true, description: 'Instead of the template’s; needs `direct_model_choice`.' })
  reasoning_effort?: ReasoningEffort | null;

  @EnumField(MODEL_MODES, {
    name: 'ModelMode',
    optional: true,
    nullable: true,
    description: 'Where the organization does not choose models directly. Default `normal`.',
  })
  model_mode?: ModelMode | null;
}

export class PromptRunError {
  @StringField({ description: 'Why; stable.', example: 'extraction_invalid' })
  code: string;
  @StringField({ description: 'The same in words.', example: 'The model did not answer with what was asked for, twice.' }) message: string;
}

/** One time that a template was run. */
export class PromptTemplateRunResponse {
  @UuidField({ description: 'The run.' }) id: string;
  @UuidField({ description: 'The template.' }) template_id: string;
  @UuidField({ description: 'What it said then.' }) revision_id: string;
  @EnumField(SOURCES, { description: 'Who ran it.', example: 'test' }) source: (typeof SOURCES)[number];
  @EnumField(STATUSES, { description: 'What became of it.', example: 'succeeded' }) status: (typeof STATUSES)[number];
  @StringField({ description: 'Key of the model.', example: 'mock' }) model: string;
  @StringField({ nullable: true, description: `How what it read begins. ${UNSEEN}`, example: 'total: 12.50' }) input_preview: string | null;
  @StringField({ nullable: true, description: `What it answered. ${UNSEEN}`, example: '{"total":12.5}' }) output: string | null;
  @ObjectField({ nullable: true, description: `What it extracted. ${UNSEEN}`, example: { total: 12.5 } }) data: Record<
    string,
    unknown
  > | null;
  @NestedField(() => TokenCounts, { nullable: true, description: 'Its tokens; null while none are counted.' }) usage: TokenCounts | null;
  @DecimalString({
    nullable: true,
    description: 'Null where it is not known, and where the organization pays in credits.',
    example: '0.0012',
  })
  cost_usd: string | null;
  @DecimalString({ description: 'Credits.', example: '0' }) cost_credits: string;
  @IntField({ nullable: true, description: 'Milliseconds that it took.', example: 900 }) duration_ms: number | null;
  @NestedField(() => PromptRunError, { nullable: true, description: 'Why it has no answer.' }) error: PromptRunError | null;
  @UuidField({ nullable: true, description: 'Who ran it.' }) created_by: string | null;
  @DateTimeField({ description: 'When it began.' }) created_at: string;
  @DateTimeField({ description: 'When it ended; while it runs, when it began.' }) updated_at: string;
}

export class PromptTokenFrame {
  @StringField({ description: 'A piece of the answer.', example: 'Hello' }) text: string;
}

export class PromptExtractingFrame {
  @ListField('string', { description: 'The fields that are looked for.', example: ['total'] }) fields: string[];
}

export class PromptResultFrame {
  @ObjectField({ description: 'What was extracted.', example: { total: 12.5 } }) data: Record<string, unknown>;
}

export class PromptPostProcessingFrame {
  @BooleanField({ optional: true, description: 'There are no instructions for it.' }) skipped?: boolean;
}

export class PromptDoneFrame extends PickType(PromptTemplateRunResponse, ['data', 'usage', 'model', 'cost_usd', 'cost_credits']) {
  @UuidField({ description: 'The run.' }) run_id: string;
  @StringField({ description: 'The answer; of a structured template without instructions, `data` as JSON.', example: '{"total":12.5}' })
  output: string;
  @IntField({ description: 'Milliseconds that it took.', example: 900 }) duration_ms: number;
}
