import { Inject, Injectable, Optional } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database } from '@aps/platform/database';
import { BillingEffects } from './billing-effects';
import { BillingEventsQueries } from './billing-events.queries';
import { DeliveriesService } from './deliveries.service';

/** What running a delivery's effect again has done. */
export interface Replay {
  event_id: string;
  outcome: 'applied' | 'no_op' | 'failed';
  detail: string | null;
  ledger_keys: string[];
}

/** Where effects are in this build; undefined where they are not. */
export const REPLAYED_EFFECTS = Symbol('REPLAYED_EFFECTS');

/** Makes good what went wrong with deliveries. */
@Injectable()
export class ReplayService {
  constructor(
    private readonly db: Database,
    private readonly events: BillingEventsQueries,
    private readonly deliveries: DeliveriesService,
    private readonly audit: Audit,
    @Optional() @Inject(REPLAYED_EFFECTS) private readonly effects?: BillingEffects,
  ) {}

  /**
   * Neither its status nor its count of tries changes: those tell what became of the delivery when it came. Where nothing is left to do, it is
   * settled; a refund only where it was applied in full.
   *
   * @throws DomainError 404 `not_found`, 409 `already_applied`, 503 `effect_missing`
   */
  async replay(operator: ActingUser, id: string): Promise<Replay> {
    const event = await this.events.get(id);
    const { effects } = this;
    if (!effects) {
      const symbol = BillingEffects.symbolOf(event.type);
      throw new DomainError('effect_missing', `${symbol} is not in this build.`, { context: { symbol } });
    }
    if (event.status === 'applied') throw new DomainError('already_applied', 'The delivery was applied.');
    try {
      return await this.db.transaction(operator, async (tx) => {
        const effect = await effects.apply(tx, event, operator);
        const { outcome, org_id: orgId, detail, ledger_keys } = effect;
        await this.deliveries.wake(tx, effect, id);
        // A refund that found too little is noted as done, too: what is short is for humans to decide about, who read it in the audit log.
        const isDone = outcome === 'no_op' ? event.type !== 'order.refunded' : REPLAYED[outcome] !== 'failed';
        const settled = isDone && (await this.deliveries.settle(tx, id));
        const isShort = outcome === 'unresolved' && event.type === 'order.refunded';
        if (outcome === 'applied' || ledger_keys.length || settled || isShort) {
          const facts = { type: event.type, outcome, detail, ledger_keys, settled };
          await this.audit.record(tx, { orgId, actor: operator }, 'billing_event.replayed', id, facts);
        }
        return { event_id: id, outcome: REPLAYED[outcome], detail, ledger_keys };
      });
    } catch (error) {
      // Refused to the operator, and not to the delivery.
      if (error instanceof DomainError) throw error;
      return { event_id: id, outcome: 'failed', detail: String((error as Error).message), ledger_keys: [] };
    }
  }

  /**
   * Says that what a replay cannot do was done by hand, or that nothing is to be done. Again, it changes nothing.
   *
   * @throws DomainError 404 `not_found`, 409 `already_applied`
   */
  settle(operator: ActingUser, id: string, reason: string): Promise<void> {
    return this.db.transaction(operator, async (tx) => {
      const settled = await this.deliveries.settle(tx, id);
      const { type, org_id: orgId, settled_at } = await this.events.get(id, tx);
      if (!settled_at) throw new DomainError('already_applied', 'The delivery waits for nobody.');
      if (settled) await this.audit.record(tx, { orgId, actor: operator }, 'billing_event.settled', id, { type, reason });
    });
  }
}

const REPLAYED = { applied: 'applied', no_op: 'no_op', ignored: 'no_op', unresolved: 'failed' } as const;
