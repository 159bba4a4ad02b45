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

const waits = (n: number) => (n === 1 ? 'One turn waits' : `${n} turns wait`);

/** Why an organization does not move, the most general first; empty when nothing is in its way. */
export function findingsOf(
  facts: OrgFacts,
  blocker: Blocker | null,
  faults: readonly ModelFault[],
  unreadable: readonly { owner: 'organization' | 'platform'; ref: string }[],
  cap: number,
): Finding[] {
  const found: Finding[] = [];
  const add = (finding: Omit<Finding, 'since' | 'ref'> & Partial<Finding>) => found.push({ since: null, ref: null, ...finding });
  if (facts.suspended_at)
    add({
      kind: 'suspended',
      since: facts.suspended_at,
      sentence: 'Your organization is suspended; its work goes on when the suspension ends.',
      action: 'unsuspend',
    });
  if (blocker?.code === 'budget_exceeded')
    add({
      kind: 'budget',
      ref: 'budget_limit_usd',
      sentence: `Your budget of ${blocker.budget_limit_usd} US dollars for this month is used up (${blocker.spend_usd} spent); raise it, or wait for the next month.`,
      action: 'raise_budget',
    });
  if (blocker?.code === 'credits_exhausted')
    add({
      kind: 'credits',
      sentence: `Your organization is out of credits (${blocker.credits_remaining} left); buy more, or change the plan.`,
      action: 'add_credits',
    });
  if (facts.workers === 0)
    add({
      kind: 'worker',
      sentence: 'No worker begins anything new at the moment; what you send is kept, and is worked on as soon as one does.',
      action: 'check_workers',
    });
  if (facts.lost)
    add({
      kind: 'worker',
      since: facts.lost_since,
      ref: facts.lost_owner,
      sentence: `${facts.lost === 1 ? 'A turn has' : `${facts.lost} turns have`} lost the worker; another one takes over.`,
      action: 'check_workers',
    });
  if (facts.parked)
    add({
      kind: 'cap',
      since: facts.parked_since,
      ref: 'max_concurrent_chats',
      sentence: `${waits(facts.parked)} because your plan runs ${cap} chats at a time.`,
      action: 'wait_or_raise_cap',
    });
  if (facts.unclaimed)
    add({
      kind: 'queue',
      since: facts.unclaimed_since,
      ref: 'turns',
      sentence: `${waits(facts.unclaimed)} for a worker longer than they should.`,
      action: 'scale_workers',
    });
  for (const { ref, message } of faults) add({ kind: 'route', ref, sentence: message, action: 'fix_route' });
  for (const { owner, ref } of unreadable)
    add({
      kind: 'key_unreadable',
      ref,
      sentence:
        owner === 'organization'
          ? `The key that you stored for ${ref} cannot be read any more; store it again.`
          : `The platform’s key for ${ref} cannot be read at the moment, so models there cannot be called.`,
      action: 'store_key',
    });
  return found;
}
