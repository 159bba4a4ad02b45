import type { Blocker } from '@aps/billing';
import { JOBS, RUN_KINDS, type FindingAction, type FindingKind, type RunKindName } from '@aps/contracts';
import type { ModelFault } from '@aps/inference';

/** Something that keeps an organization from moving. */
export interface Finding {
  kind: FindingKind;
  /** Null where nobody keeps when it began. */
  since: Date | null;
  /** What of that kind: the model, the route, the setting, the worker, the cap. */
  ref: string | null;
  /** As an operator can send it to the organization. */
  sentence: string;
  action: FindingAction;
}

/** An organization's runs of a kind as their rows tell, without any queue being asked. */
export interface RunFacts {
  kind: RunKindName;
  /** Whether any of them is not over. */
  unfinished: boolean;
  /** Those over the cap, and since when the first of them waits. */
  parked: number;
  parked_since: Date | null;
  /** Those that no worker takes though they may run, and since when the first of them could. */
  unclaimed: number;
  unclaimed_since: Date | null;
  /** Those whose worker is silent, the one that is silent the longest, and since when. */
  lost: number;
  lost_since: Date | null;
  lost_owner: string | null;
  /** Live workers that begin such runs. */
  workers: number;
}

/** A stored key that cannot be read any more. */
type UnreadableKey = { owner: 'organization' | 'platform'; ref: string };

/** One run of a kind, and several. */
const WORDS: Record<RunKindName, [string, string]> = {
  turn: ['turn', 'turns'],
  inbox_message: ['message of an inbox', 'messages of inboxes'],
  process_run: ['run of a process', 'runs of processes'],
  knowledge_source: ['source of a knowledge base', 'sources of knowledge bases'],
  knowledge_sync: ['synchronisation of a knowledge base', 'synchronisations of knowledge bases'],
  replay: ['replay of chats', 'replays of chats'],
};
const queueOf = (kind: RunKindName) => JOBS[RUN_KINDS[kind].job].queue;
const waits = (n: number, kind: RunKindName) => (n === 1 ? `One ${WORDS[kind][0]} waits` : `${n} ${WORDS[kind][1]} wait`);
const unreadable = ({ owner, ref }: UnreadableKey) =>
  owner === 'organization'
    ? `The key that you stored for ${ref} cannot be read any more; store it again.`
    : `The platform’s key for ${ref} cannot be read at the moment, so models there cannot be called.`;

/** Why an organization does not move, the most general first; empty when nothing is in its way. */
export function findingsOf(
  suspended_at: Date | null,
  runs: readonly RunFacts[],
  blocker: Blocker | null,
  faults: readonly ModelFault[],
  keys: readonly UnreadableKey[],
  cap: number,
) {
  const found: Finding[] = [];
  const add = (kind: FindingKind, action: FindingAction, of: Partial<Finding>, sentence: string) =>
    found.push({ kind, since: null, ref: null, ...of, sentence, action });
  if (suspended_at)
    add('suspended', 'unsuspend', { since: suspended_at }, 'Your organization is suspended; its work goes on when the suspension ends.');
  if (blocker?.code === 'budget_exceeded') {
    const used = `Your budget of ${blocker.budget_limit_usd} US dollars for this month is used up (${blocker.spend_usd} spent)`;
    add('budget', 'raise_budget', { ref: 'budget_limit_usd' }, `${used}; raise it, or wait for the next month.`);
  }
  if (blocker?.code === 'credits_exhausted') {
    const out = `Your organization is out of credits (${blocker.credits_remaining} left); buy more, or change the plan.`;
    add('credits', 'add_credits', {}, blocker.because ? 'Your organization has no subscription that counts; choose a plan.' : out);
  }
  for (const { kind } of runs.filter(({ workers, unfinished }) => workers === 0 && unfinished)) {
    const of = { ref: kind === 'turn' ? null : queueOf(kind) };
    const what = kind === 'turn' ? 'anything new' : `new ${WORDS[kind][1]}`;
    add(
      'worker',
      'check_workers',
      of,
      `No worker begins ${what} at the moment; what you send is kept, and is worked on as soon as one does.`,
    );
  }
  for (const { kind, lost, lost_since, lost_owner } of runs.filter((of) => of.lost)) {
    const what = lost === 1 ? `A ${WORDS[kind][0]} has` : `${lost} ${WORDS[kind][1]} have`;
    add('worker', 'check_workers', { since: lost_since, ref: lost_owner }, `${what} lost the worker; another one takes over.`);
  }
  // A suspended organization is not worked for; what waits of it waits for that.
  const waiting = suspended_at ? [] : runs;
  for (const { kind, parked, parked_since } of waiting.filter((of) => of.parked)) {
    const of = { since: parked_since, ref: kind === 'turn' ? 'max_concurrent_chats' : kind };
    const why = kind === 'turn' ? `your plan runs ${cap} chats at a time` : 'as many of them run as may at a time';
    add('cap', 'wait_or_raise_cap', of, `${waits(parked, kind)} because ${why}.`);
  }
  for (const { kind, unclaimed, unclaimed_since } of waiting.filter((of) => of.unclaimed)) {
    const of = { since: unclaimed_since, ref: queueOf(kind) };
    add('queue', 'scale_workers', of, `${waits(unclaimed, kind)} for a worker longer than they should.`);
  }
  for (const { ref, message } of faults) add('route', 'fix_route', { ref }, message);
  for (const key of keys) add('key_unreadable', 'store_key', { ref: key.ref }, unreadable(key));
  return found;
}
