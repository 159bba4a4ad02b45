/** A look that took longer says too little about the moment. */
const MAX_ROUND_TRIP_MS = 250;

/** When the machine's clock and the monotonic one have moved apart by more, the machine has slept, or somebody has set its clock. */
const MAX_JUMP_MS = 1_000;

const machineZero = (): number => Date.now() - performance.now();

/**
 * The database's time, carried on by this process's monotonic clock from the last look at it. Clocks of machines differ, and processes
 * compare what they have written: so none of them writes its own time.
 */
export class DatabaseClock {
  /** The database's time when the monotonic clock of this process stood at zero. */
  private zero: number | undefined;
  /** The same of this machine's clock. */
  private machineZero = machineZero();

  /** @param ask the database's time, milliseconds since 1970 */
  constructor(private readonly ask: () => Promise<number>) {}

  /** This process's own time until the first look. */
  now(): Date {
    // The monotonic clock stands still while a machine sleeps.
    if (Math.abs(machineZero() - this.machineZero) > MAX_JUMP_MS) void this.set().catch(() => undefined);
    return this.zero === undefined ? new Date() : new Date(this.zero + performance.now());
  }

  /** Looks at the database's time. */
  async set(): Promise<void> {
    this.machineZero = machineZero();
    const before = performance.now();
    const time = await this.ask();
    const after = performance.now();
    if (this.zero === undefined || after - before <= MAX_ROUND_TRIP_MS) this.zero = time - (before + after) / 2;
  }
}
