import { headOf } from '../state/text';

/** Delegations below a root chat, whatever its agents allow. */
export const MAX_DEPTH = 5;
/** Children of one chat that may be at work at the same time. */
export const MAX_CHILDREN_AT_WORK = 20;
/** Chats that may come of one root chat in all. */
export const MAX_DESCENDANTS = 1_000;

const MAX_TITLE_CHARS = 80;

/** A chat in the chain from the one that delegates up to its root. */
export interface ChainLink {
  agentId: string;
  depth: number;
  /** How deep delegation may go below a chat of this revision. */
  maxChildDepth: number;
}

/** What decides whether a chat may delegate to an agent now. */
export interface DelegationSubject {
  agent: { id: string; slug: string };
  /** The chat that delegates first, its root last. */
  chain: ChainLink[];
  childrenAtWork: number;
  descendants: number;
  waitingTurns: number;
  /** -1 = no limit. */
  maxQueueDepth: number;
}

/**
 * Why a chat may not delegate now, as its model is told; null when it may. Every agent in the chain bounds how deep delegation goes
 * below its own chat.
 */
export function refusalOf({ agent, chain, childrenAtWork, descendants, waitingTurns, maxQueueDepth }: DelegationSubject): string | null {
  if (chain.some((link) => link.agentId === agent.id))
    return `${agent.slug} is at work above you in this chain of delegations: that would be a circle. Do it yourself, or ask another agent.`;
  const depth = chain[0].depth + 1;
  if (depth > MAX_DEPTH || chain.some((link) => depth - link.depth > link.maxChildDepth))
    return 'Delegation may not go deeper than here. Do it yourself.';
  if (childrenAtWork >= MAX_CHILDREN_AT_WORK)
    return `${MAX_CHILDREN_AT_WORK} child chats of yours are at work already. Wait for some of them first.`;
  if (descendants >= MAX_DESCENDANTS) return `${MAX_DESCENDANTS} chats have come of this conversation; there may be no more.`;
  if (maxQueueDepth >= 0 && waitingTurns >= maxQueueDepth)
    return 'Too many turns of this organization wait already. Try again later, or do it yourself.';
  return null;
}

/** First line of a task, short enough for a title. */
export function titleOf(task: string): string {
  const line = task.trim().split('\n', 1)[0].trim();
  return line.length <= MAX_TITLE_CHARS ? line : `${headOf(line, MAX_TITLE_CHARS - 1)}…`;
}
