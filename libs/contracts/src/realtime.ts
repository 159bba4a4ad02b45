/** What the event log keeps of a chat, and its timeline shows. */
export const KEPT_EVENTS = [
  'status_changed',
  'message_created',
  'message_completed',
  'tool_call',
  'tool_result',
  'hitl_requested',
  'hitl_resolved',
  'decision_recorded',
  'delegation_started',
  'delegation_finished',
  'todo_updated',
  'memory_written',
  'compaction',
  'blocker',
  'error',
] as const;

/** What only a stream has to know: that a text begins anew, how the chat is named, why the stream ends; or what is of no chat. A timeline leaves it out. */
export const STREAM_ONLY_EVENTS = [
  'message_restarted',
  'title_changed',
  'inbox_message_updated',
  'run_updated',
  'step_updated',
  'source_updated',
  'environment_updated',
  'org_suspended',
] as const;

/** Types of the event log. What a client of the stream and of the timeline sees is derived from these rows. */
export type EventType = (typeof KEPT_EVENTS | typeof STREAM_ONLY_EVENTS)[number];

/**
 * Why an answer of an assistant ended. `length`: at the longest that it may be; `tool_calls`: to have tools called; `step_limit`: the
 * same, but its turn was allowed no further step; `empty`: twice it said nothing.
 */
export const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter', 'refusal', 'step_limit', 'empty'] as const;
export type MessageFinish = (typeof FINISH_REASONS)[number];

/** One row of the event log as it travels. `id` is the sequence number within the topic, without gaps, in commit order. */
export interface TopicEvent {
  id: number;
  type: EventType;
  at: string;
  data: Record<string, unknown>;
}

/** A piece of a message that is being written. Best effort: it is in no table. */
export interface MessageDelta {
  message_id: string;
  text: string;
}

/** Something of the moment that no table keeps. Best effort, without a number. */
export interface TopicNotice {
  notice: 'presence_changed' | 'credits_updated' | 'billing_updated';
  at: string;
  data: Record<string, unknown>;
}

export type TopicItem = TopicEvent | MessageDelta | TopicNotice;

/** What is published on a topic's channel: committed events, pieces of the running message and notices, in their order. */
export type TopicSignal = TopicItem[];

export const isDelta = (item: TopicItem): item is MessageDelta => 'message_id' in item;
export const isNotice = (item: TopicItem): item is TopicNotice => 'notice' in item;

/** Topics name what a stream is about. */
export const chatTopic = (chatId: string): string => `chat:${chatId}`;
export const inboxTopic = (inboxId: string): string => `inbox:${inboxId}`;
export const runTopic = (runId: string): string => `run:${runId}`;
export const envTopic = (environmentId: string): string => `env:${environmentId}`;
export const orgTopic = (orgId: string): string => `org:${orgId}`;
