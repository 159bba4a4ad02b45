import 'reflect-metadata';
import { ConfigError, loadConfig } from '@aps/platform/config';
import { createDataSource, Database } from '@aps/platform/database';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
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
  const dataSource = await createDataSource({ entities: ENTITIES, migrations: MIGRATIONS }, { poolSize: 2, applicationName: 'aps-migrate' }).initialize();
  try {
    if (command === 'check') return await checkSchema(dataSource);
    if (command !== 'up') throw new Error(`Unknown command ${command}; known are check and regenerate-initial.`);
    // One migrator at a time: several replicas of a migration job may start together.
    await dataSource.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', ['aps:migrate']);
    const done = await dataSource.runMigrations({ transaction: 'each' });
    process.stdout.write(done.length ? `migrated: ${done.map((m) => m.name).join(', ')}\n` : 'schema is up to date\n');
    await seedBase(new Database(dataSource));
  } finally {
    await dataSource.destroy();
  }
  // Loaded only where it is wanted: a migration job has no Redis.
  if (process.env.DEV_SEED_FILE) await (await import('./demo.js')).seedDemo(process.env.DEV_SEED_FILE);
}

main(process.argv[2]).then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`migrate: ${error instanceof ConfigError ? error.message : (error.stack ?? String(error))}\n`);
    process.exit(1);
  },
);
