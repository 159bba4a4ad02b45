import { Injectable } from '@nestjs/common';
import { DomainError, refuseValue } from '@aps/contracts';
import { Plan, type SubscriptionStatus } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { changesOf, Database, Table } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { uuidv7 } from 'uuidv7';
import { isPositive, isZero, minus, negated, plus } from '../amounts';
import { billingConfig } from '../billing.config';
import { Ledger } from '../ledger/ledger.repository';
import { CreditAccountsQueries, type CreditAccount } from './credit-accounts.queries';
import { Grants } from './grants';
import { overridden } from './overrides.policy';
import { isMonth } from './periods.policy';
import { Periods, type PeriodRoll } from './periods.service';
import { SubscriptionsRepository } from './subscriptions.repository';
import { Subscriptions } from './subscriptions.service';

/** What an operator wishes of a subscription. Absent leaves it as it is. */
export interface SubscriptionWish {
  plan_code?: string;
  status?: SubscriptionStatus;
  period_end?: string | null;
  /** By name: absent stays, null inherits, a value sets. */
  overrides?: Record<string, unknown>;
  override_reason?: string | null;
}

/** What operators do to an organization's plan and credits. Each is safe to do twice, and on record once. */
@Injectable()
export class CreditAccountsService {
  private readonly plans = new Table(Plan);

  constructor(
    private readonly db: Database,
    private readonly subscriptions: Subscriptions,
    private readonly grants: Grants,
    private readonly periods: Periods,
    private readonly repository: SubscriptionsRepository,
    private readonly ledger: Ledger,
    private readonly accounts: CreditAccountsQueries,
    private readonly audit: Audit,
    private readonly idempotency: IdempotencyStore,
  ) {}

  /**
   * Posts a correction. A debit takes granted credits, bought ones, then granted ones below zero without limit.
   *
   * @param attempt what an earlier try of it has posted is answered, and not posted again
   * @throws DomainError 404; 422 for zero
   */
  adjust(operator: ActingUser, orgId: string, { delta, reason }: { delta: string; reason: string }, attempt?: Attempt) {
    if (isZero(delta)) throw zero();
    return this.db.transaction(operator, async (tx) => {
      await this.accounts.get(orgId, tx);
      const id = attempt?.resourceId ?? uuidv7();
      const key = `adjust:${id}`;
      if (!attempt?.resourceId) {
        if (attempt) await this.idempotency.attach(tx, attempt, id);
        const isCredit = isPositive(delta);
        const amount = plus(isCredit ? delta : negated(delta));
        await this.audit.record(tx, { orgId, actor: operator }, 'credits.adjusted', target(orgId), { delta: plus(delta), reason });
        await this.ledger.post(tx, orgId, {
          kind: 'adjust',
          key,
          bucket: isCredit ? 'granted' : null,
          amount,
          reason,
          actor_id: operator.userId,
        });
      }
      const { balance, purchased_balance, credits_remaining } = await this.accounts.get(orgId, tx);
      return { ledger_id: (await this.repository.postedBy(tx, key))!, delta: plus(delta), balance, purchased_balance, credits_remaining };
    });
  }

  /**
   * Changes a subscription. Another plan expires what the outgoing one granted and brings its own allocation, once ever.
   *
   * @throws DomainError 404 for an unknown organization or plan; 409 `not_subscribed` without a plan to begin with; 422 for overrides that are none
   */
  update(operator: ActingUser, orgId: string, wish: SubscriptionWish): Promise<CreditAccount> {
    return this.db.transaction(operator, async (tx) => {
      await this.accounts.get(orgId, tx);
      const before = (await this.repository.lock(tx, orgId))?.subscription;
      const plan = wish.plan_code === undefined ? null : await this.plans.get(tx, { code: wish.plan_code });
      if (!before && !plan) throw new DomainError('not_subscribed', 'This organization has no subscription yet; name a plan_code.');
      const overrides = wish.overrides && overridden(before?.overrides ?? {}, wish.overrides);
      const isChange = plan !== null && plan.id !== before?.plan_id;
      const period_end = typeof wish.period_end === 'string' ? new Date(wish.period_end) : wish.period_end;
      if (isChange) await this.subscriptions.change(tx, orgId, plan, `${orgId}:change:${uuidv7()}`);
      // What the new plan brings is no wish.
      const { subscription, plan: held } = (await this.repository.find(tx, orgId))!;
      const changes = changesOf(subscription, {
        status: wish.status,
        period_end,
        overrides,
        override_reason: wish.override_reason,
      });
      if (Object.keys(changes).length) {
        // An end without a beginning: the subscription ends with it where its plan does not renew.
        const alone = !held.renews && { period_start: null };
        const anchored = changes.period_end && { period_anchor: changes.period_end, ...alone };
        await this.repository.save(tx, orgId, { plan_id: subscription.plan_id, ...changes, ...anchored });
        this.subscriptions.announce(tx, orgId);
      }
      if (isChange || Object.keys(changes).length) {
        const facts = { ...(isChange && { plan_code: plan.code }), ...changes };
        await this.audit.record(tx, { orgId, actor: operator }, 'subscription.updated', target(orgId), { changes: facts });
      }
      return this.accounts.get(orgId, tx);
    });
  }

