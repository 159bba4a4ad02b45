import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { createDataSource, Database, type SchemaSources } from '@aps/platform/database';
import { loadConfig } from '@aps/platform/config';

export interface TestDatabase {
  url: string;
  db: Database;
  dataSource: DataSource;
  /** Closes the connections, drops the database and removes the uploaded files. */
  drop(): Promise<void>;
}

function adminUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error('TEST_DATABASE_URL is not set: run the tests by `npm test`.');
  return url;
}

const withName = (name: string): string => {
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return url.toString();
};

async function asAdmin<T>(fn: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: adminUrl() });
  await client.connect();
  try {
    return await fn(client);
  } finally {
    await client.end();
  }
}

/** Makes one template per schema version; databases of tests are copies of it. */
function schemaTemplate(schema: SchemaSources): Promise<Template> {
  const migrations = (schema.migrations as { name: string; toString(): string }[] | undefined) ?? [];
  return template(migrations.map(String).join('\n'), async (url) => {
    const dataSource = createDataSource(schema, { url, poolSize: 1 });
    await dataSource.initialize();
    await dataSource.runMigrations({ transaction: 'each' });
    await dataSource.destroy();
    return '';
  });
}

/** A database to be copied. */
interface Template {
  name: string;
  /** What its maker wanted to be known of it. */
  note: string;
}

/**
 * A database that is made once on a server, and is there to be copied. Any number of test processes may come at once.
 *
 * @param version of what `make` makes: whatever it depends on
 * @param make fills the empty database; @returns what is to be known of it
 */
async function template(version: string, make: (url: string) => Promise<string>): Promise<Template> {
  const name = `aps_template_${createHash('sha1').update(version).digest('hex').slice(0, 12)}`;
  return asAdmin(async (client) => {
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
    const { rows } = await client.query<{ note: string | null }>(
      `SELECT shobj_description(oid, 'pg_database') AS note FROM pg_database WHERE datname = $1 AND datistemplate`,
      [name],
    );
    if (rows.length) return { name, note: rows[0].note ?? '' };
    await client.query(`DROP DATABASE IF EXISTS ${name}`);
    await client.query(`CREATE DATABASE ${name}`);
    const note = await make(withName(name));
    await client.query(`COMMENT ON DATABASE ${name} IS ${client.escapeLiteral(note)}`);
    await client.query(`ALTER DATABASE ${name} IS_TEMPLATE true`);
    return { name, note };
  });
}

/** A copy of a template. */
export interface DatabaseCopy {
  url: string;
  /** What the maker of the template wanted to be known of it. */
  note: string;
  drop: () => Promise<void>;
}

async function copyOf({ name: from, note }: Template): Promise<DatabaseCopy> {
  const name = `aps_test_${randomBytes(6).toString('hex')}`;
  await asAdmin((client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${from}`));
  return {
    url: withName(name),
    note,
    drop: async () => void (await asAdmin((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}

/** Makes a database of the current schema. The configuration names a server, with the settings that its migration is to have. */
export const copyOfSchema = async (schema: SchemaSources): Promise<DatabaseCopy> => copyOf(await schemaTemplate(schema));

/** Makes a database with what `make` has once put into an empty one, as {@link template} says. */
export const copyOfMade = async (version: string, make: (url: string) => Promise<string>): Promise<DatabaseCopy> =>
  copyOf(await template(version, make));

/** Settings that every process under test needs; a test may override them in `process.env` before. */
export function testEnvironment(databaseUrl: string): Record<string, string> {
  return {
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    REDIS_URL: process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379',
    // One Redis serves every test file: each has its own keys and channels.
    REDIS_PREFIX: `t${randomBytes(4).toString('hex')}`,
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
    RATE_LIMITS: 'off',
    MASTER_KEYS: `1:${Buffer.alloc(32, 7).toString('base64')}`,
    INTERNAL_TOKEN_SECRET: 'test-internal-token-secret-0123456789abcdef',
    PORT: '0',
    INTERNAL_PORT: '0',
    SHUTDOWN_DELAY_MS: '0',
    // Who waits for a server while every core is busy with other specs has waited for nothing that this one is about.
    DATABASE_CONNECT_TIMEOUT_MS: '30000',
    REDIS_COMMAND_TIMEOUT_MS: '30000',
    FILES_DIR: path.join(tmpdir(), `aps-files-${randomBytes(6).toString('hex')}`),
  };
}

/**
 * Makes a database of the current schema for one test file and points the process's configuration at it.
 *
 * @param schema the entities and migrations of the service
 */
export async function createTestDatabase(schema: SchemaSources): Promise<TestDatabase> {
  // The template is made with the default settings, before the test's own database exists.
  Object.assign(process.env, { ...testEnvironment(adminUrl()), ...pick(process.env, ['RATE_LIMITS']) });
  loadConfig();
  const { url, drop } = await copyOfSchema(schema);
  process.env.DATABASE_URL = url;
  process.env.DATABASE_DIRECT_URL = url;
  const filesDir = process.env.FILES_DIR!;
  loadConfig();
  const dataSource = await createDataSource(schema, { url, poolSize: 8 }).initialize();
  const db = new Database(dataSource);
  return {
    url,
    dataSource,
    db,
    async drop() {
      await db.close();
      await drop();
      await rm(filesDir, { recursive: true, force: true });
    },
  };
}

function pick(env: NodeJS.ProcessEnv, names: string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((n) => (env[n] === undefined ? [] : [[n, env[n]]])));
}
