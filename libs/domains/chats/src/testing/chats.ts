import { AgentsModule, AgentsService } from '@aps/agents';
import { AgentsHttpModule } from '@aps/agents/http';
import { BillingModule, Blockers, configuredEntitlements, Entitlements, type Blocker, type EntitlementSet } from '@aps/billing';
import { SwitchableConnections, type SwitchableConnection } from '@aps/chats';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule, OrgScope } from '@aps/guards';
import type { Dialect } from '@aps/inference';
import type { Database } from '@aps/platform/database';
import { MailJobsModule } from '@aps/platform/mail';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { WorkersModule } from '@aps/platform/queues';
import { PlatformModule } from '@aps/platform/runtime';
import {
  sql,
  createTestApp,
  createTestDatabase,
  httpCaller,
  insertOrganization,
  type Answer,
  type CallOptions,
  type TestApp,
} from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { startMockModel, type MockModel } from '../../../../../tools/mock-model/server';
import { ChatsHttpModule } from '../http';
import { ChatsJobsModule } from '../jobs';

/** A frame of an event stream. `data` is the envelope. */
export interface Frame {
  event: string;
  id?: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- specs look into frames of many shapes
  data: any;
}

export interface TestOrg {
  id: string;
  owner: string;
  ownerId: string;
  member: string;
  agentId: string;
  /** `/api/orgs/<id>/agents/<agent>/chats` */
  path: string;
}

/** A model script, as the mock route plays it. */
export const script = (...steps: Record<string, unknown>[]): string => `run ${uuidv7()}\n\`\`\`mock\n${JSON.stringify({ steps })}\n\`\`\``;

/** A message whose answer takes longer than a test wants to wait. */
export const SLOW = script({ text: 'one two three four five', chunk_delay_ms: 5_000 });

/** A message that has the agent call one tool, and then say `done`. */
export const calls = (tool: string, args: Record<string, unknown>): string =>
  script({ tool_calls: [{ name: tool, arguments: args }] }, { text: 'done' });

/** Gateway and worker in one process, on a database of its own, with a model server that speaks the provider's wire format. */
export class ChatsTestApp {
  /** What every organization can switch in its chats. */
  connections: SwitchableConnection[] = [];
  /** What keeps every organization from spending. */
  blocker: Blocker | null = null;
  private changes: Partial<EntitlementSet> = {};
  private streams = new Set<AbortController>();

  private constructor(
    private readonly test: TestApp,
    readonly db: Database,
    private readonly model: MockModel,
    private readonly dropDatabase: () => Promise<void>,
  ) {}

  static async start(): Promise<ChatsTestApp> {
    const schema = { entities: ENTITIES, migrations: MIGRATIONS };
    const database = await createTestDatabase(schema);
    const model = await startMockModel();
    const self: { app?: ChatsTestApp } = {};
    class TestEntitlements extends Entitlements {
      of(): Promise<EntitlementSet> {
        return Promise.resolve({ ...configuredEntitlements(), ...self.app?.changes });
      }
    }
    class TestBlockers extends Blockers {
      of(): Promise<Blocker | null> {
        return Promise.resolve(self.app?.blocker ?? null);
      }
    }
    class TestConnections extends SwitchableConnections {
      of(): Promise<SwitchableConnection[]> {
        return Promise.resolve(self.app?.connections ?? []);
      }
    }
    const test = await createTestApp(
      [
        PlatformModule.forRoot('test', schema),
        GuardsModule.forRoot(),
        IdempotencyModule,
        BillingModule,
        AgentsModule,
        AgentsHttpModule,
        ChatsHttpModule,
        ChatsJobsModule,
        MaintenanceModule,
        MailJobsModule,
        WorkersModule.forQueues('turns', 'titles', 'maintenance'),
      ],
      (builder) =>
        builder
          .overrideProvider(Entitlements)
          .useClass(TestEntitlements)
          .overrideProvider(Blockers)
          .useClass(TestBlockers)
          .overrideProvider(SwitchableConnections)
          .useClass(TestConnections),
    );
    const app = new ChatsTestApp(test, database.db, model, () => database.drop());
    self.app = app;
    const route = uuidv7();
    await database.db.execute(
      sql(`INSERT INTO inference_routes (id, slug, label, dialect, base_url) VALUES ($1, 'mock', 'Mock', 'dialect_1', $2)`),
      [route, `${model.url}/v1`],
    );
    await database.db.execute(
      sql(
        `INSERT INTO model_catalog (id, key, route_id, label, provider, input_price_per_1m, output_price_per_1m, context_window) VALUES ($1, 'mock', $2, 'Mock', 'mock', 1, 2, 128000)`,
      ),
      [uuidv7(), route],
    );
    return app;
  }

  get nest() {
    return this.test.app;
  }

  get url(): string {
    return this.test.url;
  }

  /** A model of the test's model server whose price nobody knows. */
  async addUnpricedModel(key: string): Promise<void> {
    await this.db.execute(
      sql(
        `INSERT INTO model_catalog (id, key, route_id, label, provider) SELECT gen_random_uuid(), $1, id, $1, 'mock' FROM inference_routes WHERE slug = 'mock'`,
      ),
      [key],
    );
  }

