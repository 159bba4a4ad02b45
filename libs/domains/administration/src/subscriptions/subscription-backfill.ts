import type { ActingUser } from '@aps/guards';

export interface BackfillWish {
  /** Only this organization; without it, every live one. */
  org_id?: string | null;
  /** Without it, the plan of new organizations. */
  plan_code?: string | null;
}

export interface BackfillResult {
  created: number;
  skipped: number;
  plan_code: string;
  /** The organizations that were subscribed. */
  org_ids: string[];
}

/**
 * Subscribes organizations that have no subscription. What a subscription is belongs to billing; this port is all that the admin
 * surface knows of it.
 */
export abstract class SubscriptionBackfill {
  /**
   * Repeating it changes nothing: an existing subscription is never touched, and a run that creates none leaves no audit row.
   *
   * @throws DomainError 404 `not_found` for an unknown organization or plan
   */
  abstract run(wish: BackfillWish, actor: ActingUser): Promise<BackfillResult>;
}
