import { Pool, type ClientConfig, type PoolClient, type QueryConfig } from 'pg';
import { gauge } from '@aps/platform/observability';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { Batcher, runAll, runAlone, type Ahead, type BatchStatement } from './batch';
import { DatabaseClock } from './clock';
import { isConnectionLoss } from './errors';
import { BatchConnection } from './batch-connection';
import { refuseStandby, type Sessions } from './sessions';
import { answerTimeoutMs, statement, unnamed, type Statement } from './statement';

/** SQLSTATEs after which the whole transaction may simply be run again: serialization failure, deadlock. */
const RETRYABLE = new Set(['40001', '40P01']);
const MAX_TRIES = 3;

/** On whose behalf a unit of work is done. */
export interface Caller {
  /** Throws when the caller may not do this any more. The answer holds until the transaction ends. */
  readonly confirm?: (tx: Tx) => Promise<void>;
}

/** For jobs, and for requests that anybody may make. */
export const NO_CALLER: Caller = {};

/**
 * What services and repositories talk to: the database itself, or a transaction that is open on it. Both have the same face, so a
 * service that opens a unit of work joins the one it was handed.
 */
export interface Db {
  /** Runs one statement and returns its rows, with the columns' own (snake_case) names. */
  query<Row>(sql: Statement<Row>, values?: unknown[]): Promise<Row[]>;
  /** Runs one statement and returns the number of rows it touched. */
  execute(sql: Statement, values?: unknown[]): Promise<number>;
  /**
   * Runs a batch statement for one item. Outside of a transaction, calls of the same moment go together, in an order of their own.
   *
   * @returns its answer, null where it found no row
   */
  batched<I, R>(batch: BatchStatement<I>, item: I): Promise<R | null>;
  /**
   * Opens a unit of work, or joins the one that is open. Serialization failures and deadlocks run it again, at most three times
   * in all, so `fn` must have no effect outside the database; those belong into {@link Tx.afterCommit}.
   *
   * Its last statement asks whether the caller may still do this; if not, it is rolled back.
   *
   * @param caller the scope or actor on whose behalf it is; {@link NO_CALLER} for work that rests on nobody's right
   */
  transaction<T>(caller: Caller, fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** TypeORM's view of the same connection, for what is not on a hot path. */
  readonly manager: EntityManager;
}

/** An open transaction. */
export interface Tx extends Db {
  /** Runs `fn` once the outermost transaction has committed; never when it rolls back. Its failure is reported, not thrown. */
  afterCommit(fn: () => void | Promise<void>): void;
  /**
   * Asks now, and not before the commit, whether the caller may still do this: for work that ends the caller's own right to it. The
   * answer holds until the commit by share locks on what it rests on, so take the locks of the work itself first: two who share a lock
   * and then both want it alone wait for each other.
   */
  confirm(): Promise<void>;
  /**
   * Runs a batch statement for several items at once, no two of one key. It waits for rows that others have locked.
   *
   * @returns their answers, in the order of the items; null for one that found no row
   */
  batchedAll<I, R>(batch: BatchStatement<I>, items: I[]): Promise<(R | null)[]>;
  /** @returns goes back to this point, as often as it is called: undoes what was written since, and gives up the locks that were taken */
  savepoint(): Promise<() => Promise<void>>;
}

/** A clock that is carried on alone drifts by far less than anybody sees in so long. */
const LOOK_AT_CLOCK_MS = 60_000;

const CLOCK = statement<{ ms: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms');
const PING = statement<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
const ADVISORY_LOCK = statement('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))');

/** How a statement is put to the driver. */
type ToQuery = (sql: Statement, values?: unknown[]) => QueryConfig & { query_timeout?: number };

const byName: ToQuery = ({ name, text, timeoutMs }, values) => ({
  name,
  text,
  values,
  query_timeout: timeoutMs && answerTimeoutMs(timeoutMs),
});
const byText: ToQuery = ({ text, timeoutMs }, values) => ({ text, values, query_timeout: timeoutMs && answerTimeoutMs(timeoutMs) });

class OpenTransaction implements Tx {
  readonly commitHooks: (() => void | Promise<void>)[] = [];
  private caller: Caller | undefined;
  private confirmed = false;
  private savepoints = 0;

  constructor(
    private readonly client: PoolClient,
    private readonly runner: QueryRunner,
    private readonly toQuery: ToQuery,
  ) {}

  get manager(): EntityManager {
    return this.runner.manager;
  }

  async query<Row>(sql: Statement<Row>, values?: unknown[]): Promise<Row[]> {
    return (await this.client.query(this.toQuery(sql, values))).rows as Row[];
  }

  async execute(sql: Statement, values?: unknown[]): Promise<number> {
    return (await this.client.query(this.toQuery(sql, values))).rowCount ?? 0;
  }

  batched<I, R>(batch: BatchStatement<I>, item: I): Promise<R | null> {
    return runAlone<I, R>((sql, values) => this.query(sql, values), batch, item);
  }

  batchedAll<I, R>(batch: BatchStatement<I>, items: I[]): Promise<(R | null)[]> {
    return runAll<I, R>((sql, values) => this.query(sql, values), batch, items);
  }

  /** The right that any of the callers rests on is asked for. */
  transaction<T>(caller: Caller, fn: (tx: Tx) => Promise<T>): Promise<T> {
    if (caller.confirm) this.caller ??= caller;
    return fn(this);
  }

  afterCommit(fn: () => void | Promise<void>): void {
    this.commitHooks.push(fn);
  }

  async confirm(): Promise<void> {
    if (this.confirmed) return;
    this.confirmed = true;
    await this.caller?.confirm?.(this);
  }

  async savepoint(): Promise<() => Promise<void>> {
    const name = `sp${++this.savepoints}`;
    await this.client.query(`SAVEPOINT ${name}`);
    return async () => void (await this.client.query(`ROLLBACK TO SAVEPOINT ${name}`));
  }
}

/** The process's connection to PostgreSQL. */
export class Database implements Db {
  private readonly pool: Pool;
  /** Of one connection. Who asks whether PostgreSQL answers must not wait behind those who wait for the pool: its load would fall upon the next. */
  private readonly pings: Pool;
  private readonly sessions: Sessions;
  private readonly toQuery: ToQuery;
  private readonly clock = new DatabaseClock(async () => (await this.query(CLOCK))[0].ms);
  private clockTimer: NodeJS.Timeout | undefined;
  private readonly batchers = new Map<unknown, { batcher: Batcher<unknown>; connection: BatchConnection }>();

  constructor(
    readonly dataSource: DataSource,
    private readonly onHookError: (error: unknown) => void = () => undefined,
  ) {
    // TypeORM keeps the pool behind its driver; statements on hot paths go to it directly, prepared, without the query runner's
    // bookkeeping, which costs more than a one-row read.
    this.pool = (dataSource.driver as unknown as { master: Pool }).master;
    this.sessions = (this.pool.options as unknown as { sessions: Sessions }).sessions;
    this.pings = new Pool({ ...this.connectionOptions(), max: 1 });
    // The next ping opens another.
    this.pings.on('error', () => undefined);
    gauge('db_connections', 'Connections of the pool of this process', ['state'], (g) => {
      const { total, idle } = this.poolStats();
      g.set({ state: 'idle' }, idle);
      g.set({ state: 'used' }, total - idle);
    });
    gauge('db_connections_waited_for', 'What waits for a connection of the pool', [], (g) => g.set(this.poolStats().waiting));
    this.toQuery = this.sessions.named ? byName : byText;
  }

  get manager(): EntityManager {
    return this.dataSource.manager;
  }

  /** Connections in use, idle and waited for; for metrics. */
  poolStats(): { total: number; idle: number; waiting: number } {
    return { total: this.pool.totalCount, idle: this.pool.idleCount, waiting: this.pool.waitingCount };
  }

  async query<Row>(sql: Statement<Row>, values?: unknown[]): Promise<Row[]> {
    return (await this.pool.query(this.toQuery(sql, values))).rows as Row[];
  }

  async execute(sql: Statement, values?: unknown[]): Promise<number> {
    return (await this.pool.query(this.toQuery(sql, values))).rowCount ?? 0;
  }

  async batched<I, R>(batch: BatchStatement<I>, item: I): Promise<R | null> {
    const ahead = await this.batchedAhead<I, R>(batch, item);
    await ahead?.committed;
    return ahead ? ahead.answer : null;
  }

  /** The same for callers who can do something useful, and harmless, with an answer whose commit still waits for the disk. */
  batchedAhead<I, R>(batch: BatchStatement<I>, item: I): Promise<Ahead<R> | null> {
    let opened = this.batchers.get(batch);
    if (!opened) this.batchers.set(batch, (opened = this.openBatcher(batch)));
    return (opened.batcher as Batcher<I>).add<R>(item);
  }

  /**
   * Batches have connections of their own, one for each kind of statement, so that a backend always runs the same few statements: it
   * has planned them, and all that they read is in its caches. No value of a batch would make for a better plan. Behind a pooler they
   * are like any other connection.
   */
  private openBatcher<I>(batch: BatchStatement<I>): { batcher: Batcher<unknown>; connection: BatchConnection } {
    const { sessions } = this;
    const connection = new BatchConnection(this.connectionOptions(), (client) => sessions.begin(client, 'force_generic_plan'));
    const batcher = new Batcher<I>(
      batch,
      async (sql, items, onRow) => connection.run(sessions.named ? sql : unnamed(sql), items, onRow),
      (item) => runAlone((sql, values) => this.query(sql, values), batch, item),
      // Whether a commit went through that the connection broke in is not known.
      (error) => !isConnectionLoss(error),
    );
    return { batcher: batcher as Batcher<unknown>, connection };
  }

  /** Those of the pool; what it keeps to itself is no property that is copied. */
  private connectionOptions(): ClientConfig {
    const { options } = this.pool;
    return { ...(options as ClientConfig), password: options.password };
  }

  /** The database's time. Whatever another process may compare is written with it, never with this process's own. */
  now(): Date {
    return this.clock.now();
  }

  /** Looks at the database's time, now and from then on. */
  async followClock(): Promise<void> {
    await this.clock.set();
    // What fails is left to the next look.
    this.clockTimer ??= setInterval(() => void this.clock.set().catch(() => undefined), LOOK_AT_CLOCK_MS).unref();
  }

  /** Resolves when PostgreSQL answers, and takes writes, however busy the pool is. */
  async ping(): Promise<void> {
    const { rows } = await this.pings.query<{ standby: boolean }>(this.toQuery(PING));
    refuseStandby(rows[0]);
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    clearInterval(this.clockTimer);
    await Promise.all(Array.from(this.batchers.values(), ({ connection }) => connection.close()).concat(this.pings.end()));
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  async transaction<T>(caller: Caller, fn: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.runOnce((tx) => tx.transaction(caller, fn));
      } catch (error) {
        if (attempt >= MAX_TRIES || !RETRYABLE.has((error as { code?: string }).code ?? '')) throw error;
      }
    }
  }

  private async runOnce<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    let client: PoolClient | undefined;
    // PostgreSQL rolls back what its connection leaves. One that has gone silent must not come to somebody else.
    const giveUp = () => void client?.end();
    let tx: OpenTransaction;
    let result: T;
    try {
      client = (await runner.connect()) as PoolClient;
      tx = new OpenTransaction(client, runner, this.toQuery);
      await runner.startTransaction();
      result = await fn(tx);
      await tx.confirm();
      await runner.commitTransaction();
    } catch (error) {
      if (isConnectionLoss(error)) giveUp();
      else if (runner.isTransactionActive) await runner.rollbackTransaction().catch(giveUp);
      throw error;
    } finally {
      await runner.release().catch(() => undefined);
    }
    for (const hook of tx.commitHooks) {
      try {
        await hook();
      } catch (error) {
        this.onHookError(error);
      }
    }
    return result;
  }
}

/** Runs `fn` once what `db` has written is committed: after an open transaction, else at once. */
export async function whenCommitted(db: Db, fn: () => void | Promise<void>): Promise<void> {
  if ('afterCommit' in db) (db as Tx).afterCommit(fn);
  else await fn();
}

/**
 * Serializes everything that takes the same key until the transaction ends, e.g. counting rows against a cap before an insert.
 * Transaction-scoped on purpose: a session lock would outlive a crash inside a pooled connection.
 */
export async function advisoryLock(tx: Tx, key: string): Promise<void> {
  await tx.execute(ADVISORY_LOCK, [key]);
}
