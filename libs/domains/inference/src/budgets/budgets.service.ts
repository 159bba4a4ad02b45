import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Blockers, Entitlements, type Blocker } from '@aps/billing';
import { Database, type Db } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { uuidv7 } from 'uuidv7';
import { BudgetRepository, type Reserved } from './budget.repository';
import type { Usage } from '../client';
import { estimateOf } from './estimate.policy';
import { InferenceError } from '../inference.errors';
import { InferenceSettings } from '../inference.settings';
import type { ModelCall } from '../model-calls.service';
import type { ResolvedModel } from '../choice/model-resolver.service';
import { priceOf } from '../pricing';

/** Far less than a reservation holds without. */
const RENEW_MS = 60_000;

const refused = counter(
  'budget_refused_calls_total',
  'Model calls that were not made because the budget of their organization was used up',
  ['feature'],
);

/** What calls models, one call at a time, until a receipt tells what they used. */
export interface BudgetedWork {
  orgId: string;
  /** The budget caps what chats spend; work that belongs to none reserves nothing. */
  chatId: string | null;
  /** Names it. Whoever does it again after its worker was lost names it so again, and does not count twice. */
  name: string;
  /** As on its receipt. */
  feature: string;
  /** Id of its receipt. Default: a new UUIDv7. */
  receiptId?: string;
  /** Nothing is reserved before it. */
  after?: Promise<void>;
}

/** What a piece of work holds of its organization's budget. */
export interface BudgetHold {
  /** The receipt with this id ends the reservation by being written. */
  readonly receiptId: string;
  /**
   * Comes before each call. Without a budget it asks nothing.
   *
   * @param used what earlier calls have used that stand on the same receipt
   * @throws InferenceError `budget_exceeded`
   */
  reserve(model: ResolvedModel, call: ModelCall, used?: Usage | null): Promise<void>;
  /** Ends the reservation where no receipt will. */
  release(): Promise<void>;
}

/**
 * Holds organizations to their budget: each model call of a chat reserves what it may cost before it is made. The budget is the row's at
 * that moment; that there is one is held in memory with the other settings. Where credits are paid, it has no effect.
 */
@Injectable()
export class Budgets extends Blockers implements OnApplicationShutdown {
  private readonly logger = new Logger('Budgets');
  private readonly held = new Map<string, Reserved>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly db: Database,
    private readonly repository: BudgetRepository,
    private readonly settings: InferenceSettings,
    private readonly entitlements: Entitlements,
  ) {
    super();
    this.timer = setInterval(() => void this.renew(), RENEW_MS).unref();
  }

  async of(orgId: string, db: Db = this.db): Promise<Blocker | null> {
    if (!(await this.caps(orgId, db))) return null;
    const use = await this.repository.use(db, orgId);
    if (!use?.used_up) return null;
    return { code: 'budget_exceeded', budget_limit_usd: use.budget_limit_usd, spend_usd: use.spend_usd };
  }

  /** Does work that calls models. What it holds ends with its receipt; where it fails, with the failure. */
  async holding<T>(work: BudgetedWork, act: (hold: BudgetHold) => Promise<T>): Promise<T> {
    const { receiptId = uuidv7() } = work;
    const reserved = { work: work.name, receipt_id: receiptId };
    const hold: BudgetHold = {
      receiptId,
      reserve: async (model, call, used) => {
        if (work.chatId === null || !(await this.caps(work.orgId))) return;
        await work.after;
        // Known before it is there: what fails on the way may have been written.
        this.held.set(receiptId, reserved);
        const costs = { usd: estimateOf(model, call), spent_usd: (used && priceOf(model.entry, used).usd) ?? '0' };
        if (await this.repository.reserve(this.db, { ...reserved, org_id: work.orgId, ...costs })) return;
        refused.inc({ feature: work.feature });
        throw new InferenceError('budget_exceeded', 'The budget of this organization is used up.');
      },
      release: async () => {
        if (!this.held.delete(receiptId)) return;
        // It ends by itself, if later.
        await this.repository
          .release(this.db, reserved)
          .catch((error: Error) => this.logger.warn(`A reservation was not ended: ${error.message}`));
      },
    };
    try {
      return await act(hold);
    } catch (error) {
      await hold.release();
      throw error;
    } finally {
      this.held.delete(receiptId);
    }
  }

  /** Renews all that this process holds. */
  async renew(): Promise<void> {
    if (this.held.size === 0) return;
    await this.repository
      .renew(this.db, [...this.held.values()])
      .catch((error: Error) => this.logger.warn(`Reservations were not renewed: ${error.message}`));
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async caps(orgId: string, db?: Db): Promise<boolean> {
    return (await this.settings.hasBudget(orgId)) && !(await this.entitlements.has(orgId, 'enforces_credits', db));
  }
}
