import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Blockers, Entitlements, Money, RateCards, text, type Blocker, type CallBlocker } from '@aps/billing';
import { ViewCache } from '@aps/platform/cache';
import { Database, type Db } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { uuidv7 } from 'uuidv7';
import { chargeFor, type Terms } from '../charge';
import type { ChatResult, StreamOptions, Usage } from '../client';
import { Allowances, type Spender } from './allowances';
import { HoldRepository, type CreditUse, type Reserved, type Reserving, type Verdict, type WideHold } from './hold.repository';
import { ESTIMATED_SECONDS, estimateOf, type EstimatedCall } from './estimate.policy';
import { InferenceError } from '../inference.errors';
import { InferenceSettings } from '../inference.settings';
import { ModelCalls, type ModelCall } from '../model-calls.service';
import type { ResolvedModel } from '../choice/model-resolver.service';
import { isPriced, priceOf, withoutPrice } from '../pricing';
import { costOf, receiptRow, type CallCost, type ReceiptRow } from '../receipts.repository';

/** Far less than a reservation holds without. */
const RENEW_MS = 60_000;
/** How long it is believed whether an agent has a budget. */
const BUDGETED_MS = 10_000;
const MAX_AGENTS = 20_000;
/** How often what was taken for calls to come is given back where they do not come. */
const SWEEP_MS = 1_000;

const REFUSED = {
  budget_exceeded: {
    calls: counter(
      'budget_refused_calls_total',
      'Model calls that were not made because the budget of their organization, or their agent, was used up',
      ['feature'],
    ),
    says: 'The budget of this organization is used up.',
  },
  credits_exhausted: {
    calls: counter('credits_refused_calls_total', 'Model calls that were not made because their organization was out of credits', [
      'feature',
    ]),
    says: 'This organization is out of credits.',
  },
} as const;

const AGENT_BUDGET = 'The budget of this agent is used up.';

/** What calls models, one call at a time, until a receipt tells what they used. */
export interface HoldingWork {
  orgId: string;
  /** The budget caps what chats spend; work that belongs to none reserves nothing of it. */
  chatId: string | null;
  /** Whom it is done for, if for an agent. */
  agentId: string | null;
  /** Names it. Whoever does it again after its worker was lost names it so again, and does not count twice. */
  name: string;
  /** As on its receipt. */
  feature: string;
  /** Id of its receipt. Default: a new UUIDv7. */
  receiptId?: string;
  /** Somebody has let it through without a price. */
  unpricedAllowed?: boolean;
  /** Nothing is reserved before it. */
  after?: Promise<void>;
  /**
   * What whoever wants it done lets it spend, beside the limits of its organization. Asked before each call.
   *
   * @param used credits that its earlier calls have used
   * @throws InferenceError `budget_exceeded`
   */
  budget?: (used: string) => Promise<void>;
}

/** What is heard of a call, what ends it, and what comes first. */
export interface AskOptions extends StreamOptions {
  /** Comes once the call is reserved, right before it is made; what it throws keeps it from being made. */
  before?: () => Promise<void>;
}

/** What puts texts into numbers or in order. */
export type TextModels = Pick<ModelCalls, 'embed' | 'rerank'>;

/** What a call has come to. */
export interface MeteredResult {
  usage: Usage;
  /** Default: as it is measured here. */
  durationMs?: number;
  firstTokenMs?: number | null;
}

/** What a piece of work holds of its organization's budget or credits, and what it is charged by. */
export interface WorkHold {
  /**
   * Has a model answer: reserves what the call may cost, makes it, and adds its receipt. Without a budget, and where no credits are paid, reserving asks
   * nothing but whether its agent has one; where there is plenty of either, hardly ever. Without a subscription that counts, every call is refused.
   *
   * @throws InferenceError, of the call or, before it is made, `budget_exceeded`, `credits_exhausted`; `model_unavailable` for a model without a price
   *   where credits are paid; the reason of the signal; what `onEvent` and `before` throw
   */
  ask(model: ResolvedModel, call: ModelCall, options?: AskOptions): Promise<ChatResult>;
  /**
   * The same of what embeds and reranks: one call of `models`, which is all that the receipt tells of.
   *
   * @param estimated what the model is to read and may write, as a chat would have it
   */
  metered<R extends MeteredResult>(model: ResolvedModel, estimated: EstimatedCall, call: (models: TextModels) => Promise<R>): Promise<R>;
  /**
   * Of each call that was answered, in their order. They are written together: the first has the id that ends the reservation. What further calls may cost is
   * reserved beside what these have come to.
   */
  readonly receipts: readonly ReceiptRow[];
  /** Ends the reservation where no receipt will. */
  release(): Promise<void>;
}

