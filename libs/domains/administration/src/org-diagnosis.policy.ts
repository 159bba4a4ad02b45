import type { Blocker } from '@aps/billing';
import type { FindingAction, FindingKind } from '@aps/contracts';
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

/** An organization as its rows tell, without any queue being asked. */
export interface OrgFacts {
  suspended_at: Date | null;
  /** Turns over the cap, and since when the first of them waits. */
  parked: number;
  parked_since: Date | null;
  /** Turns that no worker takes though they may run, and since when the first of them waits. */
  unclaimed: number;
  unclaimed_since: Date | null;
  /** Turns whose worker is silent, the one that is silent the longest, and since when. */
  lost: number;
  lost_since: Date | null;
  lost_owner: string | null;
  /** Live workers that begin turns. */
  workers: number;
}

/** A stored key that cannot be read any more. */
type UnreadableKey = { owner: 'organization' | 'platform'; ref: string };

const waits = (n: number) => (n === 1 ? 'One turn waits' : `${n} turns wait`);
const unreadable = ({ owner, ref }: UnreadableKey) =>
  owner === 'organization'
    ? `The key that you stored for ${ref} cannot be read any more; store it again.`
    : `The platform’s key for ${ref} cannot be read at the moment, so models there cannot be called.`;

/** Why an organization does not move, the most general first; empty when nothing is in its way. */
export function findingsOf(
  facts: OrgFacts,
  blocker: Blocker | null,
  faults: readonly ModelFault[],
  keys: readonly UnreadableKey[],
  cap: number,
) {
  const { suspended_at, workers, lost, parked, unclaimed } = facts;
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
    const out = `Your organization is out of credits (${blocker.credits_remaining} left)`;
    add('credits', 'add_credits', {}, `${out}; buy more, or change the plan.`);
  }
  if (workers === 0) {
    const kept = 'what you send is kept, and is worked on as soon as one does';
    add('worker', 'check_workers', {}, `No worker begins anything new at the moment; ${kept}.`);
  }
  if (lost) {
    const turns = lost === 1 ? 'A turn has' : `${lost} turns have`;
    const of = { since: facts.lost_since, ref: facts.lost_owner };
    add('worker', 'check_workers', of, `${turns} lost the worker; another one takes over.`);
  }
  if (parked) {
    const of = { since: facts.parked_since, ref: 'max_concurrent_chats' };
    add('cap', 'wait_or_raise_cap', of, `${waits(parked)} because your plan runs ${cap} chats at a time.`);
  }
  if (unclaimed) {
    const of = { since: facts.unclaimed_since, ref: 'turns' };
    add('queue', 'scale_workers', of, `${waits(unclaimed)} for a worker longer than they should.`);
  }
  for (const { ref, message } of faults) add('route', 'fix_route', { ref }, message);
  for (const key of keys) add('key_unreadable', 'store_key', { ref: key.ref }, unreadable(key));
  return found;
}
