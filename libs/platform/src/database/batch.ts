import { sizeHistogram } from '@aps/platform/observability';
import { statement, type Statement } from './statement';

/** Most calls that go together: beyond this, a row costs hardly less, and a claim of a batch does not see those of another. */
const MAX_BATCH = 16;
/** Letters of what goes together with others: a larger one would keep them waiting. */
export const MAX_TOGETHER = 64 * 1024;

const sizes = sizeHistogram(
  'db_batch_size',
  'Calls that went to PostgreSQL together, by kind of statement',
  ['statement'],
  [1, 2, 4, 8, MAX_BATCH],
);

/** What a batch statement returns for each item that it has found. */
interface BatchRow {
  batch_key: string;
  answer: unknown;
}

/**
 * One statement for many callers: it takes a JSON list of items as its only value, locks a row for each, and returns two columns for
 * each that it has found: `batch_key`, and as JSON the `answer`. (One document is read much faster than a row of many columns.)
 */
export interface BatchStatement<I> {
  readonly label: string;
  /** Passes over rows that somebody else has locked. */
  readonly skipping: Statement<BatchRow>;
  /** Waits for them. */
  readonly waiting: Statement<BatchRow>;
  /** What the item locks, spelled like `batch_key`. Two with the same key never go together: the second must find what the first has left. */
  readonly keyOf: (item: I) => string;
}

/**
 * @param label names it in metrics
 * @param text builds the statement; gets what follows `FOR NO KEY UPDATE`
 */
export function batchStatement<I>(
  label: string,
  keyOf: (item: I) => string,
  text: (locked: '' | 'SKIP LOCKED') => string,
): BatchStatement<I> {
  return { label, keyOf, skipping: statement<BatchRow>(text('SKIP LOCKED')), waiting: statement<BatchRow>(text('')) };
}

/** Runs a batch of items, as JSON: tells the rows as they come, answers as JSON, and resolves when they are committed. */
export type RunTogether = (sql: Statement, items: string, onRow: (key: string, answer: string) => void) => Promise<void>;

type RunStatement = (sql: Statement<BatchRow>, values: unknown[]) => Promise<BatchRow[]>;

/** Runs a batch statement for one item in a transaction that the caller ends, or in one of its own. Null where it found no row. */
export async function runAlone<I, R>(run: RunStatement, batch: BatchStatement<I>, item: I): Promise<R | null> {
  return (await runAll<I, R>(run, batch, [item]))[0];
}

/** The same for several items, no two of one key. */
export async function runAll<I, R>(run: RunStatement, batch: BatchStatement<I>, items: I[]): Promise<(R | null)[]> {
  const rows = await run(batch.waiting, [JSON.stringify(items)]);
  const answers = new Map(rows.map(({ batch_key, answer }) => [batch_key, answer as R]));
  return items.map((item) => answers.get(batch.keyOf(item)) ?? null);
}

/**
 * What a statement has answered while its transaction may still be on its way to the disk. Until then nobody else sees what it has
 * written, and the database may still forget it.
 */
export interface Ahead<R> {
  answer: R;
  /** Rejects when the commit failed, or when nobody knows. Need not be looked at. */
  committed: Promise<void>;
}

/** An answer of a transaction that is over. */
export const alreadyCommitted = <R>(answer: R): Ahead<R> => ({ answer, committed: Promise.resolve() });

interface Call<I> {
  item: I;
  /** The item as JSON. */
  text: string;
  key: string;
  resolve: (answer: Ahead<unknown> | null) => void;
  reject: (error: unknown) => void;
}

/**
 * The calls of one batch statement in this process. What comes while a batch is under way goes together with the next, so a process that
 * has little to do waits for nothing, and one that has much to do pays for a statement, a transaction and a round trip once for many. A large item goes alone.
 *
 * Nobody waits for another's trouble: rows that are locked are passed over and waited for on a connection of their own, and when a batch
 * fails, each of its items is tried alone. When its commit fails, which no item is to blame for, all that it has answered get that error.
 */
export class Batcher<I> {
  private calls: Call<I>[] = [];
  private busy = false;

  /**
   * @param alone runs the statement for one item, when something is in its way
   * @param mayRepeat whether what failed with this error has certainly done nothing
   */
  constructor(
    private readonly batch: BatchStatement<I>,
    private readonly together: RunTogether,
    private readonly alone: (item: I) => Promise<unknown>,
    private readonly mayRepeat: (error: unknown) => boolean,
  ) {}

  /** Null where the statement found no row. */
  add<R>(item: I): Promise<Ahead<R> | null> {
    return new Promise((resolve, reject) => {
      const call = { item, text: JSON.stringify(item), key: this.batch.keyOf(item), resolve: resolve as Call<I>['resolve'], reject };
      if (call.text.length > MAX_TOGETHER) return this.runAlone(call);
      this.calls.push(call);
      if (this.busy) return;
      this.busy = true;
      queueMicrotask(() => void this.drain());
    });
  }

  private async drain(): Promise<void> {
    while (this.calls.length > 0) await this.runTogether(this.take());
    this.busy = false;
  }

  /** The oldest calls, one of each key. */
  private take(): Map<string, Call<I>> {
    const taken = new Map<string, Call<I>>();
    const left: Call<I>[] = [];
    for (const call of this.calls) {
      if (taken.size < MAX_BATCH && !taken.has(call.key)) taken.set(call.key, call);
      else left.push(call);
    }
    this.calls = left;
    return taken;
  }

  private async runTogether(calls: Map<string, Call<I>>): Promise<void> {
    sizes.observe({ statement: this.batch.label }, calls.size);
    let stray: string | undefined;
    const items = Array.from(calls.values(), ({ text }) => text);
    const commit = this.together(this.batch.skipping, `[${items.join()}]`, (key, answer) => {
      const call = calls.get(key);
      calls.delete(key);
      if (!call) stray = key;
      else {
        try {
          call.resolve({ answer: JSON.parse(answer), committed: commit });
        } catch (error) {
          call.reject(error);
        }
      }
    });
    const rejectAll = (error: unknown) => calls.forEach((call) => call.reject(error));
    try {
      await commit;
    } catch (error) {
      if (!this.mayRepeat(error)) return rejectAll(error);
    }
    // An item has been written and is not to be found: none may be taken for missing and written again.
    if (stray !== undefined)
      return rejectAll(new Error(`The statement ${this.batch.label} answers for ${stray}, which is no key of its items`));
    // What is left was locked, is not there, or was in a batch that failed.
    for (const call of calls.values()) this.runAlone(call);
  }

  private runAlone({ item, resolve, reject }: Call<I>): void {
    this.alone(item).then((answer) => resolve(answer === null ? null : alreadyCommitted(answer)), reject);
  }
}
