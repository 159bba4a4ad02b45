/** Longest time that text waits before it is sent on, milliseconds. */
const WINDOW_MS = 20;

/**
 * Collects the pieces of a running message: the first goes out at once, so that a reader sees the answer begin; the following ones are
 * sent together every few milliseconds, so that a fast model does not cost one publication per token.
 */
export class DeltaBuffer {
  private pending = '';
  private timer: NodeJS.Timeout | undefined;
  private lastSent = -Infinity;

  constructor(private readonly send: (text: string) => void) {}

  push(text: string): void {
    this.pending += text;
    if (this.timer) return;
    const wait = this.lastSent + WINDOW_MS - performance.now();
    if (wait <= 0) this.flush();
    else this.timer = setTimeout(() => this.flush(), wait);
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.pending) return;
    this.lastSent = performance.now();
    const text = this.pending;
    this.pending = '';
    this.send(text);
  }

  /** Forgets what has not been sent: the answer starts anew or will not come. */
  discard(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.pending = '';
  }
}
