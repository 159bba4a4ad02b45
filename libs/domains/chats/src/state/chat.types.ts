import { type MessageFinish, type TopicEvent, type ModelMode } from '@aps/contracts';
import type { Chat, ChatPause, ChatStatus, Message, ToolCallRecord } from '@aps/entities';
import type { FileReference } from '@aps/files';
import type { Usage } from '@aps/inference';

/** Why a chat or turn failed, as the chat shows it. */
export interface ChatError {
  code: string;
  message: string;
  retryable: boolean;
}

/** What a chat waits for, as it is shown. */
export interface Pause extends ChatPause {
  queue_position?: number;
}

/** A row of the transcript, as the worker needs it. A `summary` comes first and stands for all messages before the others. */
export interface TranscriptRow {
  role: 'user' | 'assistant' | 'tool' | 'system' | 'summary';
  content: string;
  tool_calls: ToolCallRecord[] | null;
  tool_call_id: string | null;
  tool_name: string | null;
  provider_state: unknown;
  /** Of messages of the assistant. */
  finish_reason: MessageFinish | null;
  turn_id: string | null;
  /** Of messages of users. */
  attachments?: FileReference[] | null;
  /** Of a `summary`: so many messages behind it are left out, because together they are too long to be read. */
  left_out?: number | null;
  /** The summary covers it already; it is what the turn answers, and stays word for word. */
  covered?: boolean;
}

/** @param row what is known of it */
export const transcriptRow = (row: Pick<TranscriptRow, 'role' | 'content'> & Partial<TranscriptRow>): TranscriptRow => ({
  ...{ tool_calls: null, tool_call_id: null, tool_name: null, provider_state: null, finish_reason: null, turn_id: null },
  ...row,
});

type InnerColumns =
  | 'originator'
  | 'enabled_scopes'
  | 'max_steps'
  | 'depth'
  | 'turn_seq'
  | 'current_turn_id'
  | 'compaction_id'
  | 'pending_turns'
  | 'deleted_at'
  | 'private_to';

/** A chat without its messages. */
export interface ChatRow extends Omit<Chat, InnerColumns | 'pause' | 'model_mode_override'> {
  pause: Pause | null;
  model_mode_override: ModelMode | null;
  /** Questions to humans that are open; absent in a chat that has just been made. */
  pending_hitl_count?: number;
}

/** What the model call that wrote a message used, and what it cost. */
export interface MessageUsage extends Usage {
  model: string;
  requested_model: string | null;
  reason: string;
  reasoning_effort: string | null;
  requested_reasoning_effort: string | null;
  effort_clamped: boolean;
  cost_usd: string | null;
}

export interface MessageRow extends Omit<
  Message,
  'org_id' | 'chat_id' | 'provider_state' | 'turn_id' | 'turn_no' | 'author_id' | 'attachments' | 'usage'
> {
  attachments: FileReference[] | null;
  usage: MessageUsage | null;
}

/** A message as events carry it: as the API shows it, so that who follows a chat and who reads it see one form. */
export interface EventMessage {
  id: string;
  seq: number;
  role: MessageRow['role'];
  content: string;
  attachments: FileReference[];
  tool_calls: ToolCallRecord[];
  tool_call_id: string | null;
  tool_name: string | null;
  model: string | null;
  created_at: string;
  usage: MessageUsage | null;
  finish_reason: MessageFinish | null;
  interrupted: boolean;
}

/** @param message what is known of it; `seq` is written when it has been given */
export function eventMessage({
  at,
  ...message
}: Pick<EventMessage, 'id' | 'role' | 'content'> & Partial<EventMessage> & { at: Date }): EventMessage {
  return {
    seq: 0,
    attachments: [],
    tool_calls: [],
    tool_call_id: null,
    tool_name: null,
    model: null,
    created_at: at.toISOString(),
    usage: null,
    finish_reason: null,
    interrupted: false,
    ...message,
  };
}

/** An event before it has a number. */
export type NewEvent = Omit<TopicEvent, 'id' | 'at'>;

/** What readers of a chat are told when its status, its pause or why it stopped is another. @param more `reason`: said by who stopped it */
export const statusChanged = (
  from: ChatStatus,
  to: ChatStatus,
  more: { stop_reason?: string | null; pause?: Pause; error?: ChatError; reason?: string } = {},
): NewEvent => ({ type: 'status_changed', data: { from, to, stop_reason: null, pause: null, ...more } });

/** Numbers events that a statement has appended after `lastSeq`, for the signal that follows the commit. */
export function numbered(events: NewEvent[], lastSeq: number, at: Date): TopicEvent[] {
  const time = at.toISOString();
  return events.map((event, i) => ({ ...event, id: lastSeq + i + 1, at: time }));
}
