import { PickType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  DecimalField,
  DecimalString,
  EnumField,
  IntField,
  JsonField,
  ListField,
  NestedField,
  ObjectField,
  PageOf,
  PageQuery,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { ProcessRevisionSummary, ProcessRunSummary } from './process.dto';
import {
  DOLLARS,
  RUN_SOURCES,
  RUN_STATE,
  RUN_STATES,
  STEP_ID,
  STEP_STATUSES,
  type RunSource,
  type RunState,
  type StepStatus,
} from './values';

const INPUT = { description: 'What the definition reads as `input`.', example: { text: 'Two chairs, 80 EUR' } };

export class RunAttachment {
  @UuidField({ description: 'A file that was uploaded.' }) file_id: string;
  @StringField({
    optional: true,
    trim: true,
    min: 1,
    max: 255,
    description: 'What it is called in the run, instead of the name of the file.',
    example: 'invoice.pdf',
  })
  filename?: string;
}

export class StartProcessRunRequest {
  @ObjectField(INPUT) input: Record<string, unknown>;
  @ListField(() => RunAttachment, { optional: true, max: 20, description: 'Files, which the definition reads in `envelope.attachments`.' })
  attachments?: RunAttachment[];
  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 200,
    description: 'Tells the run apart for humans.',
    example: 'Invoice 4711',
  })
  label?: string | null;
  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 255,
    description: 'As the header `Idempotency-Key`, but one for all callers of the process.',
    example: 'invoice-4711',
  })
  idempotency_key?: string | null;
  @DecimalField({
    optional: true,
    nullable: true,
    positive: true,
    description: 'Credits after which it asks no model any more.',
    example: '5',
  })
  budget_credits?: string | null;
}

export class SignalRunRequest {
  @StringField({ min: 1, max: 200, description: 'The event that a step waits for.', example: 'paid' }) name: string;
  @JsonField({ optional: true, description: 'What that step answers.', example: { amount: 80 } }) payload?: unknown;
}

export class SignalRunResponse {
  @UuidField({ description: 'The signal.' }) id: string;
  @UuidField({ description: 'The run.' }) run_id: string;
  @StringField({ description: 'Its name.', example: 'paid' }) name: string;
  @DateTimeField({ description: 'When it came.' }) created_at: string;
}

export class RestartRunRequest {
  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 64,
    description: 'A top-level step to begin with; what stands before it is copied with its results. Null: from the beginning.',
    example: 'find',
  })
  from_step?: string | null;
}

export class CancelRunResponse {
  @UuidField({ description: 'The run.' }) run_id: string;
  @BooleanField({ description: 'False where it was over already.' }) cancelled: boolean;
  @EnumField(RUN_STATES, RUN_STATE) status: RunState;
}

export class ProcessRunListQuery extends PageQuery {
  @EnumField(RUN_STATES, { name: RUN_STATE.name, optional: true, description: 'Only runs that are this.' }) status?: RunState;
}

export class RunErrorDto {
  @StringField({ description: 'Why; stable.', example: 'tool_error' }) code: string;
  @StringField({ description: 'The same in words.', example: 'The server answered with 503.' }) message: string;
  @BooleanField({ description: 'Whether another try may end otherwise.' }) retryable: boolean;
}

export class RunSourceDto {
  @EnumField(RUN_SOURCES, { name: 'ProcessRunSource', description: 'What began it.' }) kind: RunSource;
  @StringField({ nullable: true, description: 'Which one: the message, chat, run or schedule.' }) ref_id: string | null;
  @UuidField({ nullable: true, description: 'Who began it; null of inboxes and schedules.' }) user_id: string | null;
}

export class RunMessage {
  @StringField({ nullable: true, description: 'Who has sent it.' }) from: string | null;
  @StringField({ nullable: true, description: 'What it is about.' }) subject: string | null;
  @StringField({ nullable: true, description: 'What it says.' }) text: string | null;
}

export class RunEnvelope {
  @UuidField({ description: 'Its own id.' }) id: string;
  @NestedField(() => RunSourceDto, { description: 'Where it comes from.' }) source: RunSourceDto;
  @DateTimeField({ description: 'When it came.' }) received_at: string;
  @ObjectField(INPUT) input: Record<string, unknown>;
  @ListField('object', { description: 'Files that came with it.' }) attachments: Record<string, unknown>[];
  @NestedField(() => RunMessage, { nullable: true, description: 'Of an inbox: the message.' }) message: RunMessage | null;
}

export class ProcessRunRevision extends PickType(ProcessRevisionSummary, ['id', 'version']) {}

