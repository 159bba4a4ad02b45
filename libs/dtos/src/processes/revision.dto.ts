import { DateTimeField, EnumField, IntField, ListField, NestedField, ObjectField, StringField, UuidField } from '@aps/platform/http';
import { PROCESS_REVISION_STATUSES, type ProcessRevisionStatus } from './values';

const DEFINITION = {
  description:
    'What a run does: `steps` of the kinds prompt, llm, tool, branch, loop, parallel, human, wait, transform, agent, process and flag, with `${…}` for expressions; `input_schema`, `output`, `on_error` and limits around them.',
  example: {
    schema_version: 1,
    steps: [{ id: 'greet', kind: 'transform', set: { text: 'Hello, ${input.name}' } }],
    output: '${steps.greet.output}',
  },
};
const SOP = { nullable: true, max: 200_000, description: 'The same in words, for humans and models.', example: 'Greet by name.' };

export class PushProcessRevisionRequest {
  @ObjectField(DEFINITION) definition: Record<string, unknown>;
  @StringField({ ...SOP, optional: true }) sop_text?: string | null;
}

export class PinnedToolResponse {
  @StringField({ description: 'The tool.', example: 'crm.find_customer' }) tool_slug: string;
  @StringField({ nullable: true, description: 'The connection that it is called through.' }) connection_id: string | null;
  @ObjectField({ description: 'JSON Schema of its arguments.' }) input_schema: Record<string, unknown>;
  @EnumField(['read', 'write', 'destructive'], { name: 'ToolAccessLevel', description: 'What it does.' }) access_level: string;
  @StringField({ description: 'SHA-256 of the schema as canonical JSON, in hex.' }) schema_sha256: string;
  @DateTimeField({ description: 'When it was looked at.' }) listed_at: string;
}

export class ProcessRevisionResponse {
  @UuidField({ description: 'The revision.' }) id: string;
  @StringField({ description: 'Its process.', example: 'prc_01jd3k5m7n9p1r3s5t7v9w1x3z' }) process_id: string;
  @IntField({ description: '1, 2, 3 … within the process.', example: 3 }) version: number;
  @EnumField(PROCESS_REVISION_STATUSES, {
    name: 'ProcessRevisionStatus',
    description: 'One is deployed; those that were are archived, and can be again; all others are drafts.',
    example: 'deployed',
  })
  status: ProcessRevisionStatus;
  @StringField({
    description: 'SHA-256 of definition and SOP as canonical JSON (RFC 8785), in hex.',
    example: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  })
  hash: string;
  @ObjectField(DEFINITION) definition: Record<string, unknown>;
  @StringField(SOP) sop_text: string | null;
  @ListField(() => PinnedToolResponse, { nullable: true, description: 'The tools that it calls, as they were when it was deployed last.' })
  tool_snapshot: PinnedToolResponse[] | null;
  @UuidField({ nullable: true, description: 'Who pushed it.' }) created_by: string | null;
  @UuidField({ nullable: true, description: 'Who deployed it last.' }) deployed_by: string | null;
  @DateTimeField({ nullable: true, description: 'When it was deployed last.' }) deployed_at: string | null;
  @DateTimeField({ description: 'When it was pushed.' }) created_at: string;
}

export class DefinitionWarning {
  @StringField({ nullable: true, description: 'The step; null where it is of none.', example: 'ok' }) step_id: string | null;
  @StringField({ description: 'Where in the step, or in the definition.', example: 'timeout_s' }) field: string;
  @StringField({ description: 'What is worth a look.', example: 'Nobody has to answer: the run may wait for ever.' }) problem: string;
}

export class DeployResponse {
  @NestedField(() => ProcessRevisionResponse, { description: 'What is deployed now.' }) revision: ProcessRevisionResponse;
  @UuidField({ nullable: true, description: 'What was deployed until now; null where nothing was, or nothing has changed.' })
  previous_revision_id: string | null;
  @ListField(() => DefinitionWarning, { description: 'What is worth a look.' }) warnings: DefinitionWarning[];
}
