import { Injectable, Logger } from '@nestjs/common';
import { Database, isConnectionLoss, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { Ledger } from '../ledger/ledger.repository';
import { Grants } from './grants';
import { ENTITLED, nextPeriodEnd, NO_PERIOD, ORDER_AWAITED_MS, payerOf } from './periods.policy';
import { SubscriptionsRepository, type Subscribed } from './subscriptions.repository';
import { Subscriptions } from './subscriptions.service';

/** What closing a period did, and why it did not. */
export interface PeriodRoll {
  rolled: boolean;
  reason: 'rolled' | 'not_due' | 'no_period' | 'unsubscribed' | 'waiting_for_payment';
  period_start: Date | null;
  period_end: Date | null;
  expired: string;
  granted: string;
}

const PERIOD_END = { kind: 'system', userId: null, reason: 'end of the period' } as const;

/** The ends of periods, whoever causes them: the clock, or an operator. */
@Injectable()
export class Periods {
  private readonly logger = new Logger('Periods');

  constructor(
    private readonly db: Database,
    private readonly repository: SubscriptionsRepository,
    private readonly subscriptions: Subscriptions,
    private readonly grants: Grants,
    private readonly ledger: Ledger,
  ) {}

  /**
   * Closes a period that is over and opens the next. Where the provider's order pays it, that is waited for; it does both then.
   *
   * @param force closes it now, whoever pays
   */
  async close(tx: Tx, orgId: string, { force = false } = {}): Promise<PeriodRoll> {
    const before = await this.repository.lock(tx, orgId);
    const none = {
      rolled: false,
      period_start: before?.subscription.period_start ?? null,
      period_end: before?.subscription.period_end ?? null,
      expired: '0',
      granted: '0',
    };
    if (!before || !ENTITLED.includes(before.subscription.status)) return { ...none, reason: 'unsubscribed' };
    const { subscription, plan, external } = before;
    const { period_end } = subscription;
    if (!period_end) return { ...none, reason: 'no_period' };
    const now = this.db.now();
    if (!force && period_end > now) return { ...none, reason: 'not_due' };
    const payer = payerOf(external, period_end);
    // An order that is newer than the end of its subscription has put the plan back, and what it paid is over.
    if (external?.revoked_at && payer === 'nobody' && !force) {
      const expired = await this.expired(tx, orgId, period_end);
      await this.subscriptions.revoked(tx, { orgId, actor: PERIOD_END }, orgId);
      const { period_start, period_end: end } = (await this.repository.find(tx, orgId))!.subscription;
      return { ...none, rolled: true, reason: 'rolled', period_start, period_end: end, expired };
    }
    // It began while its plan renewed, which it does no more. An end that an operator has set stands alone, and ends the subscription.
    if (!plan.renews && subscription.period_start) {
      await this.repository.save(tx, orgId, { plan_id: plan.id, ...NO_PERIOD });
      this.subscriptions.announce(tx, orgId);
      return { ...none, reason: 'no_period', period_start: null, period_end: null };
    }
    if (payer === 'order' && !force) return this.await(tx, orgId, before, now, none);
    // Who has to pay, and is not awaited, has no next period until somebody says so.
    if (subscription.status === 'past_due' && payer === 'nobody' && !force) return { ...none, reason: 'waiting_for_payment' };

    const closedAt = force && period_end > now ? now : period_end;
    const expired = await this.expired(tx, orgId, closedAt);
    if (!plan.renews) {
      await this.repository.save(tx, orgId, { plan_id: plan.id, status: 'expired' });
      this.subscriptions.announce(tx, orgId);
      return { ...none, rolled: true, reason: 'rolled', expired };
    }
    // Forced while somebody pays, the next period begins early and ends as it would have: its order finds it open.
    const anchor = closedAt === period_end || payer !== 'nobody' ? (subscription.period_anchor ?? period_end) : closedAt;
    const end = nextPeriodEnd(anchor, payer === 'nobody' ? closedAt : period_end);
    const next = {
      period_start: closedAt,
      period_end: payer === 'year' ? earlier(end, external!.current_period_end!) : end,
      period_anchor: anchor,
    };
    await this.repository.save(tx, orgId, { plan_id: plan.id, ...next, ...(payer !== 'order' && { status: 'active' as const }) });
    const granted = await this.grants.grantMonth(tx, orgId, plan, closedAt);
    this.subscriptions.announce(tx, orgId);
    return { rolled: true, reason: 'rolled', period_start: next.period_start, period_end: next.period_end, expired, granted };
  }

  /**
   * Closes what is due, so many in one look. What is wrong with one organization keeps no other from it.
   *
   * @returns how many were touched
   * @throws Error in the end, where some could not be closed: they are tried again with the next
   */
  async closeDue(batch: number): Promise<number> {
    const touched: string[] = [];
    let failed = 0;
    for (let due = await this.dueBut(touched, batch); due.length; due = await this.dueBut(touched, batch)) {
      for (const orgId of due) if (!(await this.closeOne(orgId))) failed += 1;
      touched.push(...due);
    }
    if (failed) throw new Error(`${failed} of ${touched.length} periods could not be closed`);
    return touched.length;
  }

  private dueBut(touched: string[], limit: number): Promise<string[]> {
    return this.repository.due(this.db, ORDER_AWAITED_MS, { limit, but: touched });
  }

  /** @returns false where it could not be closed */
  private async closeOne(orgId: string): Promise<boolean> {
    try {
      await this.db.transaction({}, (tx) => this.close(tx, orgId));
      return true;
    } catch (error) {
      if (isConnectionLoss(error)) throw error;
      this.logger.error(`The period of organization ${orgId} could not be closed: ${(error as Error).message}`);
      return false;
    }
  }

  /** A period is over, and its order has not come. */
  private async await(
    tx: Tx,
    orgId: string,
    { subscription, plan, external }: Subscribed,
    now: Date,
    none: Omit<PeriodRoll, 'reason'>,
  ): Promise<PeriodRoll> {
    const end = subscription.period_end!;
    if (now.getTime() - end.getTime() < ORDER_AWAITED_MS) {
      if (subscription.status !== 'past_due') {
        await this.repository.save(tx, orgId, { plan_id: plan.id, status: 'past_due' });
        this.subscriptions.announce(tx, orgId);
      }
      return { ...none, reason: 'waiting_for_payment' };
    }
    const expired = await this.expired(tx, orgId, end);
    // It was canceled, and the event that says so was lost.
    if (external?.cancel_at_period_end) {
      await this.repository.presumeCanceled(tx, external.id);
      await this.subscriptions.revoked(tx, { orgId, actor: PERIOD_END }, orgId);
    }
    // No period until it is paid; the provider goes on asking for the money, or ends the subscription.
    else await this.repository.save(tx, orgId, { plan_id: plan.id, ...NO_PERIOD });
    this.subscriptions.announce(tx, orgId);
    return { ...none, reason: 'waiting_for_payment', period_start: null, period_end: null, expired };
  }

  private async expired(tx: Tx, orgId: string, end: Date): Promise<string> {
    const { balance } = await this.ledger.lock(tx, orgId);
    const key = `expire:${orgId}:${end.toISOString()}`;
    // An operator may have set the same end once more: that is another close.
    const isFirst = !(await this.repository.isPosted(tx, key));
    return (await this.grants.expire(tx, orgId, isFirst ? key : `${key}:${uuidv7()}`)) ? balance : '0';
  }
}

const earlier = (a: Date, b: Date): Date => (a < b ? a : b);
