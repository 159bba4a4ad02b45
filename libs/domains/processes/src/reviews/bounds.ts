import { setImmediate as letOthersIn } from 'node:timers/promises';

/** How far a look at a run may go. */
export interface Bounds {
  /** Of computing; others that are let in do not count. */
  maxMs?: number;
  /** Aborted when nobody waits for it any more. */
  signal?: AbortSignal;
}

/** A look at a run that is done piece by piece. */
export class Look {
  private took = 0;
  private since = performance.now();

  constructor(private readonly bounds: Bounds) {}

  /** Between two pieces. @returns whether it may go on */
  async pause(): Promise<boolean> {
    const { maxMs = Infinity, signal } = this.bounds;
    this.took += performance.now() - this.since;
    await letOthersIn();
    this.since = performance.now();
    return this.took <= maxMs && !signal?.aborted;
  }
}
