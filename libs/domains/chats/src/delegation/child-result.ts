import type { ChatEnd } from '../state/chat-ends';
import { headOf } from '../state/text';

/** What the parent is told of a child that has ended. */
export interface ChildResult {
  status: ChatEnd;
  child_chat_id: string;
  /** Slug of the child's agent. */
  agent: string;
  /** What the child said last. */
  result?: string;
  /** Why there is no more than that. */
  error?: { code: string; message: string };
}

/** Longest answer of a child that its parent gets, characters. Escaped and with what goes around it, a result stays below what a tool may return. */
export const MAX_CHILD_RESULT_CHARS = 20_000;

const WHY_STOPPED: Partial<Record<string, string>> = {
  agent_deleted: 'The agent was deleted.',
  member_left: 'Who had this done has left the organization.',
  unshared: 'The chat is shared no more with who had this done.',
};

/** What a child came to, as its parent gets it. */
export function childResult(
  status: ChatEnd,
  child: { id: string; agent: string; said: string | null; error: { code: string; message: string } | null; stop_reason: string | null },
): ChildResult {
  const error =
    child.error ??
    (child.stop_reason ? { code: child.stop_reason, message: WHY_STOPPED[child.stop_reason] ?? 'The chat is closed.' } : null);
  return {
    status,
    child_chat_id: child.id,
    agent: child.agent,
    ...(child.said !== null && { result: capped(child.said) }),
    ...(status !== 'done' && error && { error: { code: error.code, message: error.message } }),
  };
}

function capped(said: string): string {
  if (said.length <= MAX_CHILD_RESULT_CHARS) return said;
  return `${headOf(said, MAX_CHILD_RESULT_CHARS)}\n\n[cut: the answer had ${said.length} characters; the child chat has all of it]`;
}
