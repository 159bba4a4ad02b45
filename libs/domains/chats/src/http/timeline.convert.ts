import { answererOf, type TimelineEntry, type TimelineRow } from '../reading/timeline.queries';
import type { TimelineActor, TimelineEvent } from '@aps/dtos';
import { decimalText } from '@aps/platform/http';
import { withoutDollars } from './dollars';

type Data = Record<string, unknown>;

/** What nobody in the chat did. */
const BY_SYSTEM: ReadonlySet<string> = new Set(['message_created', 'status_changed', 'hitl_resolved', 'compaction', 'blocker', 'error']);
/** Longest sentence about an event, characters. */
const MAX_SENTENCE = 200;

/** @param hideDollars the organization pays in credits */
export function toTimelineEvent({ seq, row, names }: TimelineEntry, hideDollars: boolean): TimelineEvent {
  return { seq, ...toEvent(row, names, hideDollars) };
}

function toEvent(row: TimelineRow, names: ReadonlyMap<string, string>, hideDollars: boolean): Omit<TimelineEvent, 'seq'> {
  const { data } = row;
  const id = String(row.place);
  const message = data.message as Data | undefined;
  const told = (type: string, metadata: Data, sentence: string | null, actor = actorOf(row, names)): Omit<TimelineEvent, 'seq'> => ({
    id,
    type,
    created_at: row.created_at.toISOString(),
    actor,
    message: sentence,
    metadata,
    usage: null,
    cost: null,
  });

  if (row.type === 'message_created' && message?.role === 'user') {
    const metadata = {
      message_id: message.id,
      content: message.content,
      attachments: row.attachments ?? [],
      turn_id: data.turn_id ?? null,
    };
    return told('user_message_received', metadata, oneLine(message.content), authorOf(row, names));
  }
  if (row.part === 0) {
    const agent = { kind: 'agent', id: row.agent_id, name: row.agent_name };
    return { ...told('agent_step', ...stepOf(row), agent), id: `${id}.step`, ...spendOf(row, hideDollars) };
  }
  if (row.type === 'message_completed' && message) {
    const { id: messageId, content, tool_calls: toolCalls, attachments, model } = message;
    const { message: _, ...rest } = data;
    const metadata = {
      message_id: messageId,
      content,
      attachments: attachments ?? [],
      tool_calls: toolCalls ?? [],
      model,
      interrupted: false,
      ...rest,
    };
    return told('assistant_message', metadata, oneLine(content));
  }
  return told(row.type, hideDollars ? withoutDollars(data) : data, sentenceOf(row.type, data));
}

/** Metadata and sentence of a step, from the journal; the event knows the rest. */
function stepOf(row: TimelineRow): [metadata: Data, sentence: string] {
  const { data } = row;
  const common = {
    turn_id: row.turn_id ?? data.turn_id ?? null,
    step_no: row.step_no,
    message_id: row.message_id,
    status: row.status ?? (data.interrupted ? 'interrupted' : (data.status ?? 'done')),
    started_at: row.started_at?.toISOString() ?? null,
    duration_ms: row.duration_ms ?? (row.started_at && Math.max(0, row.created_at.getTime() - row.started_at.getTime())),
  };
  if (row.type === 'tool_result') {
    const name = row.tool_name ?? (data.name as string);
    return [{ kind: 'tool', ...common, name, tool_call_id: row.tool_call_id ?? data.tool_call_id }, `Called ${name}`];
  }
  const model = row.model_key ?? ((data.message as Data | undefined)?.model as string | undefined) ?? null;
  const call = {
    model,
    requested_model: row.requested_model,
    finish_reason: row.finish_reason ?? data.finish_reason ?? null,
    provider_finish_reason: row.provider_finish_reason,
    first_token_ms: row.first_token_ms,
    restarted: row.restarted ?? false,
    context_sha256: row.context_sha256,
  };
  return [{ kind: 'llm', ...common, ...call }, `Asked ${model ?? 'the model'}${call.restarted ? ' anew' : ''}`];
}

/** Tokens and cost stand on steps alone, so that they can be added up. */
function spendOf(row: TimelineRow, hideDollars: boolean): Pick<TimelineEvent, 'usage' | 'cost'> {
  if (row.model_key === null) return { usage: null, cost: null };
  return {
    usage: {
      input: row.input_tokens,
      cached_input: row.cached_input_tokens,
      cache_write: row.cache_write_tokens,
      output: row.output_tokens,
      reasoning: row.reasoning_tokens,
    },
    cost: { cost_usd: hideDollars || row.usd_cost === null ? null : decimalText(row.usd_cost), credits: decimalText(row.credits) },
  };
}

function authorOf(row: TimelineRow, names: ReadonlyMap<string, string>): TimelineActor {
  if (row.author_id) return { kind: 'user', id: row.author_id, name: names.get(row.author_id) ?? null };
  // Nobody's: what began the chat wrote it.
  if (row.origin_kind === 'agent') return { kind: 'agent', id: row.parent_agent_id, name: row.parent_agent_name };
  return row.origin_kind === 'user'
    ? { kind: 'system', id: null, name: null }
    : { kind: row.origin_kind, id: row.origin_ref_id, name: null };
}

function actorOf(row: TimelineRow, names: ReadonlyMap<string, string>): TimelineActor {
  const answerer = answererOf(row.data);
  if (answerer) return { kind: 'user', id: answerer, name: names.get(answerer) ?? null };
  if (row.type === 'tool_result') return { kind: 'tool', id: null, name: (row.data.name as string | undefined) ?? null };
  return BY_SYSTEM.has(row.type) ? { kind: 'system', id: null, name: null } : { kind: 'agent', id: row.agent_id, name: row.agent_name };
}

function sentenceOf(type: string, data: Data): string | null {
  if (type === 'status_changed') return `${String(data.from)} → ${String(data.to)}`;
  return (
    oneLine(data.message) ??
    oneLine((data.message as Data | null | undefined)?.content) ??
    oneLine(data.prompt) ??
    oneLine(data.summary) ??
    oneLine(data.name)
  );
}

/** The beginning of a text as one line; null for what is none. */
function oneLine(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const line = text
    .slice(0, 4 * MAX_SENTENCE)
    .replace(/\s+/g, ' ')
    .trim();
  if (line === '') return null;
  return line.length <= MAX_SENTENCE && text.length <= 4 * MAX_SENTENCE ? line : `${line.slice(0, MAX_SENTENCE - 1)}…`.toWellFormed();
}
