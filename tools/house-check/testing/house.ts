import type { AddressInfo } from 'node:net';
import type http from 'node:http';
import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import type { OrgRole } from '@aps/guards';
import { loadConfig } from '@aps/platform/config';
import { hashToken, newApiToken, newSessionToken, tokenHint } from '@aps/platform/crypto';
import type { Database } from '@aps/platform/database';
import { configureHttpApp } from '@aps/platform/http';
import { createLogger, NestLogger } from '@aps/platform/observability';
import { sql, createTestDatabase, watchErrors, type TestDatabase } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { AppModule as AdminApi } from '../../../apps/admin-api/src/app.module';
import { AppModule as Gateway } from '../../../apps/api-gateway/src/app.module';
import { LANE_PREFIXES } from '../../../apps/api-gateway/src/lanes';
import { seedBase } from '../../migrate/seed';

export interface Answer {
  status: number;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- specs look into bodies of many shapes
  body: any;
  headers: Headers;
}

export interface Person {
  id: string;
  email: string;
  /** A session. */
  token: string;
}

export interface CallOptions {
  as?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Gateway and admin-api as they are deployed, in this process, on a database of their own. */
export class House {
  private constructor(
    private readonly apps: NestExpressApplication[],
    private readonly judgeErrors: (() => void)[],
    readonly database: TestDatabase,
    readonly url: string,
    readonly adminUrl: string,
  ) {}

  static async open(): Promise<House> {
    const database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS });
    Object.assign(process.env, { REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '' });
    loadConfig();
    await seedBase(database.db);
    const admin = await listen(AdminApi);
    process.env.ADMIN_API_URL = admin.url;
    loadConfig();
    const gateway = await listen(Gateway, LANE_PREFIXES);
    return new House([gateway.app, admin.app], [gateway.judgeErrors, admin.judgeErrors], database, gateway.url, admin.url);
  }

  get db(): Database {
    return this.database.db;
  }

  /** The gateway's application, for looking at its router. */
  get gateway(): NestExpressApplication {
    return this.apps[0];
  }

  async call(method: string, path: string, { as, body, headers }: CallOptions = {}): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(as && { Authorization: `Bearer ${as}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    // A stream has no end to wait for: its status is all that a walk looks at.
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel();
      return { status: response.status, text: '', body: undefined, headers: response.headers };
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, text, body: text && isJson ? JSON.parse(text) : undefined, headers: response.headers };
  }

  /** A call that must succeed; used to furnish. */
  async make(method: string, path: string, as: string, body?: unknown): Promise<Answer['body']> {
    const answer = await this.call(method, path, { as, body });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
    return answer.body;
  }

  async person({ admin = false }: { admin?: boolean } = {}): Promise<Person> {
    const id = uuidv7();
    const email = `${id}@example.com`;
    await this.db.execute(
      sql(
        `INSERT INTO users (id, email, email_canonical, name, password_hash, email_verified_at) VALUES ($1, $2, $2, 'Somebody', 'none', now())`,
      ),
      [id, email],
    );
    if (admin) await this.db.execute(sql('INSERT INTO platform_admins (user_id) VALUES ($1)'), [id]);
    return { id, email, token: await this.session(id) };
  }

  async session(userId: string, { expired = false, revoked = false } = {}): Promise<string> {
    const token = newSessionToken();
    await this.db.execute(
      sql(
        `INSERT INTO sessions (id, user_id, token_hash, expires_at, revoked_at) VALUES ($1, $2, $3, now() + make_interval(days => $4), CASE WHEN $5 THEN now() END)`,
      ),
      [uuidv7(), userId, hashToken(token), expired ? -1 : 1, revoked],
    );
    return token;
  }

  async apiToken(userId: string, scope: string, { orgId = null as string | null, expired = false, revoked = false } = {}): Promise<string> {
    const token = newApiToken();
    const { prefix, last4 } = tokenHint(token);
    await this.db.execute(
      sql(`INSERT INTO api_tokens (id, user_id, name, scope, org_id, token_hash, prefix, last4, expires_at, revoked_at)
       VALUES ($1, $2, 'test', $3, $4, $5, $6, $7, CASE WHEN $8 THEN now() - interval '1 minute' END, CASE WHEN $9 THEN now() END)`),
      [uuidv7(), userId, scope, orgId, hashToken(token), prefix, last4, expired, revoked],
    );
    return token;
  }

  async join(orgId: string, userId: string, role: OrgRole): Promise<string> {
    const id = uuidv7();
    await this.db.execute(sql('INSERT INTO memberships (id, org_id, user_id, role) VALUES ($1, $2, $3, $4)'), [id, orgId, userId, role]);
    return id;
  }

  /** Fails where an operation has answered an error that the API document does not know of it. */
  async close(): Promise<void> {
    for (const app of this.apps) await app.close();
    await this.database.drop();
    for (const judge of this.judgeErrors) judge();
  }
}

async function listen(
  module: Type<unknown>,
  rawPaths: readonly string[] = [],
): Promise<{ app: NestExpressApplication; url: string; judgeErrors: () => void }> {
  const logger = createLogger('test');
  const built = await Test.createTestingModule({ imports: [module] })
    .setLogger(new NestLogger(logger))
    .compile();
  const app = built.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: new NestLogger(logger) });
  const judgeErrors = watchErrors(app);
  configureHttpApp(app, logger, rawPaths);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as http.Server).address() as AddressInfo;
  return { app, url: `http://127.0.0.1:${port}`, judgeErrors };
}