/** What a call would cost at most, and whether it would be made. Amounts are decimal texts. */
export interface Quote {
  /** What would keep it. */
  blocker: CallBlocker | null;
  input_tokens: number;
  max_output_tokens: number;
  credits: string;
  /** Null without a price in dollars. */
  cost_usd: string | null;
  /** Null where no credits are paid. */
  credits_remaining: string | null;
}

/**
 * Holds organizations to their credits or, where none are paid, their budget: each model call reserves what it may cost before it is made.
 * What is left is the rows' at that moment; that there is a limit is held in memory with the other settings. What a call is charged by is
 * decided when its work begins, and its receipt says it: the one place where calls are metered.
 */
@Injectable()
export class Holds extends Blockers implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('Holds');
  private readonly held = new Set<Reserved>();
  /** Agents whose live revision sets a budget. */
  private readonly budgeted: ViewCache<string, boolean>;
  private readonly allowances: Allowances;
  private readonly timers: NodeJS.Timeout[];

  constructor(
    private readonly db: Database,
    private readonly repository: HoldRepository,
    private readonly settings: InferenceSettings,
    private readonly entitlements: Entitlements,
    private readonly cards: RateCards,
    private readonly models: ModelCalls,
  ) {
    super();
    this.allowances = new Allowances(db, repository);
    this.budgeted = new ViewCache(BUDGETED_MS, MAX_AGENTS, (agentId) => repository.hasBudget(db, agentId));
    this.timers = [setInterval(() => void this.renew(), RENEW_MS).unref(), setInterval(() => this.allowances.sweep(), SWEEP_MS).unref()];
  }

  async of(orgId: string, db: Db = this.db): Promise<Blocker | null> {
    const isSubscribed = await this.entitlements.isSubscribed(orgId, db);
    if (!isSubscribed || (await this.entitlements.has(orgId, 'enforces_credits', db))) {
      const use = await this.repository.creditUse(db, orgId);
      if (!isSubscribed) return { code: 'credits_exhausted', credits_remaining: use?.credits_remaining ?? '0', because: 'no_subscription' };
      if (!use || new Money(use.credits_free).greaterThan(0)) return null;
      return { code: 'credits_exhausted', credits_remaining: use.credits_remaining };
    }
    if ((await this.settings.budgetLimit(orgId)) === null) return null;
    const use = await this.repository.budgetUse(db, orgId);
    if (!use?.used_up) return null;
    return { code: 'budget_exceeded', budget_limit_usd: use.budget_limit_usd, spend_usd: use.spend_usd };
  }

  /** What is left for further calls, in credits: nothing without a subscription that counts; null where none are paid. */
  async creditsFree(orgId: string, db: Db = this.db): Promise<string | null> {
    if (!(await this.entitlements.isSubscribed(orgId, db))) return '0';
    if (!(await this.entitlements.has(orgId, 'enforces_credits', db))) return null;
    return (await this.repository.creditUse(db, orgId))?.credits_free ?? null;
  }

  /** Does work that calls models. What it holds ends with its receipt; where it fails, with the failure. */
  async holding<T>(work: HoldingWork, act: (hold: WorkHold) => Promise<T>): Promise<T> {
    const { receiptId = uuidv7(), feature } = work;
    const reserved = { work: work.name, receipt_id: receiptId };
    const ofAgent = { work: `agent:${work.name}`, receipt_id: receiptId };
    const terms = await this.termsOf(work.orgId);
    const isSubscribed = await this.entitlements.isSubscribed(work.orgId);
    const receipts: ReceiptRow[] = [];
    let newest: { spender: Spender; estimate: number } | undefined;
    const reserve = async (model: ResolvedModel, call: EstimatedCall): Promise<void> => {
      if (!isSubscribed) throw refused('credits_exhausted', feature, 'This organization has no subscription that counts.');
      if (!work.unpricedAllowed && isUncounted(terms.enforced, model))
        throw new InferenceError('model_unavailable', withoutPrice(model.entry));
      const spent = costOf(receipts);
      await work.budget?.(spent.credits);
      // Where credits are paid, it is decided with them.
      if (!terms.enforced && work.agentId && (await this.budgeted.get(work.agentId))) {
        const { held, free } = this.estimate({ ...terms, enforced: true }, feature, model, call, spent);
        if (!free) {
          await work.after;
          this.held.add(ofAgent);
          const asking = { ...ofAgent, org_id: work.orgId, agent_id: work.agentId, ...held, unpaid: true };
          if ((await this.repository.reserveCredits(this.db, asking)) !== 'granted')
            throw refused('budget_exceeded', feature, AGENT_BUDGET);
        }
      }
      const limit = terms.enforced || work.chatId === null ? null : await this.settings.budgetLimit(work.orgId);
      if (!terms.enforced && limit === null) return;
      const cost = this.estimate(terms, feature, model, call, spent);
      // A budget that is used up keeps calls that cost nothing, too.
      if (terms.enforced && cost.free) return;
      const spender: Spender = { org_id: work.orgId, agent_id: work.agentId, unit: terms.enforced ? 'credits' : 'usd', limit };
      const estimate = Number(cost.held.amount) + Number(cost.held.spent);
      newest = { spender, estimate };
      const holds = this.held.has(reserved);
      if (!holds && this.allowances.cover(spender, receiptId, estimate)) return;
      await work.after;
      // Known before it is there: what fails on the way may have been written.
      this.held.add(reserved);
      const ask = (wide: WideHold | null) =>
        this.ask(terms, { ...reserved, org_id: work.orgId, agent_id: work.agentId, ...cost.held }, wide);
      const verdict = holds ? await ask(null) : await this.allowances.ask(spender, receiptId, estimate, ask);
      if (verdict === 'plenty') return void this.held.delete(reserved);
      if (verdict === 'granted') return this.allowances.end(receiptId);
      const says = terms.enforced && verdict === 'budget_exceeded' ? AGENT_BUDGET : undefined;
      throw refused(
        verdict,
        feature,
        says,
        verdict === 'credits_exhausted' ? text(new Money(cost.held.amount).plus(cost.held.spent)) : undefined,
      );
    };
    const hold: WorkHold = {
      receipts,
      ask: (model, call, { before, ...options } = {}) =>
        hold.metered(model, call, async () => {
          await before?.();
          return this.models.streamChat(model, call, options);
        }),
      metered: async (model, estimated, call) => {
        await reserve(model, estimated);
        const began = performance.now();
        const result = await call(this.models);
        const { usage, durationMs = performance.now() - began, firstTokenMs } = result;
        const id = receipts.length === 0 ? receiptId : undefined;
        receipts.push(receiptRow({ resolved: model, usage, durationMs, firstTokenMs, id, feature, terms }));
        if (newest && Number(amountOf(terms, costOf(receipts))) > newest.estimate) this.allowances.doubt(newest.spender);
        return result;
      },
      release: async () => {
        for (const each of [reserved, ofAgent]) {
          if (!this.held.delete(each)) continue;
          // It ends by itself, if later.
          await this.repository
            .release(this.db, each)
            .catch((error: Error) => this.logger.warn(`A reservation was not ended: ${error.message}`));
        }
      },
    };
    try {
      return await act(hold);
    } catch (error) {
      await hold.release();
      throw error;
    } finally {
      this.held.delete(reserved);
      this.held.delete(ofAgent);
      this.allowances.end(receiptId);
    }
  }

  /** What a call would be told before it is made. Nothing is held. */
  async quote(work: Pick<HoldingWork, 'orgId' | 'agentId' | 'feature'>, model: ResolvedModel, call: ModelCall): Promise<Quote> {
    const terms = await this.termsOf(work.orgId);
    const usage = estimateOf(model, call);
    const { credits } = chargeFor(terms.card, model, work.feature, usage, ESTIMATED_SECONDS);
    const use = await this.repository.creditUse(this.db, work.orgId, work.agentId);
    return {
      blocker: (terms.enforced ? null : await this.of(work.orgId)) ?? (use && blockerOf(terms, use, credits)),
      input_tokens: usage.input,
      max_output_tokens: usage.output,
      credits,
      cost_usd: priceOf(model.entry, usage).usd,
      credits_remaining: terms.enforced ? (use?.credits_remaining ?? null) : null,
    };
  }

  /** What so many calls would cost that together use so much, in what the organization is held to; null without a price. Nothing is held. */
  async priced(
    orgId: string,
    feature: string,
    model: ResolvedModel,
    usage: Usage,
    calls: number,
  ): Promise<{ credits: string } | { usd: string | null }> {
    const terms = await this.termsOf(orgId);
    // Tiers and fees are about one call.
    const each = mapUsage(usage, (tokens) => Math.ceil(tokens / Math.max(calls, 1)));
    const all = (amount: string) => text(new Money(amount).times(calls));
    if (terms.enforced) return { credits: all(chargeFor(terms.card, model, feature, each, ESTIMATED_SECONDS).credits) };
    const { usd } = priceOf(model.entry, each);
    return { usd: usd && all(usd) };
  }

  /** What calls may cost at most, in credits, for who wants to know it of many; null where no credits are paid. Nothing is held. */
  async estimator(orgId: string, feature: string): Promise<((model: ResolvedModel, call: ModelCall) => string) | null> {
    const terms = await this.termsOf(orgId);
    if (!terms.enforced) return null;
    return (model, call) => chargeFor(terms.card, model, feature, estimateOf(model, call), ESTIMATED_SECONDS).credits;
  }

  /** Renews all that this process holds. */
  async renew(): Promise<void> {
    const held = [...this.held, ...this.allowances.held()];
    if (held.length === 0) return;
    await this.repository.renew(this.db, held).catch((error: Error) => this.logger.warn(`Reservations were not renewed: ${error.message}`));
  }

  beforeApplicationShutdown(): void {
    this.allowances.closeAll();
  }

  onApplicationShutdown(): void {
    this.timers.forEach(clearInterval);
  }

  private async termsOf(orgId: string): Promise<Terms> {
    return { card: await this.cards.current(), enforced: await this.entitlements.has(orgId, 'enforces_credits') };
  }

  /** What is to be held for a call, and whether it costs nothing: then it needs nothing. */
  private estimate(terms: Terms, feature: string, model: ResolvedModel, call: EstimatedCall, spent: CallCost) {
    const usage = estimateOf(model, call);
    const { credits } = chargeFor(terms.card, model, feature, usage, ESTIMATED_SECONDS);
    const amount = amountOf(terms, { credits, usd_cost: priceOf(model.entry, usage).usd });
    const held = { amount, spent: amountOf(terms, spent) };
    return { held, free: held.amount === '0' && held.spent === '0' };
  }

  private ask(terms: Terms, call: Reserving, wide: WideHold | null): Promise<Verdict> {
    return terms.enforced ? this.repository.reserveCredits(this.db, call, wide) : this.repository.reserveBudget(this.db, call, wide);
  }
}

