import { FINISH_REASONS, type MessageFinish, MODEL_MODES, type ModelMode } from '@aps/contracts';
import { FileReferenceDto } from '../files';
import { TokenCounts } from './cost.dto';
import {
  PageQuery,
  BooleanField,
  DateTimeField,
  DecimalString,
  EnumField,
  IntField,
  ListField,
  NestedField,
  StringField,
  UuidField,
} from '@aps/platform/http';

export const CHAT_STATUSES = ['ACTIVE', 'RUNNING', 'PAUSED', 'ERRORED', 'ARCHIVED', 'ABANDONED'] as const;
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
const STATUS = { name: 'ChatStatus' };
const MODE = { name: 'ModelMode' };
const EFFORT = { name: 'ReasoningEffort' };

export class CreateChatRequest {
  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 200,
    description: 'Without one, the chat names itself after its first answer.',
    example: 'Invoices of March',
  })
  title?: string | null;
  @UuidField({ optional: true, nullable: true, description: 'Environment that the chat runs commands in.' }) environment_id?: string | null;
  @BooleanField({ optional: true, nullable: true, description: 'Whether the chat may run commands. Null: as the agent.' })
  sandbox_enabled?: boolean | null;
  @EnumField(MODEL_MODES, {
    ...MODE,
    optional: true,
    nullable: true,
    description: 'Refused where the organization chooses models directly. Null inherits the agent’s.',
  })
  model_mode_override?: ModelMode | null;
}

export class SendMessageRequest {
  @StringField({ min: 1, max: 100_000, description: 'What the user says.', example: 'What is on my list today?' }) content: string;
  @ListField('uuid', {
    optional: true,
    max: 20,
    unique: true,
    description:
      'Files that were uploaded before, of which the caller may see each. From then on, whoever may open the chat may open them. The model gets images where it sees, and of texts, PDFs, office files, mails and pages what they say.',
  })
  attachment_ids?: string[];
  @StringField({
    optional: true,
    nullable: true,
    max: 200,
    description: 'Key of the catalog; needs the entitlement `direct_model_choice`.',
    example: 'mock',
  })
  model?: string | null;
  @EnumField(MODEL_MODES, {
    ...MODE,
    optional: true,
    nullable: true,
    description: 'Refused where the organization chooses models directly.',
  })
  model_mode_override?: ModelMode | null;
  @EnumField(EFFORTS, { ...EFFORT, optional: true, nullable: true, description: 'Needs the entitlement `direct_model_choice`.' })
  reasoning_effort?: (typeof EFFORTS)[number] | null;
}

export class SendMessageResponse {
  @UuidField({ description: 'The stored message.' }) message_id: string;
  @UuidField({ description: 'The chat.' }) chat_id: string;
  @UuidField({ nullable: true, description: 'The turn that answers it; null when nothing runs.' }) turn_id: string | null;
  @BooleanField({ description: 'A worker runs the turn.' }) dispatched: boolean;
  @BooleanField({ description: 'The turn waits behind the one that runs.' }) queued: boolean;
  @EnumField(['turn_running', 'chat_archived', 'chat_abandoned', 'turn_stopped'], {
    name: 'NotDispatchedReason',
    nullable: true,
    description: 'Why it was not dispatched; `turn_stopped` where a repeat finds that somebody has stopped the chat since.',
  })
  reason: string | null;
}

export class SendMessageQuery {
  @BooleanField({ optional: true, default: false, description: 'Only say what the answer would cost: nothing is stored or sent.' })
  quote?: boolean;
}

export class QuoteEstimate {
  @IntField({ description: 'Tokens of the prompt, as they are counted before a call.', example: 1_250 }) input_tokens: number;
  @IntField({ description: 'Most tokens of the answer.', example: 4_096 }) max_output_tokens: number;
  @DecimalString({ description: 'What both cost, by the rate card.', example: '6.144' }) credits: string;

  @DecimalString({
    nullable: true,
    description: 'The same in US dollars; null without a price, and where credits are paid.',
    example: null,
  })
  cost_usd: string | null;
}

export class MessageQuoteResponse {
  @BooleanField({ description: 'The first call of its turn would be made.', example: true }) allowed: boolean;

  @EnumField(['credits_exhausted', 'budget_exceeded', 'model_unpriced'], {
    name: 'QuoteBlocker',
    nullable: true,
    description: 'What would keep it.',
    example: null,
  })
  blocker: 'credits_exhausted' | 'budget_exceeded' | 'model_unpriced' | null;

  @StringField({ description: 'The model that would be asked.', example: 'claude-sonnet-5-5' }) model_key: string;
  @NestedField(() => QuoteEstimate, { description: 'What the first call would cost at most.' }) estimate: QuoteEstimate;

