/** Parts that the time is waited for in. */
const PARTS = 10;

/**
 * Calls after so many milliseconds in which this process was awake. One that stood still, or was kept from its events, has not heard what its children
 * said meanwhile: of that time no more than a part counts, and what has come by then is heard first.
 */
export class AwakeTimer {
  private readonly began = performance.now();
  private readonly ticking: NodeJS.Timeout;
  private parts = 0;
  private last?: NodeJS.Immediate;

  /** @param ms how long; less than a millisecond is one */
  constructor(
    private readonly ms: number,
    call: () => void,
  ) {
    // A tick that is late is one.
    this.ticking = setInterval(() => {
      if (++this.parts < PARTS) return;
      clearInterval(this.ticking);
      this.last = setImmediate(call);
    }, ms / PARTS);
  }

  /** Calls no more. @returns milliseconds that are left */
  stop(): number {
    clearInterval(this.ticking);
    if (this.last) clearImmediate(this.last);
    return this.ms - Math.min(performance.now() - this.began, ((this.parts + 1) * this.ms) / PARTS);
  }
}
