import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { signed } from '@aps/platform/testing';
import type { Platform } from '../../api-gateway-e2e/support';

/** What is told once, however often it is sent. */
export interface Delivery {
  /** The provider's name for it. */
  id: string;
  event: object;
}

export const aDelivery = (event: object): Delivery => ({ id: `msg_${randomUUID()}`, event });

/** So long the provider goes on with what nobody takes. */
const PATIENCE_MS = 90_000;
const AGAIN_MS = 200;

/** Delivers as the payment provider does: signed, through the gateway, again and again until it is taken. Keeps who has said so. */
export class Sender {
  /** Under which ids a delivery was said to be stored; more than one of them is a mistake. */
  readonly taken = new Map<string, Set<string>>();
  /** How often something was taken, and how often it was sent. */
  acknowledged = 0;
  sent = 0;

  constructor(private readonly platform: Platform) {}

  /** @throws Error where it is refused, which the provider would hold against us */
  async deliver({ id, event }: Delivery): Promise<string> {
    const secret = this.platform.env.POLAR_WEBHOOK_SECRETS;
    for (const end = Date.now() + PATIENCE_MS; ; await sleep(AGAIN_MS)) {
      const { body, headers } = signed(event, { id, secret });
      this.sent++;
      const answer = await this.platform.call('POST', '/api/webhooks/polar', { as: null, body, headers }).catch(() => undefined);
      if (answer?.status === 202) {
        const { event_id } = answer.body as { event_id: string };
        this.acknowledged++;
        this.taken.set(id, (this.taken.get(id) ?? new Set()).add(event_id));
        return event_id;
      }
      if (answer && answer.status < 500) throw new Error(`A delivery was refused: ${answer.status} ${JSON.stringify(answer.body)}`);
      if (Date.now() > end) throw new Error(`Nobody takes a delivery: ${answer?.status ?? 'no answer'}`);
    }
  }

  /** Delivers all of them, so many at once, in their order. */
  async deliverAll(deliveries: Delivery[], width: number): Promise<void> {
    const left = [...deliveries];
    const one = async () => {
      for (let next = left.shift(); next; next = left.shift()) await this.deliver(next);
    };
    await Promise.all(Array.from({ length: width }, one));
  }
}