  @DecimalString({
    nullable: true,
    description: 'What is left, the grace below zero included; null where no credits are paid.',
    example: '250',
  })
  credits_remaining: string | null;
}

export class StopChatRequest {
  @BooleanField({ optional: true, default: false, description: 'Also stop every descendant chat.' }) cascade?: boolean;
  @StringField({ optional: true, nullable: true, max: 500, description: 'Why; for the record.' }) reason?: string | null;
}

export class StopChatResponse {
  @UuidField({ description: 'The chat.' }) chat_id: string;
  @EnumField(CHAT_STATUSES, { ...STATUS, description: 'What the chat is now.' }) status: string;
  @BooleanField({ description: 'Whether there was something to stop.' }) stopped: boolean;
  @DateTimeField({ nullable: true, description: 'When it was asked to stop.' }) stop_requested_at: string | null;
  @EnumField(['human', 'children', 'timer', 'queued'], { nullable: true, description: 'What the chat waited for and no longer does.' })
  cleared_pause: string | null;
  @ListField('uuid', { description: 'Descendant chats that were stopped with it.' }) cascaded_chat_ids: string[];
}

export class ChatPauseDto {
  @EnumField(['human', 'children', 'timer', 'queued'], {
    name: 'PauseKind',
    description: 'What it waits for: a human, its child chats, a time, or room to run.',
  })
  kind: string;
  @DateTimeField({ description: 'Since when.' }) since: string;
  @UuidField({ optional: true, description: 'The request that a human has to answer.' }) request_id?: string;
  @DateTimeField({ optional: true, description: 'When a timer ends.' }) resume_at?: string;
  @ListField('uuid', { optional: true, description: 'The chats that it waits for.' }) child_chat_ids?: string[];
  @IntField({ optional: true, description: 'How many turns of the organization wait for room before it. Lists leave it out.' })
  queue_position?: number;
}

export class ChatErrorDto {
  @StringField({ example: 'provider_unavailable', description: 'Stable, for programs.' }) code: string;
  @StringField({ description: 'One sentence for a human.' }) message: string;
  @BooleanField({ description: 'Whether `continue` may help.' }) retryable: boolean;
}

export class ChatOriginDto {
  @EnumField(['user', 'inbox', 'process', 'agent', 'api', 'schedule'], {
    name: 'ChatOriginKind',
    description: 'Who or what began the chat.',
  })
  kind: string;
  @StringField({ nullable: true, description: 'What of that kind; null for users.' }) ref_id: string | null;
}

export class ChatToolCallDto {
  @StringField({ description: 'The call; its answer is the tool message that names it.' }) id: string;
  @StringField({ description: 'The tool.' }) name: string;
  @StringField({ description: 'JSON text, as the model wrote it.' }) arguments: string;
}

export class ChatMessageUsage extends TokenCounts {
  @StringField({ description: 'Key of the model that answered.', example: 'mock' }) model: string;
  @StringField({ nullable: true, description: 'Key of the model that was asked for; null where nobody named one.' })
  requested_model: string | null;
  @StringField({ description: 'Why it was this model.', example: 'requested' }) reason: string;
  @StringField({ nullable: true, description: 'The effort that it was called with; null: its own default.' }) reasoning_effort:
    string | null;
  @StringField({ nullable: true, description: 'The effort that was asked for; null where nobody named one.' })
  requested_reasoning_effort: string | null;
  @BooleanField({ description: 'Called with another effort than asked for, which was above the ceiling, or none that the model takes.' })
  effort_clamped: boolean;
  @DecimalString({ nullable: true, description: 'Dollars; null where the organization pays in credits, and where the model had no price.' })
  cost_usd: string | null;
}

export class ChatMessageDto {
  @UuidField({ description: 'The message.' }) id: string;
  @IntField({ description: 'Order within the chat.' }) seq: number;
  @EnumField(['user', 'assistant', 'tool', 'system'], { name: 'MessageRole', description: 'Who speaks.' }) role: string;
  @StringField({ description: 'The text.' }) content: string;
  @ListField(() => FileReferenceDto, { description: 'Files of the message.' }) attachments: FileReferenceDto[];
  @ListField(() => ChatToolCallDto, { description: 'Of assistant messages: what the model asked for.' }) tool_calls: ChatToolCallDto[];
  @StringField({ nullable: true, description: 'Of tool messages: the call that it answers.' }) tool_call_id: string | null;
  @StringField({ nullable: true, description: 'Of tool messages: the tool.' }) tool_name: string | null;
  @StringField({ nullable: true, description: 'Key of the model that wrote it.' }) model: string | null;
  @DateTimeField({ description: 'When it was stored.' }) created_at: string;
  @NestedField(() => ChatMessageUsage, {
    nullable: true,
    description: 'Tokens and dollars of the call that wrote it; null where they never became known.',
  })
  usage: ChatMessageUsage | null;
  @EnumField(FINISH_REASONS, {
    name: 'FinishReason',
    nullable: true,
    description:
      'Of assistant messages: why the model ended. `length`: the answer had reached its length; a call that it ended in is not run. `tool_calls`: it called tools. `step_limit`: it did, and its turn was allowed no further step. `empty`: asked twice, it said nothing. Null for other roles, and for what was interrupted.',
  })
  finish_reason: MessageFinish | null;
  @BooleanField({ description: 'The turn was stopped before the answer was whole: this is what had been said.' }) interrupted: boolean;
}

