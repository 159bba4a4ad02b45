import { FINISH_REASONS, type EventType, type MessageFinish } from '@aps/contracts';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  EventOf,
  IntField,
  ListField,
  NestedField,
  ObjectField,
  StringField,
  UnionOf,
  UuidField,
} from '@aps/platform/http';
import { DECISION_KIND_VALUES } from '../decisions';
import { EnvironmentSnapshot, EnvironmentUpdate } from '../environments';
import { InboxMessageUpdate } from '../inboxes/message.dto';
import { INBOX_STATUSES, type InboxStatus } from '../inboxes/values';
import { KnowledgeSourceError, SourceState } from '../knowledge/source.dto';
import { ChatErrorDto, ChatMessageDto, ChatPauseDto, ChatSummary, CHAT_STATUSES } from './chat.dto';
import { HITL_KINDS, HITL_STATUSES, HitlAnswer, HitlOption, HitlToolCall } from './hitl.dto';
import { ChatViewer } from './realtime.dto';
import { RUN_STATE, RUN_STATES, type RunState } from '../processes/values';
import { RoleField } from '../orgs/roles';

const STATUS = { name: 'ChatStatus' };
const TURN = 'The turn that it belongs to.';
const CALL = 'The call of the model.';

export class StatusChange {
  @EnumField(CHAT_STATUSES, { ...STATUS, description: 'What the chat was.' }) from: string;
  @EnumField(CHAT_STATUSES, { ...STATUS, description: 'What it is.' }) to: string;
  @StringField({ nullable: true, description: 'Why it stopped by itself, was stopped or archived.' }) stop_reason: string | null;
  @NestedField(() => ChatPauseDto, { nullable: true, description: 'What it waits for.' }) pause: ChatPauseDto | null;
  @NestedField(() => ChatErrorDto, { optional: true, nullable: true, description: 'Why the turn could not be handed to a worker.' })
  error?: ChatErrorDto | null;
  @StringField({ optional: true, nullable: true, description: 'What was said by who stopped it.' }) reason?: string | null;
}

export class NewMessage {
  @NestedField(() => ChatMessageDto, { description: 'The message, as the chat shows it.' }) message: ChatMessageDto;
  @UuidField({ nullable: true, description: 'The turn that answers it; null when none does.' }) turn_id: string | null;
}

export class CompletedMessage {
  @NestedField(() => ChatMessageDto, { description: 'The message, as the chat shows it; it takes the place of its deltas.' })
  message: ChatMessageDto;
  @UuidField({ description: TURN }) turn_id: string;
  @IntField({ description: 'The step of the turn that wrote it.' }) step_no: number;
  @BooleanField({ description: 'The turn ends with it.' }) final: boolean;
  @EnumField(FINISH_REASONS, { name: 'FinishReason', optional: true, nullable: true, description: 'Why the model stopped.' })
  finish_reason?: MessageFinish | null;
  @IntField({ optional: true, description: 'How long the call took, in milliseconds.' }) duration_ms?: number;
  @BooleanField({ optional: true, description: 'The turn was stopped before the answer was whole.' }) interrupted?: boolean;
}

export class RestartedMessage {
  @UuidField({ description: 'The message whose deltas no longer count: another worker writes it anew.' }) message_id: string;
  @UuidField({ description: TURN }) turn_id: string;
}

export class MessagePiece {
  @UuidField({ description: 'The message that is being written.' }) message_id: string;
  @StringField({ description: 'What comes next of it.' }) text: string;
}

export class ToolCallStart {
  @StringField({ description: CALL }) tool_call_id: string;
  @StringField({ description: 'The tool, as the model wrote it.' }) name: string;
  @StringField({ description: 'JSON text, as the model wrote it.' }) arguments: string;
  @UuidField({ description: 'The message that asks for it.' }) message_id: string;
  @UuidField({ description: TURN }) turn_id: string;
}

export class ToolCallResult {
  @UuidField({ description: 'The tool message.' }) message_id: string;
  @StringField({ description: CALL }) tool_call_id: string;
  @StringField({ description: 'The tool.' }) name: string;
  @EnumField(['done', 'failed', 'outcome_unknown'], {
    name: 'ToolCallStatus',
    description:
      'Whether it did what it was asked for. `outcome_unknown`: it went out and was cut off, and is not made again, since it may have been done.',
  })
  status: string;
  @StringField({ description: 'What the model was told.' }) content: string;
  @UuidField({ description: TURN }) turn_id: string;
}

