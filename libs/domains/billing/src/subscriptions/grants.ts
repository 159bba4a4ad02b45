import { Injectable } from '@nestjs/common';
import type { Plan } from '@aps/entities';
import type { Tx } from '@aps/platform/database';
import { isPositive, isZero, minus, negated, plus, smallest } from '../amounts';
import { Ledger } from '../ledger/ledger.repository';
import { periodKey } from './periods.policy';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Credits that are granted once by this key. */
export interface Grant {
  key: string;
  amount: string;
}

/** The key of the posting by which an organization first has a plan's credits. */
export const allocationKey = (orgId: string, plan: Plan): string => `grant:${orgId}:${plan.id}:allocation`;

/**
 * The credits that come with a plan and a period. What is positive expires with either, a debt is carried over; what was bought stays. Each takes part in
 * the caller's transaction, under the lock of the organization's billing.
 */
@Injectable()
export class Grants {
  constructor(
    private readonly repository: SubscriptionsRepository,
    private readonly ledger: Ledger,
  ) {}

  /** What a plan brings when it is first had; null where it was granted, or is nothing. */
  async allocationOf(tx: Tx, orgId: string, plan: Plan): Promise<Grant | null> {
    const grant = { key: allocationKey(orgId, plan), amount: plus(plan.initial_credits, plan.monthly_credits) };
    return isZero(grant.amount) || (await this.repository.isPosted(tx, grant.key)) ? null : grant;
  }

  /** Grants what a plan brings when it is first had, once ever to an organization. @returns what it was; null where that is nothing any more */
  async allocate(tx: Tx, orgId: string, plan: Plan): Promise<Grant | null> {
    const grant = await this.allocationOf(tx, orgId, plan);
    if (grant) await this.grant(tx, orgId, grant);
    return grant;
  }

  /** Expires what is positive of granted credits, but for what is kept, or no more than so much. @returns its key, null where nothing is */
  async expire(
    tx: Tx,
    orgId: string,
    key: string,
    { keep = '0', amount }: { keep?: string; amount?: string } = {},
  ): Promise<string | null> {
    const { balance } = await this.ledger.lock(tx, orgId);
    const excess = amount === undefined ? minus(balance, keep) : smallest(balance, amount);
    if (!isPositive(excess)) return null;
    await this.ledger.post(tx, orgId, { kind: 'expire', key, bucket: 'granted', amount: negated(excess) });
    return key;
  }

  /** @param orderId the order that brings them @returns their key */
  async grant(tx: Tx, orgId: string, { key, amount }: Grant, orderId?: string): Promise<string> {
    const ref = orderId === undefined ? undefined : { type: 'order', id: orderId };
    await this.ledger.post(tx, orgId, { kind: 'grant', key, bucket: 'granted', amount: plus(amount), ref });
    return key;
  }

  /** Grants the credits of a month that no order brings, once to it. @returns how many */
  async grantMonth(tx: Tx, orgId: string, plan: Plan, start: Date): Promise<string> {
    const grant = { key: periodKey(orgId, plan, start), amount: plus(plan.monthly_credits) };
    if (isZero(grant.amount) || (await this.repository.isPosted(tx, grant.key))) return '0';
    await this.grant(tx, orgId, grant);
    return grant.amount;
  }
}
