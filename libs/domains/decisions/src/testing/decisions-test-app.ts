import { NO_CALLER } from '@aps/platform/database';
import { AgentsHttpModule } from '@aps/agents/http';
import { BillingModule, configuredEntitlements, Entitlements, type EntitlementSet } from '@aps/billing';
import { DecisionMakingModule, DecisionRetention, DecisionsMaintenanceModule } from '@aps/decisions';
import { DecisionsHttpModule } from '@aps/decisions/http';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule } from '@aps/guards';
import { InferenceModule } from '@aps/inference';
import type { Database } from '@aps/platform/database';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { RateLimitModule } from '@aps/platform/rate-limit';
import { PlatformModule } from '@aps/platform/runtime';
import {
  sql,
  createTestApp,
  createTestDatabase,
  httpCaller,
  insertOrganization,
  insertUser,
  type Answer,
  type HttpCaller,
  type TestApp,
  type TestUser,
} from '@aps/platform/testing';
import { ToolCatalog, type ToolContext, type ToolGrants, type ToolOutcome } from '@aps/tools';
import { uuidv7 } from 'uuidv7';

export interface TestAgent {
  id: string;
  slug: string;
  /** `/api/orgs/<org>/agents/<agent>/decisions` */
  path: string;
}

export interface TestOrg {
  id: string;
  /** `/api/orgs/<id>` */
  path: string;
  owner: TestUser;
  member: TestUser;
}

export interface TestChat {
  id: string;
  turn: string;
  agent: TestAgent;
  org: TestOrg;
  /** `/api/orgs/<org>/chats/<chat>/decisions` */
  path: string;
}

/** An agent that reaches what every agent reaches, with a decision log. */
export const GRANTS: ToolGrants = {
  allowed_tools: [],
  denied_tools: [],
  memory_enabled: false,
  mounted_skills: [],
  child_agent_ids: [],
  enabled_scopes: null,
  decision_log: true,
};

/** Decisions behind HTTP, and the tool that makes them, on a database of its own. */
export class DecisionsTestApp {
  private changes: Record<string, Partial<EntitlementSet>> = {};
  readonly call: HttpCaller;

  private constructor(
    private readonly test: TestApp,
    readonly db: Database,
    private readonly dropDatabase: () => Promise<void>,
  ) {
    this.call = httpCaller(test.url);
  }

  static async start(): Promise<DecisionsTestApp> {
    const schema = { entities: ENTITIES, migrations: MIGRATIONS };
    const database = await createTestDatabase(schema);
    const self: { app?: DecisionsTestApp } = {};
    class TestEntitlements extends Entitlements {
      of(orgId: string): Promise<EntitlementSet> {
        return Promise.resolve({ ...configuredEntitlements(), ...self.app?.changes[orgId] });
      }
    }
    const imports = [
      PlatformModule.forRoot('test', schema),
      RateLimitModule,
      IdempotencyModule,
      GuardsModule.forRoot(),
      BillingModule,
      InferenceModule,
      MaintenanceModule,
      AgentsHttpModule,
      DecisionsHttpModule,
      DecisionMakingModule,
      DecisionsMaintenanceModule,
    ];
    const test = await createTestApp(imports, (builder) => builder.overrideProvider(Entitlements).useClass(TestEntitlements));
    self.app = new DecisionsTestApp(test, database.db, () => database.drop());
    return self.app;
  }

  get<T>(type: abstract new (...args: never[]) => T): T {
    return this.test.app.get(type as new () => T, { strict: false });
  }

  /** What an organization may do from now on, beyond what the configuration says. */
  entitle(org: TestOrg, changes: Partial<EntitlementSet>): void {
    this.changes[org.id] = { ...this.changes[org.id], ...changes };
  }

  async org(): Promise<TestOrg> {
    const { id, owner, member } = await insertOrganization(this.db);
    return { id, path: `/api/orgs/${id}`, owner, member };
  }

  person(roles: Record<string, string>): Promise<TestUser> {
    return insertUser(this.db, roles);
  }

