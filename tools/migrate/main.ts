import 'reflect-metadata';
import { ConfigError, loadConfig } from '@aps/platform/config';
import { createDataSource, Database, sessionLimits, storeLimits } from '@aps/platform/database';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import type { DataSource } from 'typeorm';
import { checkSchema, regenerateInitial } from './schema';
import { seedBase } from './seed';

/**
 * `migrate`                     runs the migrations and the idempotent seed
 * `migrate check`               fails when entities and migrations differ
 * `migrate regenerate-initial`  writes the initial migration anew from the entities (only while nothing is released)
 */
async function main(command = 'up'): Promise<void> {
  loadConfig();
  if (command === 'regenerate-initial') return regenerateInitial();
  const dataSource = await createDataSource(
    { entities: ENTITIES, migrations: MIGRATIONS },
    { poolSize: 3, applicationName: 'aps-migrate', unlimited: true },
  ).initialize();
  const lock = dataSource.createQueryRunner();
  try {
    if (command === 'check') return await checkSchema(dataSource);
    if (command !== 'up') throw new Error(`Unknown command ${command}; known are check and regenerate-initial.`);
    // One migrator at a time: several replicas of a migration job may start together. The lock is a transaction's, since a pooler would
    // keep the session; nothing may end that transaction before we do.
    await lock.startTransaction();
    await lock.query(
      `SELECT set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true), set_config('statement_timeout', '0', true)`,
    );
    await lock.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', ['aps:migrate']);
    const done = await dataSource.runMigrations({ transaction: 'each' });
    process.stdout.write(done.length ? `migrated: ${done.map((m) => m.name).join(', ')}\n` : 'schema is up to date\n');
    await boundSessions(dataSource);
    await seedBase(new Database(dataSource));
  } finally {
    if (lock.isTransactionActive) await lock.commitTransaction().catch(() => undefined);
    await lock.release();
    await dataSource.destroy();
  }
  // Loaded only where it is wanted: a migration job has no Redis.
  if (process.env.DEV_SEED_FILE) await (await import('./demo.js')).seedDemo(process.env.DEV_SEED_FILE);
}

/** Sessions behind a pooler have the limits of their role. It may be refused to a role to change itself; then only those need somebody else to do it. */
async function boundSessions(dataSource: DataSource): Promise<void> {
  try {
    for (const statement of storeLimits(sessionLimits())) await dataSource.query(statement);
  } catch (error) {
    process.stderr.write(
      `migrate: the limits of sessions could not be stored with the role, which only apps behind a connection pooler need: ${(error as Error).message}\n`,
    );
  }
}

main(process.argv[2]).then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`migrate: ${error instanceof ConfigError ? error.message : (error.stack ?? String(error))}\n`);
    process.exit(1);
  },
);
