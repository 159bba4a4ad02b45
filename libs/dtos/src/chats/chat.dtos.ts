import { PageQuery, BooleanField, DateTimeField, DecimalString, EnumField, IntField, ListField, NestedField, ObjectField, StringField, UuidField } from '@aps/platform/http';

const CHAT_STATUSES = ['ACTIVE', 'RUNNING', 'PAUSED', 'ERRORED', 'ARCHIVED', 'ABANDONED'] as const;
const MODES = ['trivial', 'normal', 'high_effort', 'x_high'] as const;
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
const STATUS = { name: 'ChatStatus' };
const MODE = { name: 'ModelMode' };
const EFFORT = { name: 'ReasoningEffort' };

export class CreateChatRequest {
  @StringField({ optional: true, nullable: true, min: 1, max: 200, description: 'Without one, the chat names itself after its first answer.', example: 'Invoices of March' })
  title?: string | null;
  @UuidField({ optional: true, nullable: true, description: 'Environment that the chat runs commands in.' })
  environment_id?: string | null;
  @BooleanField({ optional: true, nullable: true })
  sandbox_enabled?: boolean | null;
  @EnumField(MODES, { ...MODE, optional: true, nullable: true, description: 'Refused where the organization chooses models directly. Null inherits the agent’s.' })
  model_mode_override?: (typeof MODES)[number] | null;
}

export class SendMessageRequest {
  @StringField({ min: 1, max: 100_000, description: 'What the user says.', example: 'What is on my list today?' })
  content: string;
  @ListField('uuid', { optional: true, max: 20, unique: true, description: 'Files that were uploaded before.' })
  attachment_ids?: string[];
  @StringField({ optional: true, nullable: true, max: 200, description: 'Key of the catalog; needs the entitlement `direct_model_choice`.', example: 'mock' })
  model?: string | null;
  @EnumField(MODES, { ...MODE, optional: true, nullable: true, description: 'Refused where the organization chooses models directly.' })
  model_mode_override?: (typeof MODES)[number] | null;
  @EnumField(EFFORTS, { ...EFFORT, optional: true, nullable: true, description: 'Needs the entitlement `direct_model_choice`.' })
  reasoning_effort?: (typeof EFFORTS)[number] | null;
}

export class SendMessageResponse {
  @UuidField({ description: 'The stored message.' })
  message_id: string;
  @UuidField()
  chat_id: string;
  @UuidField({ nullable: true, description: 'The turn that answers it; null when nothing runs.' })
  turn_id: string | null;
  @BooleanField({ description: 'A worker runs the turn.' })
  dispatched: boolean;
  @BooleanField({ description: 'The turn waits behind the one that runs.' })
  queued: boolean;
  @StringField({ nullable: true, description: 'Why it was not dispatched: `turn_running`, `chat_archived`, `chat_abandoned`.' })
  reason: string | null;
}

export class StopChatRequest {
  @BooleanField({ optional: true, default: false, description: 'Also stop every descendant chat.' })
  cascade?: boolean;
  @StringField({ optional: true, nullable: true, max: 500 })
  reason?: string | null;
}

export class StopChatResponse {
  @UuidField()
  chat_id: string;
  @EnumField(CHAT_STATUSES, STATUS)
  status: string;
  @BooleanField({ description: 'Whether there was something to stop.' })
  stopped: boolean;
  @DateTimeField({ nullable: true })
  stop_requested_at: string | null;
  @EnumField(['human', 'children', 'timer', 'queued'], { nullable: true, description: 'What the chat waited for and no longer does.' })
  cleared_pause: string | null;
  @ListField('uuid')
  cascaded_chat_ids: string[];
}

export class ChatPauseDto {
  @EnumField(['human', 'children', 'timer', 'queued'], { name: 'PauseKind' })
  kind: string;
  @DateTimeField()
  since: string;
  @UuidField({ optional: true })
  request_id?: string;
  @DateTimeField({ optional: true })
  resume_at?: string;
  @ListField('uuid', { optional: true })
  child_chat_ids?: string[];
  @IntField({ optional: true })
  queue_position?: number;
}

export class ChatErrorDto {
  @StringField({ example: 'provider_unavailable' })
  code: string;
  @StringField()
  message: string;
  @BooleanField({ description: 'Whether `continue` may help.' })
  retryable: boolean;
}

