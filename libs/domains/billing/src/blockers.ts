import { DomainError } from '@aps/contracts';
import type { Db } from '@aps/platform/database';

/** Why an organization's next model call would be refused. Quantities are decimal texts. */
export type Blocker =
  | {
      code: 'credits_exhausted';
      credits_remaining: string;
      /** Without a subscription that counts, whatever is left. */
      because?: 'no_subscription';
    }
  | { code: 'budget_exceeded'; budget_limit_usd: string; spend_usd: string };

/** Why a certain call would be: an agent may have a budget of its own. */
export type CallBlocker = Blocker | { code: 'budget_exceeded'; budget_credits_per_period: string; spent_credits: string };

/**
 * What keeps an organization from spending. Whoever lets a closed chat go on asks this port; where the answer comes from (a ledger, a
 * budget) is the binding's business.
 */
export abstract class Blockers {
  /**
   * @param db the open transaction, if any
   * @returns null when nothing is in the way
   */
  abstract of(orgId: string, db?: Db): Promise<Blocker | null>;
}

/** What is answered to whoever would have spent. */
export function refusalOf({ code, ...context }: CallBlocker): DomainError {
  if (code === 'budget_exceeded')
    return new DomainError(code, `The budget of this ${'spend_usd' in context ? 'organization' : 'agent'} is used up.`, { context });
  if ('because' in context) return new DomainError(code, 'This organization has no subscription that counts; choose a plan.', { context });
  return new DomainError(code, 'This organization is out of credits.', { context });
}
