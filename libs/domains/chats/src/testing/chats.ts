import { AgentsModule } from '@aps/agents';
import { AgentsHttpModule } from '@aps/agents/http';
import { anAgent } from '@aps/agents/testing';
import { BillingModule, Blockers, type Blocker } from '@aps/billing';
import { ConnectionsJobsModule } from '@aps/connections/jobs';
import { DecisionsHttpModule } from '@aps/decisions/http';
import type { QueueName } from '@aps/contracts';
import type { Dialect } from '@aps/inference';
import { addModel, addRoute } from '@aps/inference/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import type { Db } from '@aps/platform/database';
import { MailJobsModule } from '@aps/platform/mail';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { WorkersModule } from '@aps/platform/queues';
import { eventually, sql, standStill, type Answer, type Bearer } from '@aps/platform/testing';
import { BASE_MODULES, TestService, type Settings } from '@aps/testing';
import { RunLeases, RunSweeper } from '@aps/platform/runs';
import { uuidv7 } from 'uuidv7';
import { letGo, startMockModel, type MockModel } from '../../../../../tools/mock-model/server';
import { ChatsHttpModule } from '../http';
import { ChatsJobsModule } from '../jobs';
import { TurnKind } from '../turns/turn.kind';
import { REFUSE_OTHER_MOVES } from './moves';

/** A frame of an event stream. `data` is the envelope. */
export interface Frame {
  event: string;
  id?: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- specs look into frames of many shapes
  data: any;
}

/** An organization and an agent of its own. */
export interface TestOrg extends TestTeam {
  agentId: string;
  /** `/api/orgs/<id>/agents/<agent>/chats` */
  path: string;
}

/** A model script, as the mock route plays it. */
export const script = (...steps: Record<string, unknown>[]): string => `run ${uuidv7()}\n\`\`\`mock\n${JSON.stringify({ steps })}\n\`\`\``;

/** How long an answer is delayed that the spec lets go, see {@link ChatsService.letGo}. */
export const HELD = 600_000;

/** A message whose answer takes longer than a test wants to wait. */
export const SLOW = script({ text: 'one two three four five', chunk_delay_ms: 5_000 });

/** A message that has the agent call one tool, and then say `done`. */
export const calls = (tool: string, args: Record<string, unknown>): string =>
  script({ tool_calls: [{ name: tool, arguments: args }] }, { text: 'done' });

const RUNNING = sql<{ id: string }>(`SELECT id FROM turns WHERE chat_id = $1 AND status = 'running'`);
const EXPIRE = sql(`UPDATE turns SET lease_expires_at = now() - interval '2 seconds' WHERE chat_id = $1 AND status = 'running'`);

/** Gateway and worker in one process. */
const CHATS = [
  ...BASE_MODULES,
  BillingModule,
  AgentsModule,
  AgentsHttpModule,
  ChatsHttpModule,
  ChatsJobsModule,
  DecisionsHttpModule,
  MaintenanceModule,
  MailJobsModule,
  ConnectionsJobsModule,
];
const QUEUES = ['turns', 'titles', 'maintenance'] as const;
const PRICED = { provider: 'mock', input_price_per_1m: '1', output_price_per_1m: '2', context_window: 128_000 };

/** The test service with chats, and with a model server that speaks the providers' wire formats; it says what specs of chats say over and over. */
export class ChatsService extends TestService {
  /** What keeps every organization from spending; null leaves it to their budgets. */
  blocker: Blocker | null = null;
  private model: MockModel;
  /** Of the model server. */
  private route: string;
  /** Streams that are open; they end with the service. */
  readonly streams = new Set<AbortController>();

  /**
   * @param beside what a spec needs of other domains
   * @param queues what it takes the jobs of, beside those of chats
   */
  constructor(settings?: Settings, beside: typeof BASE_MODULES = [], queues: QueueName[] = []) {
    super([...CHATS, WorkersModule.forQueues(...QUEUES, ...queues), ...beside], { settings });
  }

