import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** What happened, on its way to who wants to know. Its body stays the text that it is, so each try is signed over the same bytes. */
export interface Delivery {
  id: string;
  type: string;
  body: string;
  tries: number;
  /** Of the last try; null before the first, 0 where nobody answered. */
  status: number | null;
  done: boolean;
}

/** How the next deliveries go out: twice, in reverse, or late. */
export type Disorder = 'duplicate' | 'reverse' | 'late';

const MAX_TRIES = 10;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
const TRY_MS = 10_000;
/** So long those wait that are to be late, or for others to be reversed with. */
const LATE_MS = 2_000;
/** Delivered ones that are still shown. */
const MAX_DONE = 1_000;

/**
 * Sends what happened, signed by the Standard Webhooks library: what the service verifies with, is not what it is signed with. One
 * after the other while nothing else is asked, tried again with growing waits until somebody takes it.
 */
export class Deliveries {
  private chain: Promise<unknown> = Promise.resolve();
  private disorder: { how: Disorder; left: number } | undefined;
  private turned: Delivery[] = [];
  private held = false;
  private readonly timers = new Set<NodeJS.Timeout>();

  /** @param onChange is called when any of them has changed */
  constructor(
    readonly all: Delivery[],
    private readonly target: { url: string; secret: string },
    private readonly onChange: () => void,
  ) {
    for (const delivery of all) if (!delivery.done) this.send(delivery);
  }

  add(type: string, data: unknown): void {
    const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
    const delivery: Delivery = { id: `msg_${randomUUID()}`, type, body, tries: 0, status: null, done: false };
    this.all.push(delivery);
    this.all.splice(0, this.all.findIndex(({ done }) => !done) > MAX_DONE ? 1 : 0);
    this.onChange();
    if (!this.held) this.route(delivery);
  }

  /** Keeps what comes; let go, all that was kept goes out. */
  hold(held: boolean): void {
    const released = this.held && !held;
    this.held = held;
    if (released) for (const delivery of this.all) if (!delivery.done && delivery.tries === 0) this.route(delivery);
  }

  disturb(how: Disorder, times: number): void {
    this.disorder = times > 0 ? { how, left: times } : undefined;
  }

  /** Sends one again, as the provider does when somebody asks for it. @returns false where there is none */
  again(id: string): boolean {
    const delivery = this.all.find((one) => one.id === id);
    if (delivery) this.send(delivery);
    return delivery !== undefined;
  }

  stop(): void {
    this.held = true;
    for (const timer of this.timers) clearTimeout(timer);
  }

  private route(delivery: Delivery): void {
    const how = this.disorder?.how;
    if (this.disorder && --this.disorder.left <= 0) this.disorder = undefined;
    if (how === 'late') return this.after(LATE_MS, () => this.send(delivery));
    if (how === 'reverse') {
      if (this.turned.push(delivery) === 1) this.after(LATE_MS, () => this.sendTurned());
      if (this.disorder?.how !== 'reverse') this.sendTurned();
      return;
    }
    this.send(delivery);
    if (how === 'duplicate') this.send(delivery);
  }

  private sendTurned(): void {
    for (const delivery of this.turned.splice(0).reverse()) this.send(delivery);
  }

  private send(delivery: Delivery): void {
    this.chain = this.chain.then(() => this.attempt(delivery));
  }

  private async attempt(delivery: Delivery): Promise<void> {
    if (this.held) return;
    const { id, body } = delivery;
    const now = new Date();
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(this.target.secret).sign(id, now, body),
    };
    const signal = AbortSignal.timeout(TRY_MS);
    const status = await fetch(this.target.url, { method: 'POST', headers, body, signal }).then(
      async (response) => (await response.text(), response.status),
      () => 0,
    );
    delivery.tries++;
    delivery.status = status;
    delivery.done ||= (status >= 200 && status < 300) || delivery.tries >= MAX_TRIES;
    this.onChange();
    if (!delivery.done) this.after(Math.min(FIRST_WAIT_MS * 2 ** (delivery.tries - 1), MAX_WAIT_MS), () => this.send(delivery));
  }

  private after(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      act();
    }, ms);
    this.timers.add(timer);
  }
}