export class HitlRequested {
  @UuidField({ description: 'The request.' }) request_id: string;
  @EnumField(HITL_KINDS, { name: 'HitlKind', description: 'What an answer looks like.' }) kind: string;
  @StringField({ description: 'What the agent asks.' }) prompt: string;
  @ListField(() => HitlOption, { description: 'What to choose from.' }) options: HitlOption[];
  @ObjectField({ nullable: true, description: 'Of a form: JSON Schema of its values.' }) schema: Record<string, unknown> | null;
  @NestedField(() => HitlToolCall, { nullable: true, description: 'Of an approval: what runs when it is given.' })
  tool_call: HitlToolCall | null;
  @UuidField({ nullable: true, description: 'Who is asked; null: any member.' }) assignee_user_id: string | null;
  @DateTimeField({ description: 'When it is given up.' }) expires_at: string;
  @UuidField({ description: TURN }) turn_id: string;
  @StringField({ description: CALL }) tool_call_id: string;
}

export class HitlResolved {
  @UuidField({ description: 'The request.' }) request_id: string;
  @EnumField(HITL_KINDS, { name: 'HitlKind', description: 'What it was.' }) kind: string;
  @EnumField(HITL_STATUSES, { name: 'HitlStatus', description: 'How it ended.' }) status: string;
  @StringField({ nullable: true, description: 'Why nobody answered it.' }) reason: string | null;
  @NestedField(() => HitlAnswer, { nullable: true, description: 'The answer.' }) answer: HitlAnswer | null;
  @UuidField({ nullable: true, description: 'Who answered.' }) answered_by: string | null;
  @UuidField({ description: TURN }) turn_id: string;
  @StringField({ description: CALL }) tool_call_id: string;
}

export class DecisionRecorded {
  @UuidField({ description: 'The decision.' }) decision_id: string;
  @EnumField(DECISION_KIND_VALUES, { name: 'DecisionKind', description: 'Whether the agent acts, leaves it, or asks a human.' })
  kind: string;
  @StringField({ description: 'What it decided.' }) summary: string;
  @StringField({ description: 'The rule that it rests on.' }) basis: string;
  @StringField({ nullable: true, description: 'The tool that it is about.' }) tool_slug: string | null;
  @BooleanField({ description: 'It departs from the rule.' }) deviation: boolean;
  @BooleanField({ description: 'No rule says it.' }) determination: boolean;
  @UuidField({ description: TURN }) turn_id: string;
  @StringField({ description: CALL }) tool_call_id: string;
}

export class DelegationStarted {
  @UuidField({ description: 'The chat that does the work.' }) child_chat_id: string;
  @UuidField({ description: 'The agent that does it.' }) agent_id: string;
  @StringField({ description: 'Its slug.' }) agent: string;
  @StringField({ description: 'Its name.' }) name: string;
  @StringField({ description: CALL }) tool_call_id: string;
  @UuidField({ description: TURN }) turn_id: string;
  @BooleanField({ description: 'The turn waits for the result.' }) waits: boolean;
  @DateTimeField({ nullable: true, description: 'How long it waits.' }) deadline_at: string | null;
}

export class DelegationFinished {
  @UuidField({ description: 'The chat that did the work.' }) child_chat_id: string;
  @UuidField({ description: 'The agent that did it.' }) agent_id: string;
  @StringField({ description: 'Its slug.' }) agent: string;
  @EnumField(['done', 'failed', 'stopped', 'cancelled', 'archived', 'abandoned', 'deleted'], {
    name: 'DelegationEnd',
    description: 'How it ended.',
  })
  status: string;
  @StringField({ description: CALL }) tool_call_id: string;
  @UuidField({ description: TURN }) turn_id: string;
  @BooleanField({ description: 'The turn waited for it; else a note tells the next one.' }) waited: boolean;
}

export class TodoListItem {
  @UuidField({ description: 'The item.' }) id: string;
  @StringField({ description: 'What is to be done.' }) title: string;
  @EnumField(['pending', 'in_progress', 'completed', 'invalidated'], { name: 'TodoStatus', description: 'How far it is.' }) status: string;
}

export class TodoList {
  @ListField(() => TodoListItem, { description: 'The whole list, in its order.' }) todos: TodoListItem[];
}

export class MemoryWritten {
  @UuidField({ description: 'The memory.' }) id: string;
  @EnumField(['remembered'], { description: 'What became of it.' }) status: string;
}