/** Whether nobody knows what a call costs who is to pay it in credits: what the organization pays for by itself costs it none. */
const isUncounted = (enforced: boolean, { entry, byo_key }: ResolvedModel): boolean => enforced && !byo_key && !isPriced(entry);

const mapUsage = (usage: Usage, each: (tokens: number) => number): Usage => ({
  input: each(usage.input),
  cached_input: each(usage.cached_input),
  cache_write: each(usage.cache_write),
  output: each(usage.output),
  reasoning: each(usage.reasoning),
});

/** In what the organization is held to. */
const amountOf = ({ enforced }: Terms, { credits, usd_cost }: CallCost): string => (enforced ? credits : (usd_cost ?? '0'));

/** @param credits what the call may cost, where that is more than there is */
function refused(verdict: keyof typeof REFUSED, feature: string, because?: string, credits?: string): InferenceError {
  const { calls, says } = REFUSED[verdict];
  calls.inc({ feature });
  return new InferenceError(verdict, because ?? says, { credits });
}

/** What keeps a call that may cost so many credits. */
function blockerOf({ enforced }: Terms, use: CreditUse, credits: string): CallBlocker | null {
  if (new Money(credits).isZero()) return null;
  if (enforced && new Money(use.credits_free).lessThan(credits))
    return { code: 'credits_exhausted', credits_remaining: use.credits_remaining };
  if (use.agent_budget === null || new Money(use.agent_used!).lessThan(use.agent_budget)) return null;
  return { code: 'budget_exceeded', budget_credits_per_period: use.agent_budget, spent_credits: use.agent_used! };
}