export class ProcessRunResponse extends ProcessRunSummary {
  @StringField({ description: 'Its process.', example: 'prc_01jd3k5m7n9p1r3s5t7v9w1x3z' }) process_id: string;
  @UuidField({ description: 'What it runs.' }) revision_id: string;
  @NestedField(() => ProcessRunRevision, { description: 'The same, with its number.' }) revision: ProcessRunRevision;
  @StringField({ nullable: true, description: 'Tells it apart for humans.', example: 'Invoice 4711' }) label: string | null;
  @NestedField(() => RunEnvelope, { description: 'What it was begun with.' }) envelope: RunEnvelope;
  @JsonField({ description: 'What it has come to, by `output` of the definition.' }) output: unknown;
  @NestedField(() => RunErrorDto, { nullable: true, description: 'Why it has failed.' }) error: RunErrorDto | null;
  @StringField({ nullable: true, description: 'Why it was flagged.' }) flag_reason: string | null;
  @UuidField({ nullable: true, description: 'The run that it repeats.' }) restarted_from: string | null;
  @UuidField({ nullable: true, description: 'The run whose step it is.' }) parent_run_id: string | null;
  @UuidField({ description: 'The run above all that it is a part of; itself where it is of none.' }) root_run_id: string;
  @DecimalString({ nullable: true, description: 'Credits after which it asks no model any more.', example: '5' }) budget_credits:
    string | null;
  @DecimalString({ nullable: true, description: DOLLARS, example: '0.0012' }) cost_usd: string | null;
  @DecimalString({ description: 'Credits.', example: '0' }) cost_credits: string;
  @DateTimeField({ nullable: true, description: 'When its first step began.' }) started_at: string | null;
  @DateTimeField({ nullable: true, description: 'When it was over.' }) finished_at: string | null;
  @DateTimeField({ nullable: true, description: 'Until when it waits at the longest; null where it does not, or for as long as it takes.' })
  waiting_until: string | null;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

export const ProcessRunListResponse = PageOf(ProcessRunResponse, 'ProcessRunListResponse');

export class ProcessRunStep {
  @UuidField({ description: 'The try of the step.' }) id: string;
  @StringField(STEP_ID) step_id: string;
  @StringField({ description: 'Where it stands: ids, iterations from 0, and branches.', example: 'each/0/extract' }) path: string;
  @StringField({ nullable: true, description: 'What it is a part of.', example: 'each' }) parent_path: string | null;
  @StringField({ description: 'What kind of step it is.', example: 'llm' }) kind: string;
  @EnumField(STEP_STATUSES, { name: 'ProcessStepStatus', description: 'What it is.', example: 'completed' }) status: StepStatus;
  @IntField({ description: '1, 2, 3 … of the same path.', example: 1 }) attempt: number;
  @JsonField({ description: 'What it was given.' }) input: unknown;
  @JsonField({ description: 'What it has answered.' }) output: unknown;
  @NestedField(() => RunErrorDto, { nullable: true, description: 'Why it has failed.' }) error: RunErrorDto | null;
  @UuidField({ nullable: true, description: 'The run that it waits for, or has.' }) child_run_id: string | null;
  @UuidField({ nullable: true, description: 'The chat of its agent.' }) chat_id: string | null;
  @UuidField({ nullable: true, description: 'What it has asked a human.' }) hitl_request_id: string | null;
  @DateTimeField({ nullable: true, description: 'Until when it waits at the longest.' }) waiting_until: string | null;
  @StringField({
    nullable: true,
    description:
      'What is special of it: `copied` from the run that was restarted; `queue_full` while its agent cannot begin, as too many turns of the organization wait already; `outcome_unknown` where its call has failed and may have had its effect.',
  })
  note: string | null;
  @DateTimeField({ description: 'When it began.' }) started_at: string;
  @DateTimeField({ nullable: true, description: 'When it was over.' }) finished_at: string | null;
}

export class ProcessRunDetailResponse extends ProcessRunResponse {
  @ListField(() => ProcessRunStep, { description: 'In the order in which they were begun.' }) steps: ProcessRunStep[];
}

const EVENTS = [
  ...['run_created', 'run_started', 'step_started', 'step_finished', 'step_failed', 'step_retried', 'wait_started', 'wait_finished'],
  ...['signal_received', 'human_requested', 'human_answered', 'repair_attempted', 'outcome_unknown', 'run_cancelled', 'run_finished'],
];

export class ProcessRunEvent {
  @StringField({ description: 'The event, as the run’s stream numbers it.', example: '41' }) id: string;
  @IntField({ description: '1, 2, 3 … within the run, without gaps.', example: 41 }) seq: number;
  @EnumField(EVENTS, { name: 'ProcessRunEventType', description: 'What has happened.', example: 'step_finished' }) type: string;
  @StringField({ ...STEP_ID, nullable: true }) step_id: string | null;
  @StringField({ nullable: true, description: 'Where that stands in the run.', example: 'each/0/extract' }) path: string | null;
  @DateTimeField({ description: 'When.' }) created_at: string;
  @ObjectField({ description: 'What it tells, by its type.' }) metadata: Record<string, unknown>;
}

export const ProcessRunEventListResponse = PageOf(ProcessRunEvent, 'ProcessRunEventListResponse');