export class CompactionDone {
  @UuidField({ description: 'The summary.' }) compaction_id: string;
  @UuidField({ description: TURN }) turn_id: string;
  @IntField({ description: 'The newest message that the summary stands for.' }) through_seq: number;
  @IntField({ description: 'How many messages it stands for.' }) messages: number;
  @IntField({ description: 'Tokens that the model read before.' }) tokens_before: number;
  @IntField({ description: 'Tokens that it reads now.' }) tokens_after: number;
}

export class TurnBlocker {
  @StringField({ description: 'What has to be lifted before the chat can go on.', example: 'credits_exhausted' }) stop_reason: string;
  @StringField({ description: 'One sentence for a human.' }) message: string;
  @UuidField({ description: TURN }) turn_id: string;
}

export class TurnError extends ChatErrorDto {
  @UuidField({ description: TURN }) turn_id: string;
}

export class TitleChange {
  @StringField({ nullable: true, description: 'What the chat is about now.' }) title: string | null;
}

export class Presence {
  @ListField(() => ChatViewer, { description: 'Who has the chat open.' }) viewers: ChatViewer[];
}

/** Nothing besides that it happened. */
export class NoData {}

export class TopicClosed {
  @EnumField(['access_lost'], { description: 'Why.' }) reason: string;
}

export class ChatSnapshot {
  @NestedField(() => ChatSummary, { description: 'The chat now.' }) chat: ChatSummary;
  @StringField({ description: 'The newest event that is part of it.', example: '41' }) last_id: string;
}

export class OrgSnapshot {
  @RoleField({ description: 'The caller’s role.' }) role: string;
  @StringField({ description: 'The newest event that is part of it.', example: '0' }) last_id: string;
}

export class InboxSnapshot {
  @StringField({ description: 'The inbox.', example: 'inb_01jd3k5m7n9p1r3s5t7v9w1x3z' }) inbox_id: string;
  @EnumField(INBOX_STATUSES, { description: 'Whether it takes anything, and hands it on.', example: 'active' }) status: InboxStatus;
  @StringField({ description: 'The newest event that is part of it.', example: '41' }) last_id: string;
}

export class RunSnapshot {
  @UuidField({ description: 'The run.' }) run_id: string;
  @StringField({ description: 'Its process.', example: 'prc_01jd3k5m7n9p1r3s5t7v9w1x3z' }) process_id: string;
  @EnumField(RUN_STATES, RUN_STATE) status: RunState;
  @StringField({ description: 'The newest event that is part of it.', example: '41' }) last_id: string;
}

export class RunUpdate {
  @EnumField(['run_created', 'run_started', 'run_cancelled', 'run_finished'], { name: 'RunUpdateEvent', description: 'What has happened.' })
  event: string;
  @StringField({ optional: true, description: 'What the run is now that it is over.', example: 'completed' }) status?: string;
}

export class StepUpdate {
  @StringField({ description: 'What has happened, as in the events of the run.', example: 'step_finished' }) event: string;
  @StringField({ description: 'The step.', example: 'extract' }) step_id: string;
  @StringField({ description: 'Where it stands in the run.', example: 'each/0/extract' }) path: string;
  @StringField({ description: 'What kind of step it is.', example: 'llm' }) kind: string;
}

export class SourceUpdate {
  @UuidField({ description: 'The source.' }) source_id: string;
  @UuidField({ description: 'Its base.' }) kb_id: string;
  @SourceState('What it is now.') status: string;
  @IntField({ description: 'Pieces that a search can find.', example: 40 }) chunk_count: number;
  @NestedField(() => KnowledgeSourceError, { nullable: true, description: 'Why it could not be indexed.' })
  error: KnowledgeSourceError | null;
}