export class ChatOriginDto {
  @EnumField(['user', 'inbox', 'process', 'agent', 'api', 'schedule'], { name: 'ChatOriginKind' })
  kind: string;
  @StringField({ nullable: true })
  ref_id: string | null;
}

export class ChatToolCallDto {
  @StringField()
  id: string;
  @StringField()
  name: string;
  @StringField({ description: 'JSON text, as the model wrote it.' })
  arguments: string;
}

export class ChatMessageDto {
  @UuidField()
  id: string;
  @IntField({ description: 'Order within the chat.' })
  seq: number;
  @EnumField(['user', 'assistant', 'tool', 'system'], { name: 'MessageRole' })
  role: string;
  @StringField()
  content: string;
  @ListField('object')
  attachments: unknown[];
  @ListField(() => ChatToolCallDto, { description: 'Of assistant messages: what the model asked for.' })
  tool_calls: ChatToolCallDto[];
  @StringField({ nullable: true, description: 'Of tool messages: the call that it answers.' })
  tool_call_id: string | null;
  @StringField({ nullable: true })
  tool_name: string | null;
  @StringField({ nullable: true, description: 'Key of the model that wrote it.' })
  model: string | null;
  @DateTimeField()
  created_at: string;
  @ObjectField({ nullable: true, description: 'Tokens and dollars of the call that wrote it.' })
  usage: Record<string, unknown> | null;
}

export class ChatSummary {
  @UuidField()
  id: string;
  @UuidField()
  agent_id: string;
  @UuidField({ description: 'The agent revision that the chat was frozen with.' })
  agent_revision_id: string;
  @UuidField({ nullable: true })
  rollout_id: string | null;
  @StringField({ nullable: true })
  arm_label: string | null;
  @StringField({ nullable: true })
  title: string | null;
  @EnumField(CHAT_STATUSES, STATUS)
  status: string;
  @NestedField(() => ChatPauseDto, { nullable: true, description: 'What the chat waits for.' })
  pause: ChatPauseDto | null;
  @StringField({ nullable: true })
  stop_reason: string | null;
  @NestedField(() => ChatErrorDto, { nullable: true })
  error: ChatErrorDto | null;
  @DateTimeField({ nullable: true })
  stop_requested_at: string | null;
  @DateTimeField({ nullable: true })
  completed_at: string | null;
  @BooleanField()
  archived: boolean;
  @DateTimeField({ nullable: true })
  archived_at: string | null;
  @BooleanField({ description: 'Open to every member of the organization.' })
  shared: boolean;
  @UuidField({ nullable: true })
  created_by: string | null;
  @UuidField({ nullable: true })
  environment_id: string | null;
  @BooleanField({ nullable: true })
  sandbox_enabled: boolean | null;
  @EnumField(MODES, { ...MODE, nullable: true })
  model_mode_override: string | null;
  @UuidField({ nullable: true })
  parent_chat_id: string | null;
  @UuidField({ nullable: true })
  root_chat_id: string | null;
  @UuidField({ nullable: true })
  source_chat_id: string | null;
  @NestedField(() => ChatOriginDto)
  origin: ChatOriginDto;
  @DecimalString({ nullable: true, description: 'Null where the organization pays in credits.' })
  cost_usd: string | null;
  @DecimalString()
  cost_credits: string;
  @DateTimeField({ nullable: true })
  last_message_at: string | null;
  @IntField()
  message_count: number;
  @IntField()
  pending_hitl_count: number;
  @DateTimeField()
  created_at: string;
  @DateTimeField()
  updated_at: string;
}

export class ChatResponse extends ChatSummary {
  @ListField(() => ChatMessageDto, { description: 'Every message, oldest first.' })
  messages: ChatMessageDto[];
}

export class ChatTodo {
  @UuidField()
  id: string;
  @IntField()
  position: number;
  @StringField()
  title: string;
  @EnumField(['pending', 'in_progress', 'completed', 'invalidated'], { name: 'TodoStatus' })
  status: string;
  @DateTimeField()
  created_at: string;
  @DateTimeField()
  updated_at: string;
}

export class ListChatsQuery extends PageQuery {}

export class ChatStreamQuery {
  @IntField({ optional: true, min: 0, description: 'Resume after this event id. `Last-Event-ID` wins over it.' })
  after?: number;
}
