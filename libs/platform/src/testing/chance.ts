import { randomly } from './randomly';

/** Chance that can be repeated: the same seed makes the same choices. */
export class Chance {
  /** From 0 to 1. */
  readonly pick: () => number;

  constructor(readonly seed: number) {
    this.pick = randomly(seed);
  }

  /** A whole number from `min` to `max`. */
  between(min: number, max: number): number {
    return min + Math.floor(this.pick() * (max - min + 1));
  }

  choose<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)];
  }

  shuffled<T>(all: readonly T[]): T[] {
    const left = [...all];
    for (let i = left.length - 1; i > 0; i--) {
      const j = this.between(0, i);
      [left[i], left[j]] = [left[j], left[i]];
    }
    return left;
  }

  nap(ms: number): Promise<void> {
    return new Promise((r) => setTimeout(r, this.pick() * ms));
  }

  /** Does a handful of things, some of them at nearly the same moment. At times what was begun gets somewhere before the next things happen. */
  async rounds(act: () => Promise<unknown>, { most, restMs }: { most: number; restMs: number }): Promise<void> {
    for (let round = 0; round < 3; round++) {
      const each = async () => {
        await this.nap(30);
        await act();
      };
      await Promise.all(Array.from({ length: 2 + Math.floor(this.pick() * (most - 1)) }, each));
      if (this.pick() < 0.5) await this.nap(restMs);
    }
  }
}
