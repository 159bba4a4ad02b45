import { spawnSync } from 'node:child_process';
import path from 'node:path';

interface Case {
  why: string;
  /** An existing file, whose text the fixture stands in for. */
  file: string;
  code: string;
  rule: string | null;
}

const BOUNDARIES = '@nx/enforce-module-boundaries';
const IMPORTS = 'no-restricted-imports';
const uses = (name: string, from: string) => `import { ${name} } from '${from}';\nexport const used: unknown = ${name};\n`;

const CASES: Case[] = [
  {
    why: 'platform imports a domain',
    file: 'libs/platform/src/http/body.ts',
    code: uses('IdentityModule', '@aps/identity'),
    rule: BOUNDARIES,
  },
  {
    why: 'platform imports the entities',
    file: 'libs/platform/src/http/body.ts',
    code: uses('ENTITIES', '@aps/entities'),
    rule: BOUNDARIES,
  },
  { why: 'platform imports the guards', file: 'libs/platform/src/http/body.ts', code: uses('OrgScope', '@aps/guards'), rule: BOUNDARIES },
  {
    why: 'contracts import platform',
    file: 'libs/contracts/src/jobs.ts',
    code: uses('loadConfig', '@aps/platform/config'),
    rule: BOUNDARIES,
  },
  { why: 'entities import contracts', file: 'libs/entities/src/schema-extras.ts', code: uses('JOBS', '@aps/contracts'), rule: BOUNDARIES },
  {
    why: 'the wire contract imports a domain',
    file: 'libs/dtos/src/chats/chat.dto.ts',
    code: uses('ChatsModule', '@aps/chats'),
    rule: BOUNDARIES,
  },
  {
    why: 'the wire contract imports entities',
    file: 'libs/dtos/src/chats/chat.dto.ts',
    code: uses('ENTITIES', '@aps/entities'),
    rule: BOUNDARIES,
  },
  { why: 'guards import a domain', file: 'libs/guards/src/access.ts', code: uses('IdentityModule', '@aps/identity'), rule: BOUNDARIES },
  {
    why: 'a domain imports a later one',
    file: 'libs/domains/identity/src/users.service.ts',
    code: uses('ChatsModule', '@aps/chats'),
    rule: BOUNDARIES,
  },
  {
    why: 'a domain imports its neighbour above',
    file: 'libs/domains/orgs/src/roster.ts',
    code: uses('BillingModule', '@aps/billing'),
    rule: BOUNDARIES,
  },
  {
    why: 'a library imports an app',
    file: 'libs/domains/chats/src/turns/queue-depth.ts',
    code: uses('AppModule', '../../../../../apps/chat-worker/src/app.module'),
    rule: BOUNDARIES,
  },
  {
    why: 'a domain reaches into another, past its public interface',
    file: 'libs/domains/chats/src/turns/queue-depth.ts',
    code: uses('AgentsRepository', '../../../agents/src/agents.repository'),
    rule: BOUNDARIES,
  },
  {
    why: 'an app imports another',
    file: 'apps/chat-worker/src/app.module.ts',
    code: uses('AppModule', '../../api-gateway/src/app.module'),
    rule: BOUNDARIES,
  },
  {
    why: 'a controller documents an answer by hand',
    file: 'libs/domains/chats/src/http/chats.controller.ts',
    code: uses('ApiConflictResponse', '@nestjs/swagger'),
    rule: IMPORTS,
  },
  {
    why: 'a controller sets a status by hand',
    file: 'libs/domains/chats/src/http/chats.controller.ts',
    code: uses('HttpCode', '@nestjs/common'),
    rule: IMPORTS,
  },
  {
    why: 'a service imports the testing room of a domain',
    file: 'libs/domains/chats/src/chats.service.ts',
    code: uses('aPerson', '@aps/identity/testing'),
    rule: IMPORTS,
  },
  {
    why: 'a controller imports a testing room',
    file: 'libs/domains/chats/src/http/chats.controller.ts',
    code: uses('aPerson', '@aps/identity/testing'),
    rule: IMPORTS,
  },
  {
    why: 'a factory imports a later domain',
    file: 'libs/domains/identity/src/testing/people.ts',
    code: uses('AgentsModule', '@aps/agents'),
    rule: BOUNDARIES,
  },
  { why: 'an app imports typeorm', file: 'apps/api-gateway/src/main.ts', code: uses('DataSource', 'typeorm'), rule: IMPORTS },
  { why: 'an app imports pg', file: 'apps/api-gateway/src/main.ts', code: uses('Client', 'pg'), rule: IMPORTS },
  { why: 'an app imports undici', file: 'apps/api-gateway/src/main.ts', code: uses('fetch', 'undici'), rule: IMPORTS },
  {
    why: 'a service imports its http',
    file: 'libs/domains/chats/src/chats.service.ts',
    code: uses('ChatsHttpModule', './http'),
    rule: IMPORTS,
  },
  {
    why: 'a service imports its jobs',
    file: 'libs/domains/chats/src/chats.service.ts',
    code: uses('ChatsJobsModule', './jobs'),
    rule: IMPORTS,
  },
  {
    why: 'a service imports the http of another domain',
    file: 'libs/domains/chats/src/chats.service.ts',
    code: uses('AgentsHttpModule', '@aps/agents/http'),
    rule: IMPORTS,
  },
  {
    why: 'a service imports wire classes',
    file: 'libs/domains/chats/src/chats.service.ts',
    code: uses('ChatResponse', '@aps/dtos'),
    rule: IMPORTS,
  },
  {
    why: 'a service in a subfolder imports its http',
    file: 'libs/domains/chats/src/control/stop.service.ts',
    code: uses('ChatsHttpModule', '../http'),
    rule: IMPORTS,
  },
  {
    why: 'a service in a subfolder imports a controller',
    file: 'libs/domains/chats/src/control/stop.service.ts',
    code: uses('ChatsController', '../http/chats.controller'),
    rule: IMPORTS,
  },
  {
    why: 'a service in a subfolder imports its jobs',
    file: 'libs/domains/chats/src/turns/turn.kind.ts',
    code: uses('ChatsJobsModule', '../jobs'),
    rule: IMPORTS,
  },
  {
    why: 'a service in a subfolder imports wire classes',
    file: 'libs/domains/chats/src/turns/turn.kind.ts',
    code: uses('ChatResponse', '@aps/dtos'),
    rule: IMPORTS,
  },
  {
    why: 'a service reads the environment',
    file: 'libs/domains/chats/src/chats.service.ts',
    code: 'export const url = process.env.DATABASE_URL;\n',
    rule: 'no-restricted-properties',
  },
  {
    why: 'a service writes to the console',
    file: 'libs/domains/chats/src/chats.service.ts',
    code: "console.log('x');\n",
    rule: 'no-console',
  },
  {
    why: 'SQL folds the case of an address',
    file: 'libs/domains/identity/src/sessions.repository.ts',
    code: "export const q = 'SELECT 1 FROM users u WHERE lower(u.email) = lower($1)';\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'SQL compares an address as it was typed',
    file: 'libs/domains/identity/src/sessions.repository.ts',
    code: 'export const q = (x: string) => `SELECT ${x} FROM users WHERE email = $1`;\n',
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a column folds case',
    file: 'libs/entities/src/schema-extras.ts',
    code: "export const type = 'citext';\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a service folds the case of an address',
    file: 'libs/domains/orgs/src/roster.ts',
    code: 'export const key = (user: { email: string }) => user.email.toLowerCase();\n',
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a service folds the case of an address that may be missing',
    file: 'libs/domains/orgs/src/roster.ts',
    code: 'export const key = (email?: string) => email?.toLocaleLowerCase();\n',
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a service writes SQL',
    file: 'libs/domains/chats/src/control/stop.service.ts',
    code: "import { statement } from '@aps/platform/database';\nexport const ONE = statement('SELECT 1');\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a service queries through TypeORM',
    file: 'libs/domains/chats/src/control/stop.service.ts',
    code: "import type { Db } from '@aps/platform/database';\nexport const one = (db: Db): Promise<unknown> => db.manager.query('SELECT 1');\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a repository makes a statement late',
    file: 'libs/domains/orgs/src/invitations.repository.ts',
    code: "import { statement, type Db } from '@aps/platform/database';\nexport class R {\n  one(db: Db) {\n    return db.query(statement('SELECT 1'));\n  }\n}\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a part of a wire class lets null in everywhere',
    file: 'libs/dtos/src/orgs/organizations.dto.ts',
    code: "import { PartialType } from '@nestjs/swagger';\nclass A {}\nexport class B extends PartialType(A) {}\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a service lists by SQL of its own',
    file: 'libs/domains/chats/src/control/stop.service.ts',
    code: "import { Listing } from '@aps/platform/database';\nexport const ALL = new Listing<{ id: string }, object>({ key: 'id', select: 'id', from: 'chats', order: 'id' });\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a repository makes a list late',
    file: 'libs/domains/orgs/src/invitations.repository.ts',
    code: "import { Listing } from '@aps/platform/database';\nexport class R {\n  all = new Listing<{ id: string }, object>({ key: 'id', select: 'id', from: 'chats', order: 'id' });\n}\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a domain other than chats has batches',
    file: 'libs/domains/orgs/src/invitations.repository.ts',
    code: "import { batchStatement } from '@aps/platform/database';\nexport const BATCH = batchStatement('x', () => '', () => '');\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a domain other than chats answers ahead of its commit',
    file: 'libs/domains/orgs/src/invitations.repository.ts',
    code: "import type { BatchStatement, Database } from '@aps/platform/database';\nexport const run = (db: Database, batch: BatchStatement<string>) => db.batchedAhead(batch, 'x');\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a domain writes a job by hand',
    file: 'libs/domains/chats/src/turns/turn.sql.ts',
    code: "import { statement } from '@aps/platform/database';\nexport const JOB = statement(`INSERT INTO outbox (id) VALUES ($1)`);\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'a domain appends to the event log by hand',
    file: 'libs/domains/orgs/src/invitations.repository.ts',
    code: "import { statement } from '@aps/platform/database';\nexport const TOLD = statement('INSERT INTO events (topic) VALUES ($1)');\n",
    rule: 'no-restricted-syntax',
  },
  // What is allowed, so that the rules above are known to be about the import and not about the file.
  {
    why: 'a repository writes SQL',
    file: 'libs/domains/orgs/src/invitations.repository.ts',
    code: "import { statement } from '@aps/platform/database';\nexport const ONE = statement('SELECT 1');\n",
    rule: null,
  },
  {
    why: 'a room of chats writes the rows of another',
    file: 'libs/domains/chats/src/turns/turn.repository.ts',
    code: "import { statement } from '@aps/platform/database';\nexport const REST = statement(`UPDATE chats SET status = 'ACTIVE'`);\n",
    rule: 'no-restricted-syntax',
  },
  {
    why: 'the room of a table writes it',
    file: 'libs/domains/chats/src/state/chat-log.repository.ts',
    code: "import { statement } from '@aps/platform/database';\nexport const REST = statement(`UPDATE chats SET status = 'ACTIVE'`);\n",
    rule: null,
  },
  {
    why: 'chats have batches',
    file: 'libs/domains/chats/src/turns/turn.sql.ts',
    code: "import { batchStatement } from '@aps/platform/database';\nexport const BATCH = batchStatement('x', () => '', () => '');\n",
    rule: null,
  },
  {
    why: 'a domain imports an earlier one',
    file: 'libs/domains/chats/src/turns/queue-depth.ts',
    code: uses('AgentsModule', '@aps/agents'),
    rule: null,
  },
  {
    why: 'a service imports paging from platform/http',
    file: 'libs/domains/chats/src/chats.service.ts',
    code: uses('toPage', '@aps/platform/http'),
    rule: null,
  },
  {
    why: 'a service in a subfolder imports paging from platform/http',
    file: 'libs/domains/chats/src/control/stop.service.ts',
    code: uses('toPage', '@aps/platform/http'),
    rule: null,
  },
  {
    why: 'a controller imports wire classes',
    file: 'libs/domains/chats/src/http/chats.controller.ts',
    code: uses('ChatResponse', '@aps/dtos'),
    rule: null,
  },
  {
    why: 'a controller names its tag',
    file: 'libs/domains/chats/src/http/chats.controller.ts',
    code: uses('ApiTags', '@nestjs/swagger'),
    rule: null,
  },
  { why: 'an app imports a domain', file: 'apps/api-gateway/src/main.ts', code: uses('AgentsModule', '@aps/agents'), rule: null },
  {
    why: 'SQL compares canonical addresses',
    file: 'libs/domains/identity/src/sessions.repository.ts',
    code: "export const q = 'SELECT email FROM users WHERE email_canonical = $1';\n",
    rule: null,
  },
  {
    why: 'config reads the environment',
    file: 'libs/platform/src/config/index.ts',
    code: 'export const url = process.env.DATABASE_URL;\n',
    rule: null,
  },
];

/** In a process of its own: the configuration is an ES module, which Jest cannot load. */
function lint(cases: Case[]): string[][] {
  const root = path.join(__dirname, '../..');
  const { stdout, stderr, status } = spawnSync(process.execPath, [path.join(__dirname, 'testing/lint-probe.mjs')], {
    cwd: root,
    input: JSON.stringify(cases.map(({ file, code }) => ({ file, code }))),
    env: { ...process.env, NX_DAEMON: 'false' },
    encoding: 'utf8',
    maxBuffer: 1 << 24,
  });
  if (status !== 0) throw new Error(`The probe failed: ${stderr}`);
  return JSON.parse(stdout.slice(stdout.indexOf('['))) as string[][];
}

describe('the lint', () => {
  let found: string[][];
  beforeAll(() => {
    found = lint(CASES);
  });

  it.each(CASES.map((c, i) => [c.rule ? 'reports' : 'allows', c.why, i] as const))('%s: %s', (_, __, i) => {
    expect([...new Set(found[i])]).toEqual(CASES[i].rule ? [CASES[i].rule] : []);
  });
});
