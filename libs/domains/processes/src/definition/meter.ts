/** Evaluated nodes of one expression. */
export const MAX_NODES = 10_000;
/** Of one expression. */
export const MAX_MS = 50;
/** A step of an evaluation takes far less; what it takes beyond that, the collector of a process with much in its memory has taken. */
const MAX_STEP_MS = 5;
/** Of what an expression or a template comes to, and of every text on the way: bytes, and characters. */
export const MAX_SIZE = 1024 * 1024;
/** A list of more cannot be of {@link MAX_SIZE}. */
const MAX_ITEMS = MAX_SIZE / 2;
const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MIN_TIME = Date.parse('0001-01-01T00:00:00Z');
const MAX_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** Why an expression has no value, in plain words: a missing key, a wrong type, or more than it may cost. */
export class ExpressionError extends Error {}

/**
 * Whether code that does not wait has taken too long. What the machine did meanwhile for others is no fault of it, and a definition that
 * works is to work on a busy machine: so it has taken its time only when this process was at work for so long, too.
 */
export class Stopwatch {
  private last = performance.now();
  private took = 0;
  private readonly used = process.cpuUsage();

  /** @param maxStepMs that can pass between two looks; what was more was a pause */
  constructor(private readonly maxStepMs = Infinity) {}

  exceeds(ms: number): boolean {
    const now = performance.now();
    this.took += Math.min(now - this.last, this.maxStepMs);
    this.last = now;
    if (this.took <= ms) return false;
    const { user, system } = process.cpuUsage(this.used);
    return (user + system) / 1_000 > ms;
  }
}

/** What one evaluation has cost. Once that is too much, everything else throws: CEL goes on after errors within `||`, `&&` and `exists`. */
export class Meter {
  private readonly stopwatch = new Stopwatch(MAX_STEP_MS);
  private nodes = 0;
  private spent: ExpressionError | null = null;

  /** Before something is done. */
  spend(nodes: number): void {
    this.requireUnspent();
    this.nodes += nodes;
    if (this.nodes > MAX_NODES) this.end(`The expression takes more than ${MAX_NODES} steps`);
    this.look();
  }

  /** Whether so many more could be paid. */
  reserve(nodes: number): void {
    this.requireUnspent();
    if (this.nodes + nodes > MAX_NODES) this.end(`The expression takes more than ${MAX_NODES} steps`);
  }

  /** Where something is done that counts as none, and may be done often. */
  look(): void {
    this.requireUnspent();
    if (this.stopwatch.exceeds(MAX_MS)) this.end(`The expression takes more than ${MAX_MS} ms`);
  }

  /** Of what a node has come to; what was made for it is paid by its size. */
  weigh(value: unknown, made: boolean): void {
    this.requireUnspent();
    if (typeof value === 'bigint') {
      if (value < MIN_INT || value > MAX_INT) throw new ExpressionError('A whole number is larger than 64 bits');
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw new ExpressionError('A number is not finite');
    } else if (typeof value === 'string' || value instanceof Uint8Array) {
      requireSize(value.length);
      if (made) this.spend(value.length >> 10);
    } else if (Array.isArray(value) && made) {
      if (value.length > MAX_ITEMS) this.end(`A list has more than ${MAX_ITEMS} items`);
      this.spend(value.length >> 6);
    } else if (value instanceof Date && !(value.getTime() >= MIN_TIME && value.getTime() <= MAX_TIME))
      throw new ExpressionError('A time is out of range');
  }

  private requireUnspent(): void {
    if (this.spent) throw this.spent;
  }

  private end(message: string): never {
    this.spent = new ExpressionError(message);
    throw this.spent;
  }
}

/** Of a text that is there, or is about to be made. */
export function requireSize(length: number): void {
  if (length > MAX_SIZE) throw new ExpressionError(`A text is larger than ${MAX_SIZE} characters`);
}
