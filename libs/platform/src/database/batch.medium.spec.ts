import { NO_CALLER } from '@aps/platform/database';
import { loadConfig } from '@aps/platform/config';
import { sql, createTestDatabase, SilencedProxy, type TestDatabase } from '@aps/platform/testing';
import { Batcher, batchStatement, MAX_TOGETHER } from './batch';
import { Database } from './database';
import { createDataSource } from './database.module';
import { isConnectionLoss } from './errors';

interface Deposit {
  account: string;
  amount: number;
}

const DEPOSIT = batchStatement<Deposit>(
  'test_deposit',
  (item) => item.account,
  (locked) => `
  WITH i AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(account text, amount int)
  ), l AS MATERIALIZED (
    SELECT i.*, k.balance FROM i CROSS JOIN LATERAL (SELECT a.balance FROM accounts a WHERE a.id = i.account FOR UPDATE ${locked}) k
  ), u AS (
    UPDATE accounts SET balance = l.balance + l.amount FROM l WHERE accounts.id = l.account
  )
  SELECT l.account AS batch_key, json_build_object('balance', l.balance + l.amount, 'transaction', pg_current_xact_id()::text) AS answer FROM l`,
);

type Row = { balance: number; transaction: string };

describe('calls of the same moment', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase({ entities: [] });
    await database.db.execute(sql('CREATE TABLE accounts (id text PRIMARY KEY, balance int NOT NULL CHECK (balance >= 0))'));
  });
  afterAll(() => database.drop());
  beforeEach(() =>
    database.db
      .execute(sql(`DELETE FROM accounts`))
      .then(() => database.db.execute(sql(`INSERT INTO accounts SELECT 'a' || n, 100 FROM generate_series(1, 40) n`))),
  );

  const deposit = (account: string, amount: number, db: TestDatabase['db'] = database.db) =>
    db.batched<Deposit, Row>(DEPOSIT, { account, amount });
  const balances = async () =>
    Object.fromEntries(
      (await database.db.query(sql<{ id: string; balance: number }>('SELECT id, balance FROM accounts WHERE balance <> 100'))).map((r) => [
        r.id,
        r.balance,
      ]),
    );
  const countOf = (rows: (Row | null)[]) => new Set(rows.map((r) => r?.transaction)).size;

  it('are one statement, and each gets its own row', async () => {
    const rows = await Promise.all([deposit('a1', 1), deposit('a2', 2), deposit('a3', 3)]);
    expect(rows.map((r) => r?.balance)).toEqual([101, 102, 103]);
    expect(countOf(rows)).toBe(1);
  });

  it('go on in further statements where they are many', async () => {
    const rows = await Promise.all(Array.from({ length: 40 }, (_, i) => deposit(`a${i + 1}`, i)));
    expect(rows.map((r) => r?.balance)).toEqual(Array.from({ length: 40 }, (_, i) => 100 + i));
    expect(countOf(rows)).toBe(3);
  });

  it('go one after another where they mean the same row', async () => {
    const rows = await Promise.all([deposit('a1', 1), deposit('a2', 5), deposit('a1', 1), deposit('a1', 1)]);
    expect(rows.map((r) => r?.balance)).toEqual([101, 105, 102, 103]);
    expect(await balances()).toEqual({ a1: 103, a2: 105 });
  });

  it('do not wait for one whose row is locked; that one gets what the holder has left', async () => {
    let waiting: Promise<Row | null> | undefined;
    await database.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql(`UPDATE accounts SET balance = 500 WHERE id = 'a1'`));
      waiting = deposit('a1', 1);
      expect((await deposit('a2', 2))?.balance).toBe(102);
      expect((await deposit('a3', 3))?.balance).toBe(103);
    });
    expect((await waiting)?.balance).toBe(501);
    expect(await balances()).toEqual({ a1: 501, a2: 102, a3: 103 });
  });

  it('do not fail with one that fails', async () => {
    const [bad, good, none] = await Promise.allSettled([deposit('a1', -200), deposit('a2', 2), deposit('nobody', 1)]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: '23514' } });
    expect(good).toMatchObject({ status: 'fulfilled', value: { balance: 102 } });
    expect(none).toEqual({ status: 'fulfilled', value: null });
    expect(await balances()).toEqual({ a2: 102 });
  });

  describe('whose commit takes long', () => {
    const HELD = 4711;
    // Runs at the end of the transaction, after the statement has answered.
    beforeAll(async () => {
      await database.db.execute(
        sql(`CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.balance = 666 THEN RAISE EXCEPTION 'no'; END IF;
        PERFORM pg_advisory_xact_lock_shared(${HELD});
        RETURN NULL; END $$`),
      );
      await database.db.execute(
        sql(
          'CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON accounts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()',
        ),
      );
    });
    afterAll(() => database.db.execute(sql('DROP TRIGGER at_commit ON accounts')));

    it('tell their answers before', async () => {
      let over = false;
      let waiting: Promise<unknown> | undefined;
      const ahead = await database.db.transaction(NO_CALLER, async (tx) => {
        await tx.query(sql('SELECT pg_advisory_xact_lock($1)'), [HELD]);
        const asked = [1, 2].map((n) => database.db.batchedAhead<Deposit, Row>(DEPOSIT, { account: `a${n}`, amount: n }));
        waiting = deposit('a3', 3).then(() => (over = true));
        const answers = await Promise.all(asked);
        expect(answers.map((one) => one?.answer.balance)).toEqual([101, 102]);
        expect(await balances()).toEqual({});
        expect(over).toBe(false);
        return answers;
      });
      await Promise.all([waiting, ...ahead.map((one) => one?.committed)]);
      expect(await balances()).toEqual({ a1: 101, a2: 102, a3: 103 });
    });

    it('say afterwards that it failed, and are not repeated', async () => {
      const ahead = await database.db.batchedAhead<Deposit, Row>(DEPOSIT, { account: 'a1', amount: 566 });
      expect(ahead?.answer.balance).toBe(666);
      await expect(ahead?.committed).rejects.toThrow('no');
      await expect(deposit('a1', 566)).rejects.toThrow('no');
      expect(await balances()).toEqual({});
      expect((await deposit('a1', 1))?.balance).toBe(101);
    });
  });

  it('are part of the transaction that makes them', async () => {
    const failed = database.db.transaction(NO_CALLER, async (tx) => {
      expect((await tx.batched<Deposit, Row>(DEPOSIT, { account: 'a1', amount: 1 }))?.balance).toBe(101);
      expect(await tx.batched(DEPOSIT, { account: 'nobody', amount: 1 })).toBeNull();
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await balances()).toEqual({});
  });

  it('are not repeated when the connection breaks, since they may have come through', async () => {
    let tries = 0;
    const batcher = new Batcher(
      DEPOSIT,
      async (sql, items) => {
        tries++;
        await database.db.query(sql, [items]);
        throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
      },
      () => Promise.reject(new Error('not alone')),
      (error) => !isConnectionLoss(error),
    );
    const results = await Promise.allSettled([batcher.add({ account: 'a1', amount: 1 }), batcher.add({ account: 'a2', amount: 2 })]);
    expect(results).toEqual([1, 2].map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'ECONNRESET' }) })));
    expect(tries).toBe(1);
    expect(await balances()).toEqual({ a1: 101, a2: 102 });
  });

  it('do not wait for ever behind a connection that has gone silent', async () => {
    const proxy = await SilencedProxy.to(database.url);
    // Long enough for a statement of a busy machine.
    process.env.DATABASE_STATEMENT_TIMEOUT_MS = '2000';
    loadConfig();
    const db = new Database(await createDataSource({ entities: [] }, { url: proxy.url }).initialize());
    try {
      expect((await deposit('a1', 1, db))?.balance).toBe(101);
      proxy.silence();
      await expect(deposit('a2', 2, db)).rejects.toThrow('Query read timeout');
      expect((await deposit('a3', 3, db))?.balance).toBe(103);
    } finally {
      delete process.env.DATABASE_STATEMENT_TIMEOUT_MS;
      loadConfig();
      await db.close();
      await proxy.close();
    }
  });

  it('leave a large one to go alone', async () => {
    const large = { account: 'a1', amount: 1, note: 'x'.repeat(MAX_TOGETHER) };
    const [alone, first, second] = await Promise.all(
      [large, { account: 'a2', amount: 2 }, { account: 'a3', amount: 3 }].map((item) => database.db.batched<Deposit, Row>(DEPOSIT, item)),
    );
    expect(first?.transaction).toBe(second?.transaction);
    expect(alone?.transaction).not.toBe(first?.transaction);
    expect(await balances()).toEqual({ a1: 101, a2: 102, a3: 103 });
  });

  it('fail one by one when what they carry is no JSON, and the next are served', async () => {
    const [bad, good] = await Promise.allSettled([deposit('a1', 1n as unknown as number), deposit('a2', 2)]);
    expect(bad).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) });
    expect(good).toMatchObject({ status: 'fulfilled', value: { balance: 102 } });
    expect((await deposit('a3', 3))?.balance).toBe(103);
  });

  it('are refused after the end, and make none wait for a server that has gone silent', async () => {
    const proxy = await SilencedProxy.to(database.url);
    const db = new Database(await createDataSource({ entities: [] }, { url: proxy.url }).initialize());
    expect((await deposit('a1', 1, db))?.balance).toBe(101);
    proxy.silence();
    await db.close();
    await expect(deposit('a2', 2, db)).rejects.toThrow('Client was closed');
    await proxy.close();
    expect(await balances()).toEqual({ a1: 101 });
  });

  it('are not repeated when an answer cannot be told to whom it belongs', async () => {
    const misspelt = { ...DEPOSIT, keyOf: (item: Deposit) => item.account.toUpperCase() };
    await expect(database.db.batched(misspelt, { account: 'a1', amount: 1 })).rejects.toThrow('answers for a1');
    expect(await balances()).toEqual({ a1: 101 });
  });

  it('find a new connection when theirs has ended', async () => {
    expect((await deposit('a1', 1))?.balance).toBe(101);
    await database.db.query(
      sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query ILIKE '%batch_key%'`,
      ),
    );
    // The first may meet the end itself.
    await deposit('a1', 1).catch(() => undefined);
    expect((await deposit('a2', 2))?.balance).toBe(102);
  });
});