  async agent(org: TestOrg, instruction = ''): Promise<TestAgent> {
    const { status, body } = await this.call('POST', `${org.path}/agents`, { as: org.owner.token, body: { name: 'Agent', instruction } });
    if (status !== 201) throw new Error(`Creating an agent answered ${status} ${JSON.stringify(body)}`);
    return { id: body.id, slug: body.slug, path: `${org.path}/agents/${body.id}/decisions` };
  }

  /** A chat with a turn, as rows: what makes them comes after this domain. By default of the owner, and private. */
  async chat(
    org: TestOrg,
    agent: TestAgent,
    over: { created_by?: string | null; shared?: boolean; deleted?: boolean } = {},
  ): Promise<TestChat> {
    const [id, turn] = [uuidv7(), uuidv7()];
    const { created_by = org.owner.id, shared = false, deleted = false } = over;
    await this.db.execute(
      sql(`INSERT INTO chats (id, org_id, agent_id, agent_revision_id, created_by, shared, root_chat_id, origin_kind, deleted_at)
       SELECT $1, a.org_id, a.id, a.live_revision_id, $3, $4, $1, 'user', CASE WHEN $5 THEN now() END FROM agents a WHERE a.id = $2`),
      [id, agent.id, created_by, shared, deleted],
    );
    await this.db.execute(sql(`INSERT INTO turns (id, org_id, chat_id, seq, status, cause) VALUES ($1, $2, $3, 1, 'done', 'message')`), [
      turn,
      org.id,
      id,
    ]);
    return { id, turn, agent, org, path: `${org.path}/chats/${id}/decisions` };
  }

  /** Calls the tool as a turn does. */
  async decide(chat: TestChat, args: Record<string, unknown> = {}, callId = `call_${uuidv7()}`): Promise<ToolOutcome> {
    const tool = this.get(ToolCatalog).find(GRANTS, 'record_decision');
    if (!tool) throw new Error('The tool is not offered');
    const parsed = tool.parameters.parse({ kind: 'act', summary: 'Refund it', basis: 'Rule 1', ...args });
    const context: ToolContext = {
      orgId: chat.org.id,
      agentId: chat.agent.id,
      chatId: chat.id,
      turnId: chat.turn,
      stepNo: 1,
      toolCallId: callId,
      mountedSkills: [],
      idempotencyKey: callId,
      signal: AbortSignal.timeout(30_000),
    };
    return this.db.transaction(NO_CALLER, (tx) => tool.run(tx, parsed as never, context));
  }

  /** Records a decision and gives its id. */
  async decision(chat: TestChat, args: Record<string, unknown> = {}): Promise<string> {
    const outcome = await this.decide(chat, args);
    return (JSON.parse((outcome as { content: string }).content) as { decision_id: string }).decision_id;
  }

  async decisions(chat: TestChat, n: number, args: Record<string, unknown> = {}): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < n; i++) ids.push(await this.decision(chat, args));
    return ids;
  }

  /** Reviews one decision as the owner of its organization. */
  review(chat: TestChat, id: string, body: Record<string, unknown>, as = chat.org.owner): Promise<Answer> {
    return this.call('POST', `${chat.path}/${id}/review`, { as: as.token, body });
  }

  draft(chat: TestChat, id: string, as = chat.org.owner): Promise<Answer> {
    return this.call('POST', `${chat.path}/${id}/revision-draft`, { as: as.token });
  }

  /** Actions in the audit log of an organization with their metadata, oldest first. */
  audit(org: TestOrg, like: string): Promise<{ action: string; actor_id: string; target_id: string; metadata: Record<string, unknown> }[]> {
    return this.db.query(
      sql('SELECT action, actor_id, target_id, metadata FROM audit_log WHERE org_id = $1 AND action LIKE $2 ORDER BY id'),
      [org.id, like],
    );
  }

  /** Runs the purge until nothing is left to remove. @returns what each run has removed */
  async purge(batch: number): Promise<number[]> {
    const removed: number[] = [];
    do removed.push(await this.get(DecisionRetention).purge(batch));
    while (removed.at(-1) === batch);
    return removed;
  }

  async close(): Promise<void> {
    await this.test.close();
    await this.dropDatabase();
  }
}
