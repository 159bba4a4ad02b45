import type { MessageFinish, SpineEvent } from '@aps/contracts';
import type { FileReference } from '@aps/files';
import type { Usage } from '@aps/inference';

export const CHAT_STATUSES = ['ACTIVE', 'RUNNING', 'PAUSED', 'ERRORED', 'ARCHIVED', 'ABANDONED'] as const;
export type ChatStatus = (typeof CHAT_STATUSES)[number];

export const MODEL_MODES = ['trivial', 'normal', 'high_effort', 'x_high'] as const;
export type ModelMode = (typeof MODEL_MODES)[number];

/** Why a chat or turn failed, as the chat shows it. */
export interface ChatError {
  code: string;
  message: string;
  retryable: boolean;
}

export interface Pause {
  kind: 'human' | 'children' | 'timer' | 'queued';
  since: string;
  request_id?: string;
  resume_at?: string;
  child_chat_ids?: string[];
  queue_position?: number;
}

export interface ToolCallRecord {
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  arguments: string;
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
  /** The summary covers it already; it is what the turn answers, and stays word for word. */
  covered?: boolean;
}

/** A chat without its messages. */
export interface ChatRow {
  id: string;
  org_id: string;
  agent_id: string;
  agent_revision_id: string;
  rollout_id: string | null;
  arm_label: string | null;
  title: string | null;
  status: ChatStatus;
  pause: Pause | null;
  stop_reason: string | null;
  error: ChatError | null;
  stop_requested_at: Date | null;
  completed_at: Date | null;
  archived_at: Date | null;
  shared: boolean;
  created_by: string | null;
  environment_id: string | null;
  sandbox_enabled: boolean | null;
  model_mode_override: ModelMode | null;
  parent_chat_id: string | null;
  root_chat_id: string | null;
  source_chat_id: string | null;
  origin_kind: 'user' | 'inbox' | 'process' | 'agent' | 'api' | 'schedule';
  origin_ref_id: string | null;
  cost_usd: string;
  cost_credits: string;
  event_seq: number;
  message_seq: number;
  /** Questions to humans that are open; absent in a chat that has just been made. */
  pending_hitl_count?: number;
  message_count: number;
  last_message_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** What the model call that wrote a message used, and what it cost. */
export interface MessageUsage extends Usage {
  model: string;
  requested_model: string | null;
  reason: string;
  reasoning_effort: string | null;
  cost_usd: string | null;
}

export interface MessageRow {
  id: string;
  seq: number;
  role: 'user' | 'assistant' | 'tool' | 'system';
  content: string;
  attachments: FileReference[] | null;
  tool_calls: ToolCallRecord[] | null;
  tool_call_id: string | null;
  tool_name: string | null;
  model: string | null;
  usage: MessageUsage | null;
  finish_reason: MessageFinish | null;
  interrupted: boolean;
  created_at: Date;
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

export interface TodoRow {
  id: string;
  position: number;
  title: string;
  status: 'pending' | 'in_progress' | 'completed' | 'invalidated';
  created_at: Date;
  updated_at: Date;
}

/** An event before it has a number. */
export type NewEvent = Omit<SpineEvent, 'id' | 'at'>;

/** Numbers events that a statement has appended after `lastSeq`, for the signal that follows the commit. */
export function numbered(events: NewEvent[], lastSeq: number, at: Date): SpineEvent[] {
  const time = at.toISOString();
  return events.map((event, i) => ({ ...event, id: lastSeq + i + 1, at: time }));
}
