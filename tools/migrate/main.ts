import 'reflect-metadata';
import { ConfigError, loadConfig } from '@aps/platform/config';
import { createDataSource, Database, sessionLimits, storeLimits } from '@aps/platform/database';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import type { DataSource } from 'typeorm';
import { alone, checkSchema, recount, regenerateInitial, requireWhole, runMissing } from './schema';
import { seedBase } from './seed';

/**
 * `migrate`                     runs the migrations and the idempotent seed
 * `migrate check`               fails when entities and migrations differ
 * `migrate recount`             counts anew what lists take their totals from
 * `migrate regenerate-initial`  writes the initial migration anew from the entities (only while nothing is released)
 */
async function main(command = 'up'): Promise<void> {
  loadConfig();
  if (command === 'regenerate-initial') return regenerateInitial();
  const dataSource = await createDataSource(
    { entities: ENTITIES, migrations: MIGRATIONS },
    { poolSize: 3, applicationName: 'aps-migrate', unlimited: true },
  ).initialize();
  try {
    if (command === 'check') return await checkSchema(dataSource);
    if (command === 'recount') return await recount(dataSource);
    if (command !== 'up') throw new Error(`Unknown command ${command}; known are check, recount and regenerate-initial.`);
    await alone(dataSource, async () => {
      const done = await runMissing(dataSource);
      await requireWhole(dataSource);
      process.stdout.write(done.length ? `migrated: ${done.join(', ')}\n` : 'schema is up to date\n');
      await boundSessions(dataSource);
      await seedBase(new Database(dataSource));
    });
  } finally {
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