/** Every event that the event logs of chats keep. The type has the compiler ask for a schema where a type is added. */
const CHAT_EVENTS: Record<Exclude<EventType, keyof typeof OF_OTHERS | 'org_suspended'>, new () => object> = {
  status_changed: EventOf('status_changed', StatusChange, { description: 'The chat is something else now.' }),
  message_created: EventOf('message_created', NewMessage, {
    description: 'Somebody has written: a user, or the system what a delegated chat came to.',
  }),
  message_completed: EventOf('message_completed', CompletedMessage, { description: 'The agent has written.' }),
  message_restarted: EventOf('message_restarted', RestartedMessage, { description: 'The text so far is void.' }),
  tool_call: EventOf('tool_call', ToolCallStart, { description: 'The model asks for a call.' }),
  tool_result: EventOf('tool_result', ToolCallResult, { description: 'The call is over.' }),
  hitl_requested: EventOf('hitl_requested', HitlRequested, { description: 'The agent asks a human.' }),
  hitl_resolved: EventOf('hitl_resolved', HitlResolved, { description: 'A request to humans is over.' }),
  decision_recorded: EventOf('decision_recorded', DecisionRecorded, { description: 'The agent has decided something.' }),
  delegation_started: EventOf('delegation_started', DelegationStarted, { description: 'The agent has another one work for it.' }),
  delegation_finished: EventOf('delegation_finished', DelegationFinished, { description: 'That work is over.' }),
  todo_updated: EventOf('todo_updated', TodoList, { description: 'The agent has changed what it means to do.' }),
  memory_written: EventOf('memory_written', MemoryWritten, { description: 'The agent has remembered something.' }),
  compaction: EventOf('compaction', CompactionDone, {
    description: 'A summary stands for the oldest messages in what the model reads; the messages stay.',
  }),
  blocker: EventOf('blocker', TurnBlocker, { description: 'The turn has ended for something that can be lifted.' }),
  error: EventOf('error', TurnError, { description: 'The turn has failed.' }),
  title_changed: EventOf('title_changed', TitleChange, { description: 'The chat has another name.' }),
};

/** The same of what is no chat. */
const OF_OTHERS: Record<
  'inbox_message_updated' | 'run_updated' | 'step_updated' | 'source_updated' | 'environment_updated',
  new () => object
> = {
  run_updated: EventOf('run_updated', RunUpdate, { description: 'A run of a process has begun, or is over.' }),
  step_updated: EventOf('step_updated', StepUpdate, { description: 'A step of a run has begun, waits, or is over.' }),
  source_updated: EventOf('source_updated', SourceUpdate, { description: 'A source of a knowledge base is something else now.' }),
  environment_updated: EventOf('environment_updated', EnvironmentUpdate, { description: 'An environment stands otherwise now.' }),
  inbox_message_updated: EventOf('inbox_message_updated', InboxMessageUpdate, {
    description: 'A message of the inbox is something else now. One that comes in is told of when its first evaluation is over.',
  }),
};

/** Of the moment: without a number, best effort. */
const FLEETING = {
  message_delta: EventOf('message_delta', MessagePiece, { numbered: false, description: 'A piece of the running text.' }),
  presence_changed: EventOf('presence_changed', Presence, { numbered: false, description: 'Somebody has come or gone.' }),
  ping: EventOf('ping', NoData, { numbered: false, description: 'The stream is alive; every 15 seconds.' }),
  org_suspended: EventOf('org_suspended', NoData, {
    numbered: false,
    description: 'The organization is suspended; the stream ends with it.',
  }),
};

/** The same of organizations. They say that something has changed, and nothing that takes more to be seen than to be a member. */
const FLEETING_OF_ORGS = {
  credits_updated: EventOf('credits_updated', NoData, {
    numbered: false,
    description: 'Credits have come or gone; `GET …/billing` says what there is now. At most once a second.',
  }),
  billing_updated: EventOf('billing_updated', NoData, {
    numbered: false,
    description: 'The subscription is another, or the payment provider has said something new of it; `GET …/billing` says what.',
  }),
};

/** What the stream of a chat sends. */
export const ChatStreamEvent = UnionOf('ChatStreamEvent', {
  snapshot: EventOf('snapshot', ChatSnapshot, { description: 'What the stream begins with.' }),
  ...CHAT_EVENTS,
  ...FLEETING,
});

const TopicSnapshot = EventOf('topic_snapshot', [ChatSnapshot, InboxSnapshot, OrgSnapshot, RunSnapshot, EnvironmentSnapshot], {
  type: 'snapshot',
  description: 'What each topic begins with.',
});

/** What a stream of several topics sends. */
export const TopicStreamEvent = UnionOf('TopicStreamEvent', {
  snapshot: TopicSnapshot,
  ...CHAT_EVENTS,
  ...OF_OTHERS,
  ...FLEETING,
  ...FLEETING_OF_ORGS,
  topic_closed: EventOf('topic_closed', TopicClosed, {
    numbered: false,
    description: 'The caller may not follow the topic any more; the stream goes on with the others.',
  }),
});
