import type { MessageDelta, TopicEvent, TopicSignal } from '@aps/contracts';

/** Longest time that text waits for more text. */
const TEXT_MS = 20;
/** Longest time that an event waits for the first text, which often follows at once. */
const EVENT_MS = 3;

/**
 * What a running turn tells its readers. A publication costs more than what is in it, so what comes at nearly the same moment goes out
 * together: the first text at once, later text every few milliseconds, and the rest of the text with the event that ends the message.
 */
export class TurnSignals {
  private pending: TopicSignal = [];
  private timer: NodeJS.Timeout | undefined;
  /** When what is pending goes out at the latest; long ago when it is only held. */
  private due = Infinity;
  private lastText = -Infinity;
  private held = true;
  /** The message of which readers have got text. */
  private sentOf: string | undefined;

  /** @param committed until then everything waits, and for ever when it rejects */
  constructor(
    private readonly send: (signal: TopicSignal) => void,
    committed: Promise<void>,
  ) {
    committed.then(
      () => {
        this.held = false;
        if (this.due === -Infinity) this.flush();
      },
      () => clearTimeout(this.timer),
    );
  }

  /** An event that may wait a moment for company. */
  event(event: TopicEvent): void {
    this.pending.push(event);
    this.flushWithin(EVENT_MS);
  }

  text(messageId: string, text: string): void {
    const last = this.pending.at(-1);
    if (last && 'message_id' in last && last.message_id === messageId) last.text += text;
    else this.pending.push({ message_id: messageId, text } satisfies MessageDelta);
    const wait = this.lastText + TEXT_MS - performance.now();
    if (wait <= 0) this.flush();
    else this.flushWithin(wait);
  }

  /** Committed events, sent at once with all that waits before them. */
  events(events: TopicEvent[]): void {
    this.pending.push(...events);
    this.flush();
  }

  flush(): void {
    clearTimeout(this.timer);
    this.due = this.held ? -Infinity : Infinity;
    if (this.held) return;
    if (this.pending.length === 0) return;
    const signal = this.pending;
    this.pending = [];
    const text = signal.findLast((item) => 'message_id' in item);
    if (text) {
      this.lastText = performance.now();
      this.sentOf = text.message_id;
    }
    this.send(signal);
  }

  /**
   * Forgets text that has not been sent: the answer starts anew or will not come. Events are kept.
   *
   * @returns whether readers have text of the message already
   */
  discardText(messageId: string): boolean {
    this.pending = this.pending.filter((item) => !('message_id' in item));
    return this.sentOf === messageId;
  }

  private flushWithin(ms: number): void {
    const due = performance.now() + ms;
    if (due >= this.due) return;
    clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => this.flush(), ms);
  }
}
