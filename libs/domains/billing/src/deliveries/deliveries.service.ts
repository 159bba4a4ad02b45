import { Injectable, Logger } from '@nestjs/common';
import { DomainError, QUEUE_POLICY } from '@aps/contracts';
import { isSignedWebhook, isTimely, type WebhookHeaders } from '@aps/platform/crypto';
import { Database, NO_CALLER, storable, type Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { Outbox } from '@aps/platform/outbox';
import { uuidv7 } from 'uuidv7';
import { providerConfig } from '../provider/provider.config';
import { BillingEffects, type Effect } from './billing-effects';
import { DeliveriesRepository, type StoredDelivery } from './deliveries.repository';

const taken = counter(
  'billing_deliveries_total',
  'Deliveries of the payment provider, by what was answered',
  ['outcome'],
  [{ outcome: 'failed' }],
);
const applied = counter('billing_deliveries_applied_total', 'Deliveries that were gone through, by what came of it', ['outcome']);

const MAX_TYPE = 200;
const MAX_ERROR = 500;
/** SQLSTATEs of a text that is JSON and that PostgreSQL does not keep: escapes and numbers that it does not know, and too deep a nesting. */
const NOT_KEPT = /^(22|54)/;

/** Takes the deliveries of the payment provider in, and applies them. */
@Injectable()
export class DeliveriesService {
  private readonly logger = new Logger('Deliveries');

  constructor(
    private readonly db: Database,
    private readonly repository: DeliveriesRepository,
    private readonly effects: BillingEffects,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Stores a delivery, once, and no more: what it does is a job's, so whatever may be wrong with that is no concern of the provider's,
   * who stops to deliver where others refuse ten in a row.
   *
   * @param headers null where they are not as they must be
   * @returns the id under which it is stored
   * @throws DomainError 403 `signature_invalid` or `signature_stale`; nothing is kept then
   */
  async receive(headers: WebhookHeaders | null, body: Buffer): Promise<string> {
    this.prove(headers, body);
    const { id, isNew } = await this.keep(headers, body).catch((error: unknown) => {
      taken.inc({ outcome: 'failed' });
      throw error;
    });
    taken.inc({ outcome: isNew ? 'stored' : 'repeated' });
    return id;
  }

  private prove(headers: WebhookHeaders | null, body: Buffer): asserts headers is WebhookHeaders {
    const signed = headers !== null && isSignedWebhook(headers, body, providerConfig.value.webhookSecrets);
    if (signed && isTimely(headers, this.db.now())) return;
    taken.inc({ outcome: 'refused' });
    if (signed) throw new DomainError('signature_stale', 'The delivery is too old, or its time is yet to come.');
    throw new DomainError('signature_invalid', 'The delivery is not signed as it must be.');
  }

  private async keep({ id }: WebhookHeaders, body: Buffer): Promise<{ id: string; isNew: boolean }> {
    const event = readEvent(body);
    if (event) {
      try {
        return await this.store(id, { ...event, status: 'received', error: null });
      } catch (error) {
        if (!NOT_KEPT.test((error as { code?: string }).code ?? '')) throw error;
      }
    }
    const unreadable = {
      payload: JSON.stringify({ unreadable: body.toString('base64') }),
      error: 'The body is no JSON object that can be kept.',
    };
    // What would have changed something, a payment perhaps, is for humans.
    if (event && BillingEffects.knows(event.type)) return this.store(id, { ...unreadable, type: event.type, status: 'unresolved' });
    return this.store(id, { ...unreadable, type: 'unreadable', status: 'ignored' });
  }

  /** With its job, and with others that come at the same moment, in one statement: the provider waits for it. */
  private async store(delivery_id: string, event: Omit<StoredDelivery, 'id' | 'delivery_id'>): Promise<{ id: string; isNew: boolean }> {
    const id = uuidv7();
    if (!(await this.repository.store(this.db, { id, delivery_id, ...event })))
      return { id: await this.repository.idOf(this.db, delivery_id), isNew: false };
    // The provider waits for what is stored alone.
    if (event.status === 'received') void this.outbox.handOut(this.db, [{ id, name: 'billing.apply', payload: { event_id: id } }]);
    return { id, isNew: true };
  }

  /**
   * Goes through a stored delivery, and removes its job with what that does. One that was gone through before is left alone.
   *
   * @throws Error to be tried again later
   */
  async apply(id: string, jobId: string): Promise<void> {
    const event = await this.repository.begin(this.db, id);
    if (!event) return void (await this.outbox.cancel(this.db, jobId));
    const { attempts, backoffMs } = QUEUE_POLICY.billing;
    try {
      // Whoever ends the process that applies it would do so without an end.
      if (event.attempts > attempts) throw new Error(`The process of the last of ${attempts} tries died`);
      const { outcome } = await this.db.transaction(NO_CALLER, async (tx) => {
        const effect = await this.effects.apply(tx, event);
        await this.repository.stamp(tx, id, { ...stampOf(effect), error: effect.detail }, jobId);
        await this.wake(tx, effect, id);
        return effect;
      });
      applied.inc({ outcome });
      if (outcome === 'unresolved') this.logger.warn(`Delivery ${id} (${event.type}) could not be resolved`);
    } catch (error) {
      const isLast = event.attempts >= attempts;
      const againInS = isLast ? null : (backoffMs / 1_000) * 2 ** event.attempts;
      await this.repository.fail(this.db, id, String((error as Error).message).slice(0, MAX_ERROR), againInS);
      applied.inc({ outcome: isLast ? 'given_up' : 'failed' });
      if (!isLast) throw error;
      await this.outbox.cancel(this.db, jobId);
      this.logger.error({ msg: 'Gave up on a delivery', event_id: id, type: event.type, error: (error as Error).stack });
    }
  }

  /** Hands out again what waits for a try and has no job. @returns how many there were */
  async sweep(limit: number): Promise<number> {
    const left = await this.repository.left(this.db, limit);
    for (const id of left) await this.db.transaction(NO_CALLER, (tx) => this.enqueue(tx, id));
    return left.length;
  }

  /** It waits for nobody any more. @returns false where it did not */
  settle(tx: Tx, id: string): Promise<boolean> {
    return this.repository.settle(tx, id);
  }

  /** Those that could not be resolved and are about the same have another try, by a job of its own: that of the last may be just ending. */
  async wake(tx: Tx, { outcome, about }: Effect, id: string): Promise<void> {
    if (outcome !== 'applied' || about.length === 0) return;
    for (const event_id of await this.repository.wake(tx, about, id)) await this.outbox.enqueue(tx, 'billing.apply', { event_id });
  }

  /** Under the id of the delivery: a job that is there is not doubled. */
  private enqueue(tx: Tx, id: string): Promise<string> {
    return this.outbox.enqueue(tx, 'billing.apply', { event_id: id }, { id });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @returns null where it is no object in JSON */
function readEvent(body: Buffer): { type: string; payload: string } | null {
  try {
    const payload = utf8.decode(body);
    const event: unknown = JSON.parse(payload);
    if (typeof event !== 'object' || event === null || Array.isArray(event)) return null;
    const { type } = event as { type?: unknown };
    return { type: typeof type === 'string' ? storable(type).slice(0, MAX_TYPE) : '', payload };
  } catch {
    return null;
  }
}

/** What was done before, or what is newer, has been applied, too. */
const stampOf = ({ outcome, org_id }: Effect) => ({ status: outcome === 'no_op' ? ('applied' as const) : outcome, org_id });
