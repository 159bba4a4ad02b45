import {
  BooleanField,
  DateTimeField,
  DecimalString,
  EnumField,
  IntField,
  JsonField,
  ListField,
  NestedField,
  PageOf,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { TokenCounts } from '../chats/cost.dto';
import { RunErrorDto } from './run.dto';
import { CALL_STATUSES, DOLLARS, STEP_ID, type CallStatus } from './values';

/** What is told of every call that a step has made of a model. */
class StepCall {
  @UuidField({ description: 'The call.' }) id: string;
  @StringField(STEP_ID) step_id: string;
  @StringField({ description: 'Where that stands in the run.', example: 'each/0/extract' }) path: string;
  @NestedField(() => TokenCounts, { nullable: true, description: 'Its tokens; null where they were not counted.' })
  tokens: TokenCounts | null;
  @DecimalString({ nullable: true, description: DOLLARS, example: '0.0012' }) cost_usd: string | null;
  @DecimalString({ description: 'Credits.', example: '0' }) cost_credits: string;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
}

export class ProcessLlmCallResponse extends StepCall {
  @StringField({ nullable: true, description: 'Key of the model that the step asks for.', example: 'mock' }) model_requested: string | null;
  @StringField({ nullable: true, description: 'Key of the model that was called.', example: 'mock' }) model_resolved: string | null;
  @StringField({ nullable: true, description: 'Slug of the route that it was called by.', example: 'mock' }) route: string | null;
  @IntField({ nullable: true, description: 'Milliseconds that it took.', example: 900 }) duration_ms: number | null;
  @EnumField(CALL_STATUSES, { name: 'ProcessCallStatus', description: 'What became of it.' }) status: CallStatus;
}

export class ProcessLlmCallDetailResponse extends ProcessLlmCallResponse {
  @JsonField({ description: 'What the model was told.' }) request_messages: unknown;
  @JsonField({ description: 'What it has answered.' }) response_messages: unknown;
  @JsonField({ description: 'The tools that it could have called.' }) tools: unknown;
  @NestedField(() => RunErrorDto, { nullable: true, description: 'Why it has failed.' }) error: RunErrorDto | null;
}

export class ProcessAgentCallResponse extends StepCall {
  @EnumField(['turn', 'distill'], {
    name: 'ProcessAgentCallKind',
    description: '`turn`: of the agent, or of one that it has delegated to. `distill`: the output was drawn out of what it has said.',
  })
  kind: 'turn' | 'distill';
  @UuidField({ nullable: true, description: 'The chat of the agent.' }) chat_id: string | null;
  @UuidField({ nullable: true, description: 'The turn.' }) turn_id: string | null;
  @IntField({ nullable: true, description: '1, 2, 3 … of the turns of the chat.', example: 1 }) turn_no: number | null;
  @EnumField(CALL_STATUSES, { name: 'ProcessCallStatus', description: 'What became of it.' }) status: CallStatus;
}

export class ProcessAgentCallDetailResponse extends ProcessAgentCallResponse {
  @JsonField({ description: 'What was said.' }) messages: unknown;
  @JsonField({ description: 'What it has come to.' }) result: unknown;
}

export class ProcessRepairCallResponse extends StepCall {
  @StringField({ description: 'The tool that has refused.', example: 'crm.find_customer' }) tool_slug: string;
  @IntField({ description: '1, 2 … of the step.', example: 1 }) attempt: number;
  @StringField({ description: 'What the tool has said.', example: 'email: should be an address' }) error: string;
  @BooleanField({ description: 'Whether the model took other arguments for a remedy.' }) fixable: boolean;
  @StringField({ nullable: true, description: 'What the model has said of that.' }) reason: string | null;
  @ListField('object', {
    description: 'What it has changed of the arguments: operations of RFC 6902.',
    example: [{ op: 'replace', path: '/email', value: 'ann@acme.com' }],
  })
  payload_diff: Record<string, unknown>[];
}

export class ProcessRepairCallDetailResponse extends ProcessRepairCallResponse {
  @JsonField({ description: 'What the model was told.' }) request: unknown;
  @JsonField({ description: 'What it has answered.' }) response: unknown;
}

export const ProcessLlmCallListResponse = PageOf(ProcessLlmCallResponse, 'ProcessLlmCallListResponse');
export const ProcessAgentCallListResponse = PageOf(ProcessAgentCallResponse, 'ProcessAgentCallListResponse');
export const ProcessRepairCallListResponse = PageOf(ProcessRepairCallResponse, 'ProcessRepairCallListResponse');
