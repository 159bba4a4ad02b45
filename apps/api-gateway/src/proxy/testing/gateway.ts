import type { AddressInfo } from 'node:net';
import { Test } from '@nestjs/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule } from '@aps/guards';
import { hashToken, newApiToken, newSessionToken, tokenHint } from '@aps/platform/crypto';
import type { Database } from '@aps/platform/database';
import { configureHttpApp, HttpAdapter } from '@aps/platform/http';
import { createLogger, NestLogger } from '@aps/platform/observability';
import { PlatformModule } from '@aps/platform/runtime';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { PROXIED_PREFIXES, ProxyModule } from '..';

export interface TestGateway {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** The gateway with nothing but its guards and its proxied paths, at its real edge: their bodies are not parsed. */
export async function startGateway(): Promise<TestGateway> {
  const logger = createLogger('test');
  const schema = { entities: ENTITIES, migrations: MIGRATIONS };
  const module = await Test.createTestingModule({ imports: [PlatformModule.forRoot('test', schema), GuardsModule.forRoot(), ProxyModule] })
    .setLogger(new NestLogger(logger))
    .compile();
  const app = module.createNestApplication<NestExpressApplication>(new HttpAdapter(), {
    bodyParser: false,
    logger: new NestLogger(logger),
  });
  configureHttpApp(app, logger, PROXIED_PREFIXES);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, close: () => app.close() };
}

/** A signed-in user. */
export async function makeUser(
  db: Database,
  name: string,
  options: { admin?: boolean } = {},
): Promise<{ id: string; email: string; token: string; sessionId: string }> {
  const [id, sessionId, token, email] = [uuidv7(), uuidv7(), newSessionToken(), `${name}@example.com`];
  await db.execute(
    sql('INSERT INTO users (id, email, email_canonical, name, password_hash, email_verified_at) VALUES ($1, $2, $2, $3, $4, now())'),
    [id, email, name, 'x'],
  );
  await db.execute(sql(`INSERT INTO sessions (id, user_id, token_hash, expires_at) VALUES ($1, $2, $3, now() + interval '1 day')`), [
    sessionId,
    id,
    hashToken(token),
  ]);
  if (options.admin) await db.execute(sql('INSERT INTO platform_admins (user_id) VALUES ($1)'), [id]);
  return { id, email, token, sessionId };
}

/** An API token of a user. */
export async function makeApiToken(db: Database, userId: string, scope: string, orgPin: string | null = null): Promise<string> {
  const token = newApiToken();
  const { prefix, last4 } = tokenHint(token);
  await db.execute(
    sql('INSERT INTO api_tokens (id, user_id, name, scope, org_id, token_hash, prefix, last4) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)'),
    [uuidv7(), userId, 'test', scope, orgPin, hashToken(token), prefix, last4],
  );
  return token;
}
