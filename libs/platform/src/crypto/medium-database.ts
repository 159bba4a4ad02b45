import { randomBytes } from 'node:crypto';
import { Database } from '@aps/platform/database';
import { DataSource, type EntitySchema } from 'typeorm';

/** For medium tests: a database in a schema of its own, with the tables of the given entities. */
export interface MediumDatabase {
  db: Database;
  close(): Promise<void>;
}

export async function mediumDatabase(entities: (string | (new () => object) | EntitySchema)[]): Promise<MediumDatabase> {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error('TEST_DATABASE_URL is not set; run the tests with npm test.');
  const schema = `t_${randomBytes(6).toString('hex')}`;
  const admin = await new DataSource({ type: 'postgres', url, poolSize: 1 }).initialize();
  await admin.query(`CREATE SCHEMA ${schema}`);
  const source = await new DataSource({ type: 'postgres', url, schema, entities, synchronize: true, extra: { max: 12, options: `-c search_path=${schema}` } }).initialize();
  return {
    db: new Database(source, (error) => {
      throw error;
    }),
    async close() {
      await source.destroy();
      await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      await admin.destroy();
    },
  };
}
