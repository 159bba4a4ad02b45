import { Logger } from '@nestjs/common';
import type { Database } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import type { HoldRepository, Reserved, Verdict, WideHold } from './hold.repository';

/** How long it is believed that there is plenty. */
const FRESH_MS = 1_000;
/** One that covers no call is given back after so long. */
const IDLE_MS = 2_000;
/** Amounts in the database have so many decimals. */
const DECIMALS = 6;

/** Whose calls are covered: of an organization that pays in credits, by agent, or of one that has a budget. */
export interface Spender {
  org_id: string;
  agent_id: string | null;
  unit: 'credits' | 'usd';
  /** What was known of the limit. Where that has changed, nothing is covered by what was taken before. */
  limit: string | null;
}

/** A hold in the name of this process. */
interface Allowance extends Reserved {
  readonly key: string;
  readonly limit: string | null;
  amount: number;
  /** What the calls may cost that it covers, by the ids of their receipts. */
  readonly calls: Map<string, number>;
  asking: boolean;
  closed: boolean;
  /** When it was found that there is plenty. */
  foundAt: number;
  usedAt: number;
}

const sumOf = ({ calls }: Allowance): number => [...calls.values()].reduce((sum, amount) => sum + amount, 0);

/**
 * Holds that this process has for calls to come, so that not each needs one of its own. A call is covered while all that are under way may
 * cost no more than is held. One is taken where calls follow each other and there is plenty, in place of the hold of a call; within a
 * second the next call asks anew, and it is given back when there is not plenty any more, or when calls no longer come. See
 * docs/adr/0029-allowances.md.
 *
 * Amounts are doubles here: they are exact to far less than is held too much.
 */
export class Allowances {
  private readonly logger = new Logger('Allowances');
  private readonly open = new Map<string, Allowance>();
  /** Who has asked lately, and when. */
  private readonly asked = new Map<string, number>();
  /** By the receipt of each call that is covered. */
  private readonly covering = new Map<string, Allowance>();
  private ending = false;

  constructor(
    private readonly db: Database,
    private readonly repository: Pick<HoldRepository, 'release'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether a call is covered; then it counts from now on, in place of what was counted for its receipt. */
  cover(spender: Spender, receiptId: string, estimate: number): boolean {
    const allowance = this.of(spender);
    return estimate > 0 && allowance !== undefined && this.now() - allowance.foundAt < FRESH_MS && this.add(allowance, receiptId, estimate);
  }

  /**
   * Asks for a hold of a call, and for an allowance in its place where there is plenty.
   *
   * @param ask decides; gets what to hold in place of the call's own, or null
   */
  async ask(spender: Spender, receiptId: string, estimate: number, ask: (wide: WideHold | null) => Promise<Verdict>): Promise<Verdict> {
    const known = this.of(spender);
    // What comes alone would only have something to give back. One asks for all; meanwhile each has a hold of its own. What costs nothing
    // would be covered where nothing is left.
    if (this.ending || !this.follows(keyOf(spender)) || known?.asking || estimate <= 0) return ask(null);
    const allowance = known ?? this.begin(spender);
    allowance.asking = true;
    try {
      // As much again as is under way; of what it was before no less than half, since calls come unevenly.
      const amount = Math.max(2 * (sumOf(allowance) + estimate), allowance.amount / 2);
      const { work, receipt_id } = allowance;
      const foundAt = this.now();
      const verdict = await ask({ work, receipt_id, amount: amount.toFixed(DECIMALS) });
      if (verdict === 'plenty') {
        Object.assign(allowance, { amount, foundAt });
        this.add(allowance, receiptId, estimate);
      } else if (known) this.close(allowance);
      else this.forget(allowance);
      return verdict;
    } catch (error) {
      // Nobody knows what is held now; what is under way is, either way.
      this.close(allowance);
      throw error;
    } finally {
      allowance.asking = false;
    }
  }

  /** The call is over: its receipt is there, or it failed. */
  end(receiptId: string): void {
    const allowance = this.covering.get(receiptId);
    if (!allowance) return;
    this.covering.delete(receiptId);
    allowance.calls.delete(receiptId);
    if (allowance.closed && allowance.calls.size === 0) void this.release(allowance);
  }

  /** A call has cost more than was thought: nobody knows what is left, and the next asks. */
  doubt(spender: Spender): void {
    const allowance = this.open.get(keyOf(spender));
    if (allowance) this.close(allowance);
  }

  /** All that is held. */
  held(): Reserved[] {
    return [...new Set([...this.open.values(), ...this.covering.values()])];
  }

  /** Gives back what rests. */
  sweep(): void {
    const since = this.now() - IDLE_MS;
    for (const allowance of this.open.values())
      if (!allowance.asking && allowance.calls.size === 0 && allowance.usedAt < since) this.close(allowance);
    for (const [key, at] of this.asked) if (at < since) this.asked.delete(key);
  }

  /** The process ends: nothing more is covered, and each is given back when its last call is over. */
  closeAll(): void {
    this.ending = true;
    for (const allowance of this.open.values()) this.close(allowance);
  }

  /** Whether somebody has asked for the same a moment ago. */
  private follows(key: string): boolean {
    const before = this.asked.get(key);
    this.asked.set(key, this.now());
    return before !== undefined && this.now() - before < IDLE_MS;
  }

  private of(spender: Spender): Allowance | undefined {
    const allowance = this.open.get(keyOf(spender));
    if (!allowance || allowance.limit === spender.limit) return allowance;
    this.close(allowance);
    return undefined;
  }

  private add(allowance: Allowance, receiptId: string, estimate: number): boolean {
    const others = sumOf(allowance) - (allowance.calls.get(receiptId) ?? 0);
    if (others + estimate > allowance.amount) return false;
    allowance.calls.set(receiptId, estimate);
    allowance.usedAt = this.now();
    this.covering.set(receiptId, allowance);
    return true;
  }

  private begin(spender: Spender): Allowance {
    const id = uuidv7();
    const allowance: Allowance = {
      key: keyOf(spender),
      limit: spender.limit,
      work: `calls:${id}`,
      receipt_id: id,
      amount: 0,
      calls: new Map(),
      asking: false,
      closed: false,
      foundAt: -Infinity,
      usedAt: this.now(),
    };
    this.open.set(allowance.key, allowance);
    return allowance;
  }

  private close(allowance: Allowance): void {
    this.forget(allowance);
    allowance.closed = true;
    if (allowance.calls.size === 0) void this.release(allowance);
  }

  private forget(allowance: Allowance): void {
    if (this.open.get(allowance.key) === allowance) this.open.delete(allowance.key);
  }

  /** It ends by itself, if later. */
  private async release(allowance: Allowance): Promise<void> {
    await this.repository
      .release(this.db, allowance)
      .catch((error: Error) => this.logger.warn(`An allowance was not given back: ${error.message}`));
  }
}

const keyOf = ({ unit, org_id, agent_id }: Spender): string => `${unit} ${org_id} ${unit === 'credits' ? (agent_id ?? '') : ''}`;
