import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, MigrationExecutor, QueryFailedError, type EntitySubscriberInterface } from 'typeorm';
import { createDataSource } from '@aps/platform/database';
import { ENTITIES, recountOf, SCHEMA_EXTRAS, TALLIES } from '@aps/entities';

const INITIAL = 'libs/entities/src/migrations/1700000000000-initial.ts';

/**
 * Does something as the only migrator: several replicas of a migration job may start together. The lock is a transaction's, since a
 * pooler would keep the session; nothing may end that transaction before the work is done.
 */
export async function alone(dataSource: DataSource, work: () => Promise<void>): Promise<void> {
  const lock = dataSource.createQueryRunner();
  try {
    await lock.startTransaction();
    await lock.query(
      `SELECT set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true), set_config('statement_timeout', '0', true)`,
    );
    // Without parameters: a statement that has some keeps its snapshot until the next, and who builds an index concurrently waits for it.
    await lock.query(`SELECT pg_advisory_xact_lock(hashtextextended('aps:migrate', 0))`);
    await work();
  } finally {
    if (lock.isTransactionActive) await lock.commitTransaction().catch(() => undefined);
    await lock.release();
  }
}

/** So long a migration waits for a lock: who comes to that table meanwhile waits behind it, and apps do so for no more than three seconds. */
const WAITS_MS = 2_000;
/** So long it stands back then, and those behind it go on. */
const STANDS_BACK_MS = 1_000;

/**
 * Runs the migrations that are missing, each in a transaction of its own or, where it says `transaction = false`, in none. One that does not
 * get a lock gives way and begins anew. In no transaction it waits without a bound, since what is built concurrently is in nobody's way.
 *
 * @returns their names
 */
export async function runMissing(dataSource: DataSource): Promise<string[]> {
  const missing = await new MigrationExecutor(dataSource).getPendingMigrations();
  const bounded: EntitySubscriberInterface = {
    afterTransactionStart: ({ queryRunner }) => queryRunner.query(`SET LOCAL lock_timeout = ${WAITS_MS}`),
  };
  dataSource.subscribers.push(bounded);
  try {
    for (let statement; (statement = await heldUp(() => dataSource.runMigrations({ transaction: 'each' }))); await sleep(STANDS_BACK_MS))
      process.stderr.write(`migrate: others hold what a migration needs, so it gives way and tries again: ${statement.slice(0, 200)}\n`);
  } finally {
    dataSource.subscribers.splice(dataSource.subscribers.indexOf(bounded), 1);
  }
  return missing.map(({ name }) => name);
}

const LOCK_NOT_AVAILABLE = '55P03';

/** @returns the statement that did not get a lock in the time it has; nothing of its transaction is left then */
async function heldUp(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof QueryFailedError && (error.driverError as { code?: string }).code === LOCK_NOT_AVAILABLE) return error.query;
    throw error;
  }
}

/** Statements that would bring the database to what the entities say. Indexes that only the extras know are left alone. */
async function difference(dataSource: DataSource): Promise<{ up: string[]; down: string[] }> {
  const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
  const extras = SCHEMA_EXTRAS.map((e) => e.name);
  const ours = (q: string) => !extras.some((name) => q.includes(`"${name}"`));
  // TypeORM notes the way back in the order of the way there.
  return {
    up: upQueries.map((q) => q.query).filter(ours),
    down: downQueries
      .map((q) => q.query)
      .filter(ours)
      .reverse(),
  };
}

/** @throws Error that lists the statements by which entities and migrated database differ */
export async function checkSchema(dataSource: DataSource): Promise<void> {
  const { up } = await difference(dataSource);
  if (up.length) throw new Error(`The migrations do not lead to what the entities say. Missing:\n${up.map((q) => `  ${q};`).join('\n')}`);
  process.stdout.write('entities and migrations agree\n');
}

/**
 * Until the first release the text of the one migration changes, of which a database that has run an older one does not learn.
 *
 * @throws Error that names the columns that are missing, though every migration has run
 */
export async function requireWhole(dataSource: DataSource): Promise<void> {
  const columns: { name: string }[] = await dataSource.query(
    `SELECT format('%s.%s', table_name, column_name) AS name FROM information_schema.columns WHERE table_schema = current_schema()`,
  );
  const there = new Set(columns.map(({ name }) => name));
  const missing = dataSource.entityMetadatas
    .flatMap((entity) => entity.columns.map((column) => `${entity.tableName}.${column.databaseName}`))
    .filter((name) => !there.has(name));
  if (missing.length)
    throw new Error(
      `This database was made by an older text of a migration. Begin with a new one (with npm start: remove .data). Missing: ${missing.join(', ')}`,
    );
}

/** So long it waits for who writes: less than PostgreSQL takes to see a deadlock, which might end one of them. */
const GIVES_WAY_MS = 500;

/** Counts anew what is tallied, one table after another; who writes one waits meanwhile. */
export async function recount(dataSource: DataSource): Promise<void> {
  for (const statements of TALLIES.flatMap(recountOf)) while (await heldUp(() => recountOne(dataSource, statements)));
  process.stdout.write(`counted anew: ${TALLIES.map(({ table }) => table).join(', ')}\n`);
}

const recountOne = (dataSource: DataSource, statements: string[]) =>
  dataSource.transaction(async (tx) => {
    await tx.query(`SET LOCAL lock_timeout = ${GIVES_WAY_MS}`);
    for (const sql of statements) await tx.query(sql);
  });

/** Writes the initial migration from the entities, compared with an empty schema. */
export async function regenerateInitial(): Promise<void> {
  const scratch = `scratch_${process.pid}`;
  const admin = await createDataSource({ entities: [] }, { poolSize: 1 }).initialize();
  await admin.query(`CREATE SCHEMA ${scratch}`);
  const empty = new DataSource({ ...createDataSource({ entities: ENTITIES }, { poolSize: 1 }).options, schema: scratch } as never);
  try {
    await empty.initialize();
    const { up, down } = await difference(empty);
    const clean = (q: string) => q.replaceAll(`"${scratch}".`, '');
    const lines = (queries: string[]) => queries.map((q) => `    await runner.query(${JSON.stringify(clean(q))});`).join('\n');
    const text = `import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SCHEMA_EXTRAS } from '../schema-extras';

/** The schema of the first release. Written by \`npm run migrate -- regenerate-initial\`. */
export class Initial1700000000000 implements MigrationInterface {
  readonly name = 'Initial1700000000000';

  async up(runner: QueryRunner): Promise<void> {
${lines(up)}
    for (const extra of SCHEMA_EXTRAS) await runner.query(extra.up);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const extra of [...SCHEMA_EXTRAS].reverse()) await runner.query(extra.down);
${lines(down)}
  }
}
`;
    writeFileSync(path.resolve(INITIAL), text);
    process.stdout.write(`wrote ${INITIAL}\n`);
  } finally {
    if (empty.isInitialized) await empty.destroy();
    await admin.query(`DROP SCHEMA ${scratch} CASCADE`);
    await admin.destroy();
  }
}
