import type { ClientConfig, Pool, PoolClient } from 'pg';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { BatchLane, runAlone, type Ahead, type BatchStatement } from './batch';
import { isConnectionLoss } from './errors';
import { LaneConnection } from './lane-connection';
import type { Statement } from './statement';

/** SQLSTATEs after which the whole transaction may simply be run again: serialization failure, deadlock. */
const RETRYABLE = new Set(['40001', '40P01']);
const MAX_TRIES = 3;

/**
 * What services and repositories talk to: the database itself, or a transaction that is open on it. Both have the same face, so a
 * service that opens a unit of work joins the one it was handed.
 */
export interface Db {
  /** Runs one statement and returns its rows, with the columns' own (snake_case) names. */
  query<R = Record<string, unknown>>(sql: Statement | string, values?: unknown[]): Promise<R[]>;
  /** Runs one statement and returns the number of rows it touched. */
  execute(sql: Statement | string, values?: unknown[]): Promise<number>;
  /**
   * Runs a batch statement for one item. Outside of a transaction, calls of the same moment go together, in an order of their own.
   *
   * @returns its answer, null where it found no row
   */
  batched<I, R>(batch: BatchStatement<I>, item: I): Promise<R | null>;
  /**
   * Opens a unit of work, or joins the one that is open. Serialization failures and deadlocks run it again, at most three times
   * in all, so `fn` must have no effect outside the database; those belong into {@link Tx.afterCommit}.
   */
  transaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** TypeORM's view of the same connection, for what is not on a hot path. */
  readonly manager: EntityManager;
}

/** An open transaction. */
export interface Tx extends Db {
  /** Runs `fn` once the outermost transaction has committed; never when it rolls back. Its failure is reported, not thrown. */
  afterCommit(fn: () => void | Promise<void>): void;
}

/** So much later than PostgreSQL would end a statement, its connection is given up. */
const ANSWER_GRACE_MS = 2_000;

const toQuery = (sql: Statement | string, values?: unknown[]) => (typeof sql === 'string' ? { text: sql, values } : { name: sql.name, text: sql.text, values });

const rowsOf = async <R>(on: Pool | PoolClient, sql: Statement | string, values?: unknown[]): Promise<R[]> => (await on.query(toQuery(sql, values))).rows as R[];

class OpenTransaction implements Tx {
  readonly commitHooks: (() => void | Promise<void>)[] = [];

  constructor(
    private readonly client: PoolClient,
    private readonly runner: QueryRunner,
  ) {}

  get manager(): EntityManager {
    return this.runner.manager;
  }

  query<R>(sql: Statement | string, values?: unknown[]): Promise<R[]> {
    return rowsOf(this.client, sql, values);
  }

  async execute(sql: Statement | string, values?: unknown[]): Promise<number> {
    return (await this.client.query(toQuery(sql, values))).rowCount ?? 0;
  }

  batched<I, R>(batch: BatchStatement<I>, item: I): Promise<R | null> {
    return runAlone<I, R>((sql, values) => this.query(sql, values), batch, item);
  }

  transaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return fn(this);
  }

  afterCommit(fn: () => void | Promise<void>): void {
    this.commitHooks.push(fn);
  }
}

/** The process's connection to PostgreSQL. */
export class Database implements Db {
  private readonly pool: Pool;
  private readonly lanes = new Map<unknown, { lane: BatchLane<unknown>; connection: LaneConnection }>();

  constructor(
    readonly dataSource: DataSource,
    private readonly onHookError: (error: unknown) => void = () => undefined,
  ) {
    // TypeORM keeps the pool behind its driver; statements on hot paths go to it directly, prepared, without the query runner's
    // bookkeeping, which costs more than a one-row read.
    this.pool = (dataSource.driver as unknown as { master: Pool }).master;
  }

  get manager(): EntityManager {
    return this.dataSource.manager;
  }

  /** Connections in use, idle and waited for; for metrics. */
  poolStats(): { total: number; idle: number; waiting: number } {
    return { total: this.pool.totalCount, idle: this.pool.idleCount, waiting: this.pool.waitingCount };
  }

  query<R = Record<string, unknown>>(sql: Statement | string, values?: unknown[]): Promise<R[]> {
    return rowsOf(this.pool, sql, values);
  }

  async execute(sql: Statement | string, values?: unknown[]): Promise<number> {
    return (await this.pool.query(toQuery(sql, values))).rowCount ?? 0;
  }

  async batched<I, R>(batch: BatchStatement<I>, item: I): Promise<R | null> {
    const ahead = await this.batchedAhead<I, R>(batch, item);
    await ahead?.committed;
    return ahead ? ahead.answer : null;
  }

  /** The same for callers who can do something useful, and harmless, with an answer whose commit still waits for the disk. */
  batchedAhead<I, R>(batch: BatchStatement<I>, item: I): Promise<Ahead<R> | null> {
    let opened = this.lanes.get(batch);
    if (!opened) this.lanes.set(batch, (opened = this.openLane(batch)));
    return (opened.lane as BatchLane<I>).add<R>(item);
  }

  /**
   * Batches have connections of their own, one for each kind of statement, so that a backend always runs the same few statements: it
   * has planned them, and all that they read is in its caches. No value of a batch would make for a better plan.
   */
  private openLane<I>(batch: BatchStatement<I>): { lane: BatchLane<unknown>; connection: LaneConnection } {
    const { options } = this.pool;
    const connection = new LaneConnection({
      ...(options as ClientConfig),
      password: options.password,
      options: '-c plan_cache_mode=force_generic_plan',
      // PostgreSQL ends a statement that takes too long. When it cannot say so any more, nobody shall wait behind that connection.
      query_timeout: (Number(options.statement_timeout) || 0) + ANSWER_GRACE_MS,
    });
    const lane = new BatchLane<I>(
      batch,
      async (sql, items, onRow) => connection.run(sql, JSON.stringify(items), onRow),
      (item) => runAlone((sql, values) => this.query(sql, values), batch, item),
      // Whether a commit went through that the connection broke in is not known.
      (error) => !isConnectionLoss(error),
    );
    return { lane: lane as BatchLane<unknown>, connection };
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.lanes.values(), ({ connection }) => connection.close()));
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  async transaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.runOnce(fn);
      } catch (error) {
        if (attempt >= MAX_TRIES || !RETRYABLE.has((error as { code?: string }).code ?? '')) throw error;
      }
    }
  }

  private async runOnce<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    let tx: OpenTransaction;
    let result: T;
    try {
      const client = (await runner.connect()) as PoolClient;
      tx = new OpenTransaction(client, runner);
      await runner.startTransaction();
      result = await fn(tx);
      await runner.commitTransaction();
    } catch (error) {
      // The connection itself may be what broke; then there is nothing left to roll back.
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
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

/**
 * Serializes everything that takes the same key until the transaction ends, e.g. counting rows against a cap before an insert.
 * Transaction-scoped on purpose: a session lock would outlive a crash inside a pooled connection.
 */
export async function advisoryLock(tx: Tx, key: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
}
