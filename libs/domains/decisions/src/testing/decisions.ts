import { AgentsHttpModule } from '@aps/agents/http';
import { anAgent as anyAgent } from '@aps/agents/testing';
import { BillingModule } from '@aps/billing';
import { Agent, Chat, Decision, Turn } from '@aps/entities';
import { InferenceModule } from '@aps/inference';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { NO_CALLER } from '@aps/platform/database';
import { MaintenanceModule } from '@aps/platform/maintenance';
import type { Answer } from '@aps/platform/testing';
import { BASE_MODULES, type TestService } from '@aps/testing';
import { parseArguments, ToolCatalog, ToolSet, type ToolContext, type ToolGrants, type ToolOutcome } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import { DecisionMakingModule, DecisionsMaintenanceModule } from '../decisions.module';
import { DecisionsHttpModule } from '../http';

/** Decisions behind HTTP, the tool that makes them, and what is done to old ones. */
export const DECISIONS = [
  ...BASE_MODULES,
  BillingModule,
  InferenceModule,
  MaintenanceModule,
  AgentsHttpModule,
  DecisionsHttpModule,
  DecisionMakingModule,
  DecisionsMaintenanceModule,
];

export interface TestAgent {
  id: string;
  slug: string;
  org: TestTeam;
  /** `/api/orgs/<org>/agents/<agent>/decisions` */
  path: string;
}

export interface TestChat {
  id: string;
  turn: string;
  org: TestTeam;
  agent: TestAgent;
  /** `/api/orgs/<org>/chats/<chat>/decisions` */
  path: string;
}

/** An agent that reaches every tool, with a decision log. */
const GRANTS: ToolGrants = {
  allowed_tools: ['*'],
  denied_tools: [],
  memory_enabled: false,
  mounted_skills: [],
  child_agent_ids: [],
  knowledge_base_ids: [],
  enabled_scopes: null,
  decision_log: true,
  environment: null,
  origin: { kind: 'user', ref_id: null },
};

/** By default of an organization of its own. */
export async function anAgent(service: TestService, of?: TestTeam, instruction = ''): Promise<TestAgent> {
  const org = of ?? (await aTeam(service));
  const { id, slug } = await anyAgent(service, org, { instruction });
  return { id, slug, org, path: `${org.path}/agents/${id}/decisions` };
}

/** A chat with a turn, as rows: what makes them comes after this domain. By default of the owner, private, and with an agent of its own. */
export async function aChat(service: TestService, of?: TestAgent, over: Partial<Chat> = {}): Promise<TestChat> {
  const agent = of ?? (await anAgent(service));
  const { org, id: agent_id } = agent;
  const id = uuidv7();
  const { live_revision_id } = await service.db.manager.findOneByOrFail(Agent, { id: agent_id });
  const frozen = { org_id: org.id, agent_id, agent_revision_id: live_revision_id!, root_chat_id: id };
  await service.insert(Chat, { id, ...frozen, created_by: org.owner.id, origin_kind: 'user', ...over });
  const turn = await service.insert(Turn, { org_id: org.id, chat_id: id, seq: 1, status: 'done', cause: 'message' });
  return { id, turn, org, agent, path: `${org.path}/chats/${id}/decisions` };
}

/** What an agent of these grants reaches. */
export const toolsOf = (service: TestService, over: Partial<ToolGrants> = {}): ToolSet =>
  new ToolSet({ ...GRANTS, ...over }, service.get(ToolCatalog).own());

/** Where a turn calls a tool. */
export const contextOf = (service: TestService, { id, turn, agent, org }: TestChat, callId: string): ToolContext => ({
  orgId: org.id,
  agentId: agent.id,
  chatId: id,
  origin: GRANTS.origin,
  turnId: turn,
  stepNo: 1,
  toolCallId: callId,
  tools: toolsOf(service),
  principalId: org.owner.id,
  idempotencyKey: callId,
  signal: AbortSignal.timeout(30_000),
  progressed: () => undefined,
  charge: () => Promise.resolve(),
});

/** Calls the tool as a turn does. */
export function decide(service: TestService, chat: TestChat, args = {}, callId = `call_${uuidv7()}`): Promise<ToolOutcome> {
  const tool = toolsOf(service).find('record_decision')!;
  const parsed = parseArguments(tool, JSON.stringify({ kind: 'act', summary: 'Refund it', basis: 'Rule 1', ...args }));
  if (!parsed.ok) return Promise.reject(new Error(parsed.message));
  return service.db.transaction(NO_CALLER, (tx) => tool.run!(tx, parsed.value, contextOf(service, chat, callId)));
}

/** Records a decision and gives its id. */
export async function aDecision(service: TestService, chat: TestChat, args = {}): Promise<string> {
  const { content } = (await decide(service, chat, args)) as { content: string };
  return (JSON.parse(content) as { decision_id: string }).decision_id;
}

export async function someDecisions(service: TestService, chat: TestChat, n: number, args = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < n; i++) ids.push(await aDecision(service, chat, args));
  return ids;
}

/** The decisions of a chat as they are stored, oldest first. */
export function rowsOf(service: TestService, { id }: { id: string }): Promise<Decision[]> {
  return service.db.manager.find(Decision, { where: { chat_id: id }, order: { id: 'ASC' } });
}

/** Reviews one decision, as the owner of its organization unless said otherwise. */
export function review(service: TestService, { path, org }: TestChat, id: string, body: object, as = org.owner): Promise<Answer> {
  return service.call('POST', `${path}/${id}/review`, { as, body });
}

/** A dispute, which says what should have been. */
export async function aDispute(service: TestService, chat: TestChat, should_have = 'Ask first.'): Promise<string> {
  const id = await aDecision(service, chat);
  await review(service, chat, id, { review_status: 'disputed', should_have });
  return id;
}

/** Asks for the correction that a disputed decision calls for. */
export function draftOf(service: TestService, { path, org }: TestChat, id: string, as = org.owner): Promise<Answer> {
  return service.call('POST', `${path}/${id}/revision-draft`, { as });
}

export type BulkAction = 'archive' | 'unarchive' | 'review';

/** Archives, brings back or agrees to many, as the owner. */
export function inBulk(service: TestService, { path, org }: TestAgent, action: BulkAction, body: object): Promise<Answer> {
  return service.call('POST', `${path}/${action}`, {
    as: org.owner,
    body: { ...(action === 'review' && { review_status: 'agreed' }), ...body },
  });
}

/** What {@link inBulk} answers. */
export const changed = (updated: number, matched = updated) => ({ updated, matched, unchanged: matched - updated });
