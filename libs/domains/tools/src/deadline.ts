import { Cutoff } from '@aps/platform/signals';
import type { CallLimits } from './tool';

/** The other side is given up. */
export class TookTooLong extends Error {}

/** Cuts a call that goes on for too long; whoever makes one clears it. */
export class Deadline {
  private readonly cut: Cutoff;
  private readonly ends: NodeJS.Timeout;
  private idles: NodeJS.Timeout;
  readonly signal: AbortSignal;

  /** @param outer ends it, too */
  constructor(
    private readonly limits: CallLimits,
    outer: AbortSignal,
  ) {
    this.cut = new Cutoff(outer);
    this.signal = this.cut.signal;
    this.ends = this.after(limits.totalMs, 'it took more than');
    this.idles = this.idling();
  }

  /** Whether its time was up, as opposed to that of who has it made. */
  get isOver(): boolean {
    return this.signal.reason instanceof TookTooLong;
  }

  /** It has told of progress. */
  readonly extend = (): void => {
    if (this.signal.aborted) return;
    clearTimeout(this.idles);
    this.idles = this.idling();
  };

  /** It is over, and nothing cuts it any more. */
  readonly clear = (): void => {
    this.cut.release();
    clearTimeout(this.ends);
    clearTimeout(this.idles);
  };

  private idling(): NodeJS.Timeout {
    return this.after(this.limits.idleMs, 'nothing was heard of it for');
  }

  private after(ms: number, why: string): NodeJS.Timeout {
    return setTimeout(() => this.cut.abort(new TookTooLong(`${why} ${ms / 1000} s`)), ms);
  }
}
