import { Client } from 'pg';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { createDataSource } from '@aps/platform/database';
import { sql, createTestDatabase, type TestDatabase } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { alone, checkSchema, recount, requireWhole, runMissing } from '../migrate/schema';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS });
});
afterAll(() => database?.drop());

const EXISTING = `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_name <> 'schema_migrations' ORDER BY 1`;

describe('migrations', () => {
  const name = `aps_test_empty_${process.pid}`;
  const server = () => process.env.TEST_DATABASE_URL!;
  let empty: DataSource;

  async function asServer(sql: string): Promise<void> {
    const client = new Client({ connectionString: server() });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }
  const url = () => Object.assign(new URL(server()), { pathname: `/${name}` }).toString();
  const migrated = (migrations: (new () => MigrationInterface)[]): Promise<DataSource> =>
    createDataSource({ entities: ENTITIES, migrations }, { url: url(), poolSize: 2, unlimited: true }).initialize();
  beforeAll(async () => {
    await asServer(`CREATE DATABASE ${name}`);
    empty = await migrated(MIGRATIONS);
  });
  afterAll(async () => {
    await empty?.destroy();
    await asServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });

  it('lead from nothing to what the entities say, back to nothing, and up again', async () => {
    await runMissing(empty);
    await checkSchema(empty);
    const tables = await empty.query<{ name: string }[]>(EXISTING);
    expect(tables.length).toBeGreaterThan(20);
    for (let i = 0; i < MIGRATIONS.length; i++) await empty.undoLastMigration({ transaction: 'each' });
    expect(await empty.query(EXISTING)).toEqual([]);
    await runMissing(empty);
    await checkSchema(empty);
    expect(await empty.query(EXISTING)).toEqual(tables);
  });

  it('build an index beside those who write, outside of a transaction, while the migrator holds its lock', async () => {
    class Later1900000000000 implements MigrationInterface {
      readonly name = 'Later1900000000000';
      readonly transaction = false;
      up = (runner: QueryRunner) => runner.query('CREATE INDEX CONCURRENTLY later ON chats (title)') as Promise<void>;
      down = (runner: QueryRunner) => runner.query('DROP INDEX CONCURRENTLY later') as Promise<void>;
    }
    const later = await migrated([...MIGRATIONS, Later1900000000000]);
    try {
      await alone(later, async () => expect(await runMissing(later)).toEqual(['Later1900000000000']));
      expect(await later.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'later'::regclass`)).toEqual([{ indisvalid: true }]);
      await later.undoLastMigration({ transaction: 'none' });
    } finally {
      await later.destroy();
    }
  });

  it('let others go on while somebody holds a table that they need, and run once it is let go', async () => {
    class Blocked1900000000000 implements MigrationInterface {
      readonly name = 'Blocked1900000000000';
      up = (runner: QueryRunner) => runner.query('ALTER TABLE chats ADD COLUMN later text') as Promise<void>;
      down = (runner: QueryRunner) => runner.query('ALTER TABLE chats DROP COLUMN later') as Promise<void>;
    }
    const later = await migrated([...MIGRATIONS, Blocked1900000000000]);
    const [holder, reader] = [new Client({ connectionString: url() }), new Client({ connectionString: url() })];
    const told: unknown[] = [];
    const stderr = jest.spyOn(process.stderr, 'write').mockImplementation((line) => Boolean(told.push(line)));
    try {
      await Promise.all([holder.connect(), reader.connect()]);
      await holder.query('BEGIN; LOCK TABLE chats IN ACCESS SHARE MODE');
      const done = runMissing(later);
      await eventually(
        () => holder.query(`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'chats'::regclass`),
        ({ rowCount }) => rowCount === 1,
      );
      await reader.query('SELECT FROM chats');
      await eventually(
        () => Promise.resolve(told),
        () => told.length > 0,
      );
      await holder.query('COMMIT');
      expect(await done).toEqual(['Blocked1900000000000']);
      expect(told[0]).toMatch(/gives way.*ALTER TABLE chats/);
      await later.undoLastMigration({ transaction: 'each' });
    } finally {
      stderr.mockRestore();
      await Promise.all([holder.end(), reader.end()]);
      await later.destroy();
    }
  });

  it('what totals are taken from is counted anew by a command', async () => {
    const id = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';
    await empty.query(`INSERT INTO audit_log (id, source, action, target_kind) VALUES ($1, 'admin', 'org.suspended', 'organization')`, [
      id,
    ]);
    const kept = () => empty.query<object[]>('SELECT list, org_id, of_id, facet, n FROM list_tallies');
    const before = await kept();
    await empty.query('UPDATE list_tallies SET n = 7');
    await recount(empty);
    expect([before.length, await kept()]).toEqual([1, before]);
  });

  it('who writes meanwhile is waited for, and never ended', async () => {
    const writer = new Client({ connectionString: url() });
    await writer.connect();
    await writer.query('BEGIN');
    // As a transaction does that has written one table that is counted, and goes on to another of the same sums.
    await writer.query('INSERT INTO list_tallies (list, org_id, of_id, facet, n) SELECT list, org_id, of_id, facet, 0 FROM list_tallies');
    const counted = recount(empty);
    const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'list_tallies'::regclass`;
    await eventually(
      () => writer.query(waits),
      ({ rowCount }) => rowCount === 1,
    );
    await writer.query(
      `INSERT INTO audit_log (id, source, action, target_kind) VALUES (gen_random_uuid(), 'admin', 'org.unsuspended', 'organization')`,
    );
    await writer.query('COMMIT');
    await writer.end();
    await counted;
    expect(await empty.query('SELECT sum(n)::int AS n FROM list_tallies')).toEqual([{ n: 2 }]);
  });

  it('a difference is noticed', async () => {
    await empty.query('ALTER TABLE agents ADD COLUMN stray text');
    await expect(checkSchema(empty)).rejects.toThrow(/agents.*stray/);
    await empty.query('ALTER TABLE agents DROP COLUMN stray');
  });

  it('a database of an older text of a migration is told from one that has what is needed, and more', async () => {
    await empty.query('ALTER TABLE agents ADD COLUMN stray text');
    await empty.query('CREATE INDEX stray ON agents (created_at)');
    await requireWhole(empty);
    await empty.query('ALTER TABLE outbound_mails DROP COLUMN last_error');
    await expect(requireWhole(empty)).rejects.toThrow(/older text of a migration.*outbound_mails\.last_error/);
    await empty.query('ALTER TABLE agents DROP COLUMN stray');
    await empty.query('DROP INDEX stray');
    await empty.query('ALTER TABLE outbound_mails ADD COLUMN last_error text');
  });
});

/** Columns that name another row of the organization without a composite foreign key, each with its reason. */
const LOOSE: Record<string, string> = {
  'agents.live_revision_id': 'agents and their revisions name each other; the transaction that names one has written it',
  'billing_checkouts.offer_id': 'a plan or a pack, which belong to no organization; either may be gone when it is paid',
  'chat_compactions.turn_id': 'a note of who made it; written under the lock of its chat',
  'chats.compaction_id': 'chats and their summaries name each other; written in one transaction under the lock of the chat',
  'chats.current_turn_id': 'chats and their turns name each other; changes under the row lock of the chat',
  'chats.parent_chat_id': 'written by the service, from a chat that it holds',
  'chats.rollout_id': 'a note of where the revision came from',
  'chats.root_chat_id': 'written by the service, from a chat that it holds',
  'chats.source_chat_id': 'written by the service, from a chat that it holds',
  'child_waits.parent_turn_id': 'a note of which turn waits; written under the lock of its chat',
  'connections.owner_user_id': 'a user, who belongs to no organization; taken from who leaves it',
  'decisions.turn_id': 'a note of where it was made; a recorder holds the turn’s chat',
  'environment_commands.socket_id': 'names a socket of this moment, which has no table',
  'environment_commands.turn_id': 'a note of which turn asked for it; whoever ends the turn finds it by that',
  'environments.probe_id': 'names the job of its validation, which is gone when that is over',
  'environments.socket_id': 'names a socket of this moment, which has no table',
  'hitl_requests.agent_id': 'of a chat, which it names with its organization',
  'hitl_requests.assignee_user_id': 'a user, who belongs to no organization; found among its members',
  'hitl_requests.run_id': 'of a run of the same organization, whose step asks; written under its lock',
  'hitl_requests.turn_id': 'a note of which turn waits; written under the lock of its chat',
  'inbox_messages.channel_id': 'a note of how it came; channels are deleted for good',
  'inbox_messages.chat_message_id': 'a note of what it became; written with that',
  'inbox_messages.revision_id': 'a note of the rule set it was evaluated under; drafts are deleted for good',
  'inbox_replies.chat_id': 'of a chat of the same organization, which its turn has written',
  'inbox_replies.source_id': 'a note of which turn or run answers; written under its fence',
  'inboxes.current_revision_id': 'inboxes and their revisions name each other; changes under the row lock of the inbox',
  'instruction_revisions.base_revision_id': 'a note of what a draft began from',
  'knowledge_chunks.kb_id': 'of its source, which it names with its organization',
  'knowledge_vectors.kb_id': 'of its piece, which it names with its organization',
  'memories.owner_id': 'names an agent, a team or a project by its kind',
  'messages.turn_id': 'messages and turns name each other; written in one statement',
  'process_agent_calls.chat_id': 'of a chat of the same organization, which its step has begun',
  'process_agent_calls.turn_id': 'a note of the turn, of that chat',
  'process_runs.parent_run_id': 'written by the engine, from a run that it owns',
  'process_runs.parent_step_id': 'the same',
  'process_runs.root_run_id': 'the same',
  'process_steps.chat_id': 'begun in the transaction that names it',
  'process_steps.child_run_id': 'the same',
  'process_steps.hitl_request_id': 'the same',
  'processes.current_revision_id': 'processes and their revisions name each other; changes under the row lock of the process',
  'rollouts.deployed_rollout_id': 'names a rollout of the same agent, written with it',
  'turns.message_id': 'messages and turns name each other; written in one statement',
};

/** Tables with an organization that hang on nothing of it, each with its reason. */
const ROOTLESS: Record<string, string> = {
  api_tokens: 'belongs to a user; the organization only narrows it',
  audit_log: 'outlives what it is about',
  basis_tallies: 'counts decisions, which hang on it',
  billing_events: 'stored before anybody knows whom it is about',
  call_holds: 'held for minutes, and written before every call',
  chat_tallies: 'counts chats, which hang on it',
  decision_tallies: 'counts decisions, which hang on it',
  inbox_tallies: 'counts messages, which hang on it',
  hitl_tallies: 'counts requests, which hang on it',
  knowledge_tallies: 'counts sources, which hang on it',
  list_tallies: 'counts rows of lists, which hang on it',
  trial_grants: 'remembers a person, whatever becomes of the organization',
  usage_tallies: 'counts chats, turns and receipts, which hang on it',
  data_keys: 'made before the first secret of the organization, in any transaction',
  event_counts: 'counts events',
  events: 'the event log is keyed by topic and written on the hot path',
  inference_receipts: 'outlives what it is about',
  turn_steps: 'the journal of a turn, written twice a step by whoever holds its fence',
};

interface Key {
  table: string;
  columns: string[];
  target: string;
}

describe('tenancy in the schema', () => {
  const owned = async () =>
    (
      await database.db.query(
        sql<{ table: string }>(
          `SELECT table_name AS "table" FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'org_id' ORDER BY 1`,
        ),
      )
    ).map((r) => r.table);
  const keys = () =>
    database.db.query(
      sql<Key>(`
      SELECT c.conrelid::regclass::text AS "table", c.confrelid::regclass::text AS target,
             ARRAY(SELECT a.attname::text FROM unnest(c.conkey) k JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k) AS columns
      FROM pg_constraint c WHERE c.contype = 'f'`),
    );

  it('a row names rows of its own organization only: foreign keys between tables of organizations carry org_id', async () => {
    const tables = await owned();
    const narrow = (await keys()).filter((k) => tables.includes(k.table) && tables.includes(k.target) && !k.columns.includes('org_id'));
    expect(narrow.map((k) => `${k.table}(${k.columns.join()}) -> ${k.target}`)).toEqual([]);
  });

  it('every table of an organization hangs on it, by itself or through its parent', async () => {
    const all = await keys();
    const rootless = (await owned()).filter((table) => !all.some((k) => k.table === table && k.columns.includes('org_id')));
    expect(rootless).toEqual(Object.keys(ROOTLESS).sort());
  });

  it('every reference has a composite key or a reason', async () => {
    const tables = await owned();
    const all = await keys();
    const columns = await database.db.query(
      sql<{ table: string; column: string }>(`SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
       WHERE table_name = ANY($1) AND data_type = 'uuid' AND column_name LIKE '%\\_id' AND column_name NOT IN ('org_id', 'user_id', 'actor_id', 'author_id', 'principal_id') ORDER BY 1, 2`),
      [tables],
    );
    const loose = columns
      .filter(({ table, column }) => !ROOTLESS[table] && !all.some((k) => k.table === table && k.columns.includes(column)))
      .map((c) => `${c.table}.${c.column}`);
    expect(loose).toEqual(Object.keys(LOOSE).sort());
  });
});