  override async start(): Promise<this> {
    this.model = await startMockModel();
    await super.start();
    const blockers = this.get(Blockers);
    const real = blockers.of.bind(blockers);
    // What stands behind this is no part of this domain.
    Object.assign(blockers, { of: async (orgId: string, db?: Db) => this.blocker ?? (await real(orgId, db)) });
    for (const statement of REFUSE_OTHER_MOVES) await this.db.execute(statement);
    this.route = await addRoute(this, 'mock', { base_url: `${this.model.url}/v1` });
    await addModel(this, 'mock', { ...PRICED, route_id: this.route });
    return this;
  }

  /** A model of the test's model server whose price nobody knows. */
  async addUnpricedModel(key: string): Promise<void> {
    await addModel(this, key, { provider: 'mock', route_id: this.route });
  }

  /** A model of the test's model server that is called in a dialect; its key is the dialect's name. Any route has a key of the environment. */
  async addDialect(dialect: Dialect): Promise<void> {
    const base_url = `${this.model.url}/${dialect === 'dialect_3' ? 'v1beta' : 'v1'}`;
    const route_id = await addRoute(this, dialect.replace('_', '-'), { dialect, base_url });
    await addModel(this, dialect, { ...PRICED, remote_model_id: 'claude-opus-4-6', route_id });
  }

  /** An organization with an owner, a member and an agent. */
  async org(agent: Record<string, unknown> = {}): Promise<TestOrg> {
    const team = await aTeam(this);
    const { id } = await anAgent(this, team, agent);
    return { ...team, agentId: id, path: `${team.path}/agents/${id}/chats` };
  }

  async chat(org: TestOrg, body: Record<string, unknown> = { title: 'Test' }, as: Bearer = org.owner): Promise<string> {
    return (await this.make('POST', org.path, { as, body })).id as string;
  }

  send(org: TestOrg, chat: string, content: string, headers?: Record<string, string>): Promise<Answer> {
    return this.call('POST', `${org.path}/${chat}/messages`, { as: org.owner, body: { content }, headers });
  }

  read(org: TestOrg, chat: string, as: Bearer = org.owner): Promise<Answer> {
    return this.call('GET', `${org.path}/${chat}`, { as });
  }

  /** Has the answers of a script of {@link script} be delayed no longer, those to come as well. */
  letGo(message: string): void {
    letGo(message.slice(0, message.indexOf('\n')));
  }

  /** Has the worker of the chat's turn be silent for too long, and that be noticed. */
  async expireLease(chat: string): Promise<void> {
    for (const { id } of await this.db.query(RUNNING, [chat])) standStill(this.get(RunLeases), id);
    await this.db.execute(EXPIRE, [chat]);
    await this.get(RunSweeper).sweep(this.get(TurnKind));
  }

  /** Asks until the chat is as wanted; what it was last is in the failure. */
  until(org: TestOrg, chat: string, wanted: (chat: Answer['body']) => boolean, as: Bearer = org.owner): Promise<Answer['body']> {
    return eventually(async () => (await this.read(org, chat, as)).body, wanted);
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
  async stream(org: TestOrg, chat: string, options: { as?: Bearer; lastEventId?: string; path?: string } = {}): Promise<StreamReader> {
    const controller = new AbortController();
    this.streams.add(controller);
    const response = await fetch(`${this.url}${org.path}/${chat}/stream${options.path ?? ''}`, {
      headers: {
        Authorization: `Bearer ${(options.as ?? org.owner).token}`,
        ...(options.lastEventId && { 'Last-Event-ID': options.lastEventId }),
      },
      signal: controller.signal,
    });
    return new StreamReader(response, controller);
  }

  override async close(): Promise<void> {
    for (const s of this.streams) s.abort();
    await super.close();
    await this.model?.close();
  }
}

/** A service for all cases of the file, or of the `describe` in which it is made. */
export function chatsService(settings?: Settings, beside?: typeof BASE_MODULES): ChatsService {
  const service = new ChatsService(settings, beside);
  beforeAll(() => service.start());
  afterAll(() => service.close());
  return service;
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
