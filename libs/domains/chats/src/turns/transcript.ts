import type { ChatMessage, ProviderState } from '@aps/inference';
import type { TranscriptRow } from '../chat.types';

/** What the model reads where a call was begun and its outcome never became known. */
export const INTERRUPTED = JSON.stringify({ status: 'interrupted', message: 'The call was cut off; whether it had an effect is not known.' });

/**
 * The stored messages as a provider takes them. Every call of an assistant message gets an answer, and an answer without its call is
 * left out: any prefix of a transcript makes a valid request.
 */
export function toModelMessages(rows: TranscriptRow[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let open = new Map<string, string>();
  const answerOpen = () => {
    for (const [toolCallId, toolName] of open) messages.push({ role: 'tool', toolCallId, toolName, content: INTERRUPTED, isError: true });
    open = new Map();
  };
  for (const row of rows) {
    if (row.role === 'tool') {
      if (row.tool_call_id && open.delete(row.tool_call_id)) {
        messages.push({ role: 'tool', toolCallId: row.tool_call_id, toolName: row.tool_name ?? 'tool', content: row.content });
      }
      continue;
    }
    answerOpen();
    if (row.role === 'user') messages.push({ role: 'user', content: row.content });
    if (row.role === 'assistant') {
      const calls = row.tool_calls ?? [];
      if (!row.content && calls.length === 0) continue;
      messages.push({
        role: 'assistant',
        ...(row.content && { text: row.content }),
        ...(calls.length > 0 && { toolCalls: calls }),
        ...(row.provider_state ? { providerState: row.provider_state as ProviderState } : {}),
      });
      open = new Map(calls.map((c) => [c.id, c.name]));
    }
  }
  answerOpen();
  return messages;
}

/** Calls of the newest assistant message that have no answer yet, in their order. */
export function openCalls(rows: TranscriptRow[]): { id: string; name: string; arguments: string }[] {
  const last = rows.findLastIndex((r) => r.role === 'assistant');
  if (last < 0) return [];
  const answered = new Set(rows.slice(last + 1).map((r) => r.tool_call_id));
  return (rows[last].tool_calls ?? []).filter((c) => !answered.has(c.id));
}