  /**
   * Sets an organization to where its plan begins: the plan itself, no overrides, a new period, and granted credits of its allocation, by
   * one posting. Where it stands there already, nothing is written. What was bought stays.
   *
   * @param attempt where an earlier try of it has written something, nothing is written any more
   * @throws DomainError 404 for an unknown organization or plan
   */
  resetBaseline(
    operator: ActingUser,
    orgId: string,
    { plan_code, reason }: { plan_code: string; reason?: string | null },
    attempt?: Attempt,
  ) {
    return this.db.transaction(operator, async (tx) => {
      await this.accounts.get(orgId, tx);
      const plan = await this.plans.get(tx, { code: plan_code });
      const before = await this.repository.lock(tx, orgId);
      const baseline = plus(plan.initial_credits, plan.monthly_credits);
      const { balance } = await this.ledger.lock(tx, orgId);
      const isThere =
        before?.plan.id === plan.id &&
        before.subscription.status === 'active' &&
        (plan.renews ? isMonth(before.subscription) : before.subscription.period_end === null) &&
        !Object.keys(before.subscription.overrides).length &&
        isZero(minus(baseline, balance));
      let ledger_written = false;
      if (!isThere && !attempt?.resourceId) {
        if (attempt) await this.idempotency.attach(tx, attempt, orgId);
        await this.subscriptions.begin(tx, orgId, plan, before);
        await this.repository.save(tx, orgId, { plan_id: plan.id, overrides: {}, override_reason: null });
        const granted = await this.grants.allocate(tx, orgId, plan);
        const difference = minus(baseline, plus(balance, granted?.amount ?? '0'));
        ledger_written = granted !== null || !isZero(difference);
        if (!isZero(difference)) {
          const key = `reset:${orgId}:${plan.id}:${(await this.repository.countResets(tx, orgId)) + 1}`;
          await this.ledger.post(tx, orgId, {
            kind: 'reset',
            key,
            bucket: 'granted',
            amount: difference,
            reason,
            actor_id: operator.userId,
          });
        }
        const facts = { plan_code, from: before?.plan.code ?? null, balance: { from: balance, to: baseline }, reason: reason ?? null };
        await this.audit.record(tx, { orgId, actor: operator }, 'credits.reset', target(orgId), facts);
        this.subscriptions.announce(tx, orgId);
      }
      const after = (await this.repository.find(tx, orgId))!.subscription;
      return {
        plan_code,
        balance: baseline,
        ledger_written,
        period_start: after.period_start,
        period_end: after.period_end,
      };
    });
  }

  /**
   * Closes the period of an organization if it is over; forced, now.
   *
   * @param attempt where an earlier try of it has closed one, none is forced any more
   * @throws DomainError 404; 403 `forced_roll_disabled` unless the deployment allows it
   */
  rollPeriod(operator: ActingUser, orgId: string, force: boolean, attempt?: Attempt): Promise<PeriodRoll> {
    if (force && !billingConfig.value.forcePeriodRoll) {
      throw new DomainError('forced_roll_disabled', 'This deployment does not end periods before they are over.');
    }
    return this.db.transaction(operator, async (tx) => {
      await this.accounts.get(orgId, tx);
      const roll = await this.periods.close(tx, orgId, { force: force && !attempt?.resourceId });
      if (roll.rolled) {
        if (attempt) await this.idempotency.attach(tx, attempt, orgId);
        const facts = { force, expired: roll.expired, granted: roll.granted };
        await this.audit.record(tx, { orgId, actor: operator }, 'subscription.period_rolled', target(orgId), facts);
      }
      return roll;
    });
  }
}

const target = (orgId: string) => ({ kind: 'organization', id: orgId });
const zero = () => refuseValue(['body', 'delta'], 'An adjustment of zero adjusts nothing');
