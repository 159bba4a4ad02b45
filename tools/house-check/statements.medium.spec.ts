import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { statements } from '@aps/platform/database';
import { createTestDatabase, type TestDatabase } from '@aps/platform/testing';

const LIBS = path.join(__dirname, '../../libs');
const sources = readdirSync(LIBS, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.endsWith('.spec.ts') && !file.split(path.sep).includes('testing'),
);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS });
  for (const file of sources) await import(path.join(LIBS, file));
}, 120_000);
afterAll(() => database?.drop());

describe('statements', () => {
  it('are understood by PostgreSQL, with the schema as it is', async () => {
    const all = statements();
    expect(all.length).toBeGreaterThan(200);
    const refused: string[] = [];
    await database.db.transaction(async (tx) => {
      for (const { name, text } of all) {
        await tx.execute('SAVEPOINT before');
        await tx.execute(`PREPARE "check_${name}" AS ${text}`).catch(async (error: Error) => {
          refused.push(`${error.message} in: ${text.trim()}`);
          await tx.execute('ROLLBACK TO before');
        });
      }
    });
    expect(refused).toEqual([]);
  });
});
