import { setMaxListeners } from 'node:events';

/**
 * A signal that ends with another one, when its time is up, or when its owner says so; the owner releases it. `AbortSignal.any` over
 * `AbortSignal.timeout` does the same, but leaves it to the garbage collector to let go, which is felt where a call takes a millisecond.
 */
export class Cutoff {
  private readonly controller = new AbortController();
  private readonly timer?: NodeJS.Timeout;
  readonly signal = this.controller.signal;
  /** Whether it was the time that ended it. */
  isLate = false;

  /**
   * @param outer ends it, with its own reason
   * @param ms its time
   */
  constructor(
    private readonly outer?: AbortSignal,
    ms?: number,
  ) {
    if (outer?.aborted) this.follow();
    else if (outer) {
      // A run may make any number of calls at once; Node takes more than ten listeners for a leak, and says so.
      setMaxListeners(Infinity, outer);
      outer.addEventListener('abort', this.follow);
    }
    if (ms !== undefined && !this.signal.aborted) this.timer = setTimeout(() => this.expire(ms), ms).unref();
  }

  abort(reason: Error): void {
    this.release();
    this.controller.abort(reason);
  }

  /** Nothing ends it any more. */
  release(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener('abort', this.follow);
  }

  private readonly follow = (): void => this.abort(this.outer!.reason as Error);

  private expire(ms: number): void {
    this.isLate = true;
    this.abort(new DOMException(`It took longer than ${ms / 1_000} s`, 'TimeoutError'));
  }
}
