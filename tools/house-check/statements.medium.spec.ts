/**
 * It mocks the module that all statements are made by.
 *
 * @alone
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { Client, type Connection, type Submittable } from 'pg';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { createTestDatabase, type TestDatabase } from '@aps/platform/testing';
import { RowTypes, siteOf, type Column } from './testing/row-types';

const ROOT = path.join(__dirname, '../..');
const LIBS = path.join(ROOT, 'libs');
// What a process of its own begins with makes of this one what that is: one without a network, or a daemon.
const sources = readdirSync(LIBS, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/(\.(d|spec|worker)|\/daemon\/main)\.ts$/.test(file) && !file.split(path.sep).includes('testing'),
);

interface Made {
  text: string;
  stack: string;
}

/** Columns that may be null, in rows where their statement's own condition or assignment keeps them from it. */
const NEVER_NULL_THERE: Record<string, string> = {
  'libs/platform/src/mail/mail.sql.ts body': 'a pending mail has one',
  'libs/domains/agents/src/agents.queries.ts revision_id': 'only agents with a live revision',
  'libs/domains/prompts/src/prompts.queries.ts model_key': 'only templates that name one of the models',
  'libs/domains/knowledge/src/documents.repository.ts position': 'a document has one',
  'libs/domains/knowledge/src/search/vectors.repository.ts space': 'only bases that have one',
  'libs/domains/processes/src/revisions/staleness.sql.ts revision_id': 'only processes of which something is deployed',
  'libs/domains/chats/src/turns/turn.repository.ts tool_call_id': 'only tool calls begin as an intent',
  'libs/domains/chats/src/turns/turn.repository.ts tool_name': 'the same',
  'libs/domains/chats/src/turns/turn.repository.ts wait': 'a waiting turn has one',
  'libs/domains/chats/src/delegation/delegation.repository.ts parent_chat_id': 'orphans had a parent',
  'libs/domains/chats/src/delegation/delegation.repository.ts result': 'a wait that is finished has one',
  'libs/domains/chats/src/state/chat-state.repository.ts pause': 'only chats with a pause',
};

/** Statements that end what others refer to, in a statement of their own, or all that does it again. */
const ENDS_REFERENCES = [
  'libs/domains/chats/src/control/control.repository.ts',
  'libs/domains/files/src/files.repository.ts',
  'libs/domains/inference/src/governance/governance.repository.ts',
];

const STATEMENT = '../../libs/platform/src/database/statement';
// The real function, watched: what it made, and where.
jest.mock('../../libs/platform/src/database/statement', () => {
  const actual = jest.requireActual<typeof import('../../libs/platform/src/database/statement')>(
    '../../libs/platform/src/database/statement',
  );
  const made: Made[] = [];
  const statement = (text: string) => {
    made.push({ text, stack: new Error().stack! });
    return actual.statement(text);
  };
  return { ...actual, statement, made };
});

interface Described {
  name: string;
  tableID: number;
  columnID: number;
  dataTypeID: number;
}

/** Whether rows are locked in a subquery: in parentheses, none of which are those of a WITH. */
const locksInSubquery = (text: string): boolean => {
  const open: boolean[] = [];
  for (const { 0: token, index } of text.matchAll(/[()]|\bFOR (?:NO KEY )?UPDATE\b/g)) {
    if (token === '(') open.push(/\bAS (?:MATERIALIZED )?$/.test(text.slice(0, index)));
    else if (token === ')') open.pop();
    else if (open.length && !open.includes(true)) return true;
  }
  return false;
};

/** Asks PostgreSQL what a statement returns, without running it. */
class Description implements Submittable {
  private fields: Described[] = [];

  constructor(
    private readonly text: string,
    private readonly done: (error: Error | undefined, fields: Described[]) => void,
  ) {}

  submit(connection: Connection): void {
    connection.parse({ name: '', text: this.text, types: [] }, true);
    connection.describe({ type: 'S', name: '' }, true);
    connection.sync();
  }
  handleRowDescription({ fields }: { fields: Described[] }): void {
    this.fields = fields;
  }
  handleError(error: Error): void {
    this.done(error, []);
  }
  handleReadyForQuery(): void {
    this.done(undefined, this.fields);
  }
}

describe('every statement', () => {
  let database: TestDatabase;
  let client: Client;
  let types: RowTypes;
  const nullable = new Set<string>();

  beforeAll(async () => {
    database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS });
    for (const file of sources) await import(path.join(LIBS, file));
    client = new Client({ connectionString: database.url });
    await client.connect();
    const columns = await client.query<{ id: string }>(
      `SELECT attrelid || '.' || attnum AS id FROM pg_attribute WHERE attnum > 0 AND NOT attnotnull`,
    );
    for (const { id } of columns.rows) nullable.add(id);
    types = new RowTypes(ROOT);
  });
  afterAll(async () => {
    await client?.end();
    await database?.drop();
  });

  const columnsOf = (text: string): Promise<Column[]> =>
    new Promise((resolve, reject) => {
      const done = (error: Error | undefined, fields: Described[]) => {
        if (error) return reject(error);
        resolve(fields.map((f) => ({ name: f.name, type: f.dataTypeID, nullable: nullable.has(`${f.tableID}.${f.columnID}`) })));
      };
      client.query(new Description(text, done));
    });

  it('is understood by PostgreSQL, with the schema as it is, and returns what its row type says', async () => {
    const { made } = jest.requireMock<{ made: Made[] }>(STATEMENT);
    expect(made.length).toBeGreaterThan(300);
    const faults: string[] = [];
    const allowed = new Set<string>();
    for (const { text, stack } of made) {
      const site = siteOf(stack, ROOT);
      const file = path.relative(ROOT, site[0].file);
      const found = await columnsOf(text).then(
        (columns) => types.faults(site, columns),
        (error: Error) => [error.message],
      );
      for (const fault of found) {
        // Pages carry their total beside the columns of their rows.
        if (fault === 'its row lacks total' && file.endsWith('database/listing.ts')) continue;
        const [, column] = /^(\w+) may be null$/.exec(fault) ?? [];
        if (NEVER_NULL_THERE[`${file} ${column}`]) allowed.add(`${file} ${column}`);
        else faults.push(`${file}:${site[0].line}: ${fault}`);
      }
    }
    expect(faults).toEqual([]);
    expect([...allowed].sort()).toEqual(Object.keys(NEVER_NULL_THERE).sort());
  });

  // Foreign keys are checked under a lock that only FOR UPDATE keeps out, at moments that nobody sees in the code: for a row that its own
  // transaction has written before, any update checks them all. Whoever holds a row so can be waited for by those who change a row beside it.
  it('locks rows so that others may still refer to them, unless it removes them', () => {
    const { made } = jest.requireMock<{ made: Made[] }>(STATEMENT);
    const found = made
      .filter(({ text }) => /\bFOR UPDATE\b/.test(text) && !/\bDELETE FROM\b/.test(text))
      .map(({ stack }) => path.relative(ROOT, siteOf(stack, ROOT)[0].file));
    expect([...new Set(found)].sort()).toEqual(ENDS_REFERENCES);
  });

  // A plan may read a subquery again for each row that it compares with it, and finds others there when those it locked first have been
  // changed by then: more rows than its LIMIT. What a WITH locks is read once.
  it('locks rows in a WITH or at its end, and not in a subquery', () => {
    const { made } = jest.requireMock<{ made: Made[] }>(STATEMENT);
    const found = made.filter(({ text }) => locksInSubquery(text)).map(({ stack }) => path.relative(ROOT, siteOf(stack, ROOT)[0].file));
    expect([...new Set(found)]).toEqual([]);
  });
});
