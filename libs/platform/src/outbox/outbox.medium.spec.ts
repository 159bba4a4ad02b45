import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { NO_CALLER } from '@aps/platform/database';
import { createTestDatabase, sql, type TestDatabase } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { DUE_AGAIN, DUE_ALL, INSERT } from './outbox.sql';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS });
});
afterAll(() => database?.drop());

const IN_AN_HOUR = new Date(Date.now() + 3_600_000);
/** A job that has been published, and is not looked at again for an hour. */
async function published(): Promise<string> {
  const id = uuidv7();
  await database.db.query(INSERT, [id, 'turn.run', 1, {}, null, null, IN_AN_HOUR, null]);
  await database.db.execute(sql('UPDATE outbox SET publishes = 1 WHERE id = $1'), [id]);
  return id;
}
const due = async () =>
  (await database.db.query(sql<{ id: string }>('SELECT id FROM outbox WHERE available_at <= now() ORDER BY id'))).map(({ id }) => id);

beforeEach(() => database.db.execute(sql('DELETE FROM outbox')));

describe('jobs that are to be published again', () => {
  it.each([
    ['all of them', () => database.db.execute(DUE_ALL)],
    ['those that could not be', (ids: string[]) => database.db.execute(DUE_AGAIN, [ids])],
  ])('%s are due at once, and who works on some meanwhile is not waited for', async (_, makeDue) => {
    const ids = [await published(), await published(), await published()];
    const [ended, ...others] = ids;
    await database.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql('DELETE FROM outbox WHERE id = $1'), [ended]);
      // It would wait until the time for locks is over.
      expect(await makeDue(ids)).toBe(2);
      expect(await due()).toEqual(others);
    });
    expect(await due()).toEqual(others);
  });
});
