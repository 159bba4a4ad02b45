import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { createTestDatabase, type TestDatabase } from '@aps/platform/testing';
import { blocksOf } from './blocks';
import { documents } from './docs';

const blocks = documents().flatMap(({ file, text }) =>
  blocksOf(text)
    .filter(({ info }) => info === 'sql')
    .map(({ text: sql, line }) => [`${file}:${line}`, sql]),
);

/** Whoever is woken at night pastes these. */
describe('SQL in the documents', () => {
  let database: TestDatabase;
  beforeAll(async () => (database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS })));
  afterAll(() => database?.drop());

  it.each(blocks)('%s runs', async (_, sql) => {
    await database.dataSource.query(sql.replace(/<\w+_id>/g, '01890000-0000-7000-8000-000000000000'));
  });
});