export class ChatSummary {
  @UuidField({ description: 'The chat.' }) id: string;
  @UuidField({ description: 'The agent.' }) agent_id: string;
  @UuidField({ description: 'The agent revision that the chat was frozen with.' }) agent_revision_id: string;
  @UuidField({ nullable: true, description: 'The rollout that chose the revision.' }) rollout_id: string | null;
  @StringField({ nullable: true, description: 'The arm of it, where it was an experiment.' }) arm_label: string | null;
  @StringField({ nullable: true, description: 'What the chat is about; null until it has a name.' }) title: string | null;
  @EnumField(CHAT_STATUSES, { ...STATUS, description: '`RUNNING` while a turn runs, `PAUSED` while a human is waited for.' })
  status: string;
  @NestedField(() => ChatPauseDto, { nullable: true, description: 'What the chat waits for.' }) pause: ChatPauseDto | null;
  @StringField({ nullable: true, description: 'Why it stopped by itself or was archived.' }) stop_reason: string | null;
  @NestedField(() => ChatErrorDto, { nullable: true, description: 'Why the last turn failed; null unless the chat is `ERRORED`.' })
  error: ChatErrorDto | null;
  @DateTimeField({ nullable: true, description: 'When somebody asked it to stop.' }) stop_requested_at: string | null;
  @DateTimeField({ nullable: true, description: 'When it was terminated.' }) completed_at: string | null;
  @BooleanField({ description: 'Whether it is archived.' }) archived: boolean;
  @DateTimeField({ nullable: true, description: 'Since when.' }) archived_at: string | null;
  @BooleanField({ description: 'Open to every member of the organization.' }) shared: boolean;
  @UuidField({ nullable: true, description: 'The user who began it; null when no human did.' }) created_by: string | null;
  @UuidField({ nullable: true, description: 'Where it runs commands.' }) environment_id: string | null;
  @BooleanField({ nullable: true, description: 'Whether it may run commands; null: as the agent.' }) sandbox_enabled: boolean | null;
  @EnumField(MODEL_MODES, { ...MODE, nullable: true, description: 'The mode of this chat; null: the agent’s.' })
  model_mode_override: string | null;
  @UuidField({ nullable: true, description: 'The chat that delegated to it.' }) parent_chat_id: string | null;
  @UuidField({ nullable: true, description: 'The first chat of that line.' }) root_chat_id: string | null;
  @UuidField({ nullable: true, description: 'The chat that it is a retry of.' }) source_chat_id: string | null;
  @NestedField(() => ChatOriginDto, { description: 'What began the chat.' }) origin: ChatOriginDto;
  @DecimalString({ nullable: true, description: 'Null where the organization pays in credits.' }) cost_usd: string | null;
  @DecimalString({ description: 'Credits that it has cost.' }) cost_credits: string;
  @DateTimeField({ nullable: true, description: 'When the newest message was stored.' }) last_message_at: string | null;
  @IntField({ description: 'Messages in it.' }) message_count: number;
  @IntField({ description: 'Requests that wait for a human.' }) pending_hitl_count: number;
  @DateTimeField({ description: 'When it was opened.' }) created_at: string;
  @DateTimeField({ description: 'When it changed last.' }) updated_at: string;
}

export class ChatResponse extends ChatSummary {
  @ListField(() => ChatMessageDto, { description: 'Every message, oldest first.' }) messages: ChatMessageDto[];
}

export class ChatTodo {
  @UuidField({ description: 'The item.' }) id: string;
  @IntField({ description: 'Its place on the list.' }) position: number;
  @StringField({ description: 'What is to be done.' }) title: string;
  @EnumField(['pending', 'in_progress', 'completed', 'invalidated'], { name: 'TodoStatus', description: 'How far it is.' }) status: string;
  @DateTimeField({ description: 'When it was noted.' }) created_at: string;
  @DateTimeField({ description: 'When it changed last.' }) updated_at: string;
}

export class ListChatsQuery extends PageQuery {}

export class ChatStreamQuery {
  @IntField({ optional: true, min: 0, description: 'Resume after this event id. `Last-Event-ID` wins over it.' }) after?: number;
}
