import { createHash } from 'node:crypto';

/** Rounds after which every bit of the seed has reached every bit of the state. */
const WARM_UP = 15;

/**
 * Random numbers that a text decides: sfc32 of Chris Doty-Humphrey's PractRand, its state being the first 16 bytes of the text's SHA-256.
 * Integers alone, so the same on every machine.
 */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private counter: number;

  constructor(seed: string) {
    const hash = createHash('sha256').update(seed).digest();
    [this.a, this.b, this.c, this.counter] = [0, 4, 8, 12].map((at) => hash.readInt32LE(at));
    for (let i = 0; i < WARM_UP; i++) this.next();
  }

  /** 0 to 2³² − 1. */
  next(): number {
    const result = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + result) | 0;
    return result >>> 0;
  }

  /** 0 to `count` − 1. Some come up more often than others, by one in 2³² / `count`. */
  below(count: number): number {
    return Math.floor((this.next() * count) / 0x1_0000_0000);
  }
}