  /** A model of the test's model server that is called in a dialect; its key is the dialect's name. Any route has a key of the environment. */
  async addDialect(dialect: Dialect): Promise<void> {
    const route = uuidv7();
    await this.db.execute(sql(`INSERT INTO inference_routes (id, slug, label, dialect, base_url) VALUES ($1, $2, $2, $3, $4)`), [
      route,
      dialect.replace('_', '-'),
      dialect,
      `${this.model.url}/${dialect === 'dialect_3' ? 'v1beta' : 'v1'}`,
    ]);
    await this.db.execute(
      sql(
        `INSERT INTO model_catalog (id, key, route_id, label, provider, remote_model_id, input_price_per_1m, output_price_per_1m, context_window) VALUES ($1, $2, $3, $2, 'mock', 'claude-opus-4-6', 1, 2, 128000)`,
      ),
      [uuidv7(), dialect, route],
    );
  }

  /** What every organization may do from now on, beyond what the configuration says. */
  entitle(changes: Partial<EntitlementSet>): void {
    this.changes = { ...this.changes, ...changes };
  }

  call(method: string, path: string, options?: CallOptions): Promise<Answer> {
    return httpCaller(this.test.url)(method, path, options);
  }

  /** An organization with an owner, a member and an agent. */
  async org(agent: Record<string, unknown> = {}): Promise<TestOrg> {
    const { id, owner, member } = await insertOrganization(this.db);
    const made = await this.test.app
      .get(AgentsService, { strict: false })
      .create(OrgScope.member(id, owner.id, 'OWNER'), { name: 'Agent', ...agent });
    return {
      id,
      owner: owner.token,
      ownerId: owner.id,
      member: member.token,
      agentId: made.id,
      path: `/api/orgs/${id}/agents/${made.id}/chats`,
    };
  }

  async chat(org: TestOrg, body: Record<string, unknown> = { title: 'Test' }, as = org.owner): Promise<string> {
    const answer = await this.call('POST', org.path, { as, body });
    if (answer.status !== 201) throw new Error(`Opening a chat answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.id as string;
  }

  send(org: TestOrg, chat: string, content: string, headers?: Record<string, string>): Promise<Answer> {
    return this.call('POST', `${org.path}/${chat}/messages`, { as: org.owner, body: { content }, headers });
  }

  get(org: TestOrg, chat: string, as = org.owner): Promise<Answer> {
    return this.call('GET', `${org.path}/${chat}`, { as });
  }

  /** Asks until the chat is as wanted; what it was last is in the failure. */
  async until(org: TestOrg, chat: string, wanted: (chat: Answer['body']) => boolean): Promise<Answer['body']> {
    let last: Answer['body'];
    for (let i = 0; i < 400; i++) {
      last = (await this.get(org, chat)).body;
      if (wanted(last)) return last;
      await new Promise((r) => setTimeout(r, 50));
    }
    throw new Error(`The chat did not become what was waited for: ${JSON.stringify(last, null, 1)}`);
  }

  /** Waits until nothing of the chat runs or waits to run, and so many replies are there. */
  settled(org: TestOrg, chat: string, replies: number): Promise<Answer['body']> {
    return this.until(
      org,
      chat,
      (c) =>
        c.status !== 'RUNNING' &&
        c.messages.filter((m: { role: string; tool_calls: unknown[] }) => m.role === 'assistant' && m.tool_calls.length === 0).length >=
          replies,
    );
  }

  /** Opens the chat's stream and reads frames until `last` holds. */
  async stream(org: TestOrg, chat: string, options: { as?: string; lastEventId?: string; path?: string } = {}): Promise<StreamReader> {
    const controller = new AbortController();
    this.streams.add(controller);
    const response = await fetch(`${this.test.url}${org.path}/${chat}/stream${options.path ?? ''}`, {
      headers: { Authorization: `Bearer ${options.as ?? org.owner}`, ...(options.lastEventId && { 'Last-Event-ID': options.lastEventId }) },
      signal: controller.signal,
    });
    return new StreamReader(response, controller);
  }

  async close(): Promise<void> {
    for (const s of this.streams) s.abort();
    await this.test.close();
    await this.model.close();
    await this.dropDatabase();
  }
}

/** Reads an event stream frame by frame. */
export class StreamReader {
  private buffer = '';
  private readonly seen: Frame[] = [];
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private readonly decoder = new TextDecoder();

  constructor(
    readonly response: Response,
    private readonly controller: AbortController,
  ) {
    this.reader = response.ok ? response.body?.getReader() : undefined;
  }

  get status(): number {
    return this.response.status;
  }

  /** Every frame up to and with the first that is as wanted; undefined when the stream ended before it. */
  async until(wanted: (frame: Frame) => boolean): Promise<Frame[]> {
    for (;;) {
      const frame = await this.next();
      if (!frame) throw new Error(`The stream ended before what was waited for; it had ${this.seen.map((f) => f.event).join(', ')}`);
      if (wanted(frame)) return this.seen;
    }
  }

  async next(): Promise<Frame | undefined> {
    for (;;) {
      const end = this.buffer.indexOf('\n\n');
      if (end >= 0) {
        const frame = parseFrame(this.buffer.slice(0, end));
        this.buffer = this.buffer.slice(end + 2);
        if (!frame) continue;
        this.seen.push(frame);
        return frame;
      }
      const chunk = await this.reader?.read();
      if (!chunk || chunk.done) return undefined;
      this.buffer += this.decoder.decode(chunk.value, { stream: true });
    }
  }

  close(): void {
    this.controller.abort();
  }
}

function parseFrame(text: string): Frame | undefined {
  const fields = Object.fromEntries(text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
  return fields.event ? { event: fields.event, ...(fields.id && { id: fields.id }), data: JSON.parse(fields.data ?? 'null') } : undefined;
}
