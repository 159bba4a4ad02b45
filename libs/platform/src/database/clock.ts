/** A look that took longer says too little about the moment. */
const MAX_ROUND_TRIP_MS = 250;
/** So many looks are taken where each of them takes longer. */
const MAX_LOOKS = 5;

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
  /** How long the look took that says so. */
  private roundTripMs = Infinity;
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

  /** Looks at the database's time, a few times where all are busy. Of looks that say little, the shortest counts until there is a better one. */
  async set(): Promise<void> {
    this.machineZero = machineZero();
    for (let looks = 1; !(await this.look()) && looks < MAX_LOOKS; looks++);
  }

  /** @returns whether it was short enough */
  private async look(): Promise<boolean> {
    const before = performance.now();
    const time = await this.ask();
    const after = performance.now();
    const isShort = after - before <= MAX_ROUND_TRIP_MS;
    if (isShort || after - before < this.roundTripMs) {
      this.zero = time - (before + after) / 2;
      this.roundTripMs = after - before;
    }
    return isShort;
  }
}
