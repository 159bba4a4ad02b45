import { connectionUuid } from '@aps/contracts';
import type { Database } from '@aps/platform/database';
import { fileForm, sql, type Answer } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { Membership } from '@aps/entities';
import { anApiToken, aPerson, type Person } from '@aps/identity/testing';
import type { House } from './house';
import { billed, commanded, connected, known, ran, received, replayed, writeDirectly } from './tenant-rows';

/** An organization with a row of every kind. Every text of its own carries its mark, so that a leak of any of it is seen. */
export interface Tenant {
  id: string;
  /** Stands in everything that only its members may read. */
  mark: string;
  owner: Person;
  admin: Person;
  member: Person;
  /** Values for the parameters of paths below `/api/orgs/:org_id`, by name; `inboxes.revision_id` is that of paths below `inboxes` alone. */
  params: Record<string, string>;
  /** Slugs of what path parameters name, where they take one. */
  slugs: Record<string, string>;
  /** Key of a model of its own. */
  model: string;
  /** Slug of a route of its own. */
  route: string;
}

/** Whether somebody was let in to read. The connections of tenants have no server: where that would be asked, it is said that there is none. */
export const isLetIn = ({ status, body }: Answer): boolean => status === 200 || body.code === 'not_knowledge_capable';

export async function tenant(house: House, name: string): Promise<Tenant> {
  const { db } = house;
  const mark = `mark-${name}-${uuidv7().slice(-12)}`;
  const owner = await aPerson(house);
  const { id } = await house.make('POST', '/api/orgs', { as: owner, body: { name: `Org ${mark}` } });
  const O = `/api/orgs/${id}`;
  const make = (method: string, path: string, body?: unknown) => house.make(method, O + path, { as: owner, body });
  const [admin, member] = [await aPerson(house), await aPerson(house)];
  await house.insert(Membership, { org_id: id, user_id: admin.id, role: 'ADMIN' });
  const memberId = await house.insert(Membership, { org_id: id, user_id: member.id, role: 'MEMBER' });

  const skill = await make('POST', '/skills', { slug: `skill-${mark}`, name: mark, description: mark, content: mark });
  const child = await make('POST', '/agents', { name: `Child ${mark}` });
  const agent = await make('POST', '/agents', {
    name: `Agent ${mark}`,
    instruction: mark,
    child_agent_ids: [child.id],
    mounted_skills: [skill.slug],
    memory_enabled: true,
  });
  await make('PATCH', `/agents/${agent.id}`, { description: mark });
  const revision = await make('POST', `/agents/${agent.id}/revisions`);
  const rollout = await make('POST', `/agents/${agent.id}/revisions/${revision.id}/deploy`);
  await make('PUT', `/agents/${agent.id}/instruction/draft`, { content: `draft ${mark}` });
  const memory = await make('POST', `/agents/${agent.id}/memories`, { content: mark });
  const project = await make('POST', '/projects', { name: mark, slug: `project-${mark}`, shared_instruction: mark });
  const team = await make('POST', '/agent-teams', { name: mark, slug: `team-${mark}`, shared_instruction: mark });
  await make('POST', `/projects/${project.id}/resources`, { resources: [{ entity_type: 'agent', entity_id: agent.id }] });
  const ofTeam = await make('POST', `/agent-teams/${team.id}/memories`, { content: mark });
  const ofProject = await make('POST', `/projects/${project.id}/memories`, { content: mark });
  const template = await make('POST', '/prompt-templates', { name: mark, text: mark, tags: [mark] });
  const chat = await make('POST', `/agents/${agent.id}/chats`, { title: mark });
  const { file_id: fileId } = await make('POST', '/uploads', fileForm(mark, `${mark}.txt`));
  const message = { content: mark, attachment_ids: [fileId] };
  const { turn_id: turnId } = await make('POST', `/agents/${agent.id}/chats/${chat.id}/messages`, message);
  const inbox = await make('POST', '/inboxes', { name: mark, slug: `inbox-${mark}`, channels: ['webhook', 'webhook', 'email'] });
  const rules = await make('POST', `/inboxes/${inbox.id}/revisions`, { definition: { default: { action: 'accept', tags: [mark] } } });
  const messageId = await received(db, { id, mark, inboxId: inbox.id, channelId: inbox.channels[0].id, chatId: chat.id, turnId });
  const process = await make('POST', '/processes', { name: `Process ${mark}`, title: mark, description: mark });
  const definition = { steps: [{ id: 'say', kind: 'transform', set: { text: mark } }] };
  const pushed = await make('POST', `/processes/${process.id}/revisions`, { definition, sop_text: mark });
  await make('POST', `/processes/${process.id}/revisions/${pushed.id}/deploy`);
  // Deploying what is deployed changes nothing; this one can be.
  const draft = await make('POST', `/processes/${process.id}/revisions`, { definition, sop_text: `${mark} again` });
  const ofRun = await ran(db, { id, mark, processId: process.id, revisionId: pushed.id });
  const connectionId = await connected(db, { id, mark, ownerId: owner.id });
  const base = await make('POST', '/knowledge', { name: mark, slug: `base-${mark}`, description: mark });
  const document = await make('POST', `/knowledge/${base.id}/documents`, { title: mark, content: mark });
  const config_id = await known(db, { id, mark, kbId: base.id, sourceId: document.source_id, connectionId });
  const { environment } = await make('POST', '/environments', { kind: 'REMOTE_MACHINE', name: mark });
  await commanded(db, { id, mark, environmentId: environment.id, chatId: chat.id });
  const ofReplays = await replayed(db, { id, mark, agentId: agent.id, chatId: chat.id, ownerId: owner.id });
  const invitation = await make('POST', '/members/invitations', { email: `${mark}@example.com` });
  await make('PATCH', '/settings/ai/routes', { routes: { openai: { api_key: `sk-${mark}` } } });
  await make('PATCH', '/settings/ai', { provider_2_api_key: `sk-${mark}`, ai_gateway_token: `cf-${mark}`, ai_gateway_account_id: mark });
  await make('PATCH', '/settings/limits', { budget_limit_usd: '123' });
  await anApiToken(house, owner, { org_id: id });
  const { decisionId, requestId, routeId, entryId, ...own } = await writeDirectly(db, {
    id,
    mark,
    chatId: chat.id,
    agentId: agent.id,
    turnId,
  });
  await billed(db, { id, mark, ownerId: owner.id });

  return {
    id,
    mark,
    owner,
    admin,
    member,
    params: {
      org_id: id,
      agent_id: agent.id,
      chat_id: chat.id,
      app_key: 'custom-mcp',
      channel_id: inbox.channels[0].id,
      config_id,
      connection_id: connectionId,
      'connections.slug': `connection-${mark}`,
      decision_id: decisionId,
      entry_id: entryId,
      environment_id: environment.id,
      file_id: fileId,
      inbox_id: inbox.id,
      integration_id: connectionUuid(connectionId)!,
      'hooks.token': inbox.channels[1].address_token,
      'inboxes.revision_id': rules.id,
      invitation_id: invitation.id,
      kb_id: base.id,
      member_id: memberId,
      memory_id: memory.id,
      message_id: messageId,
      process_id: process.id,
      project_id: project.id,
      team_id: team.id,
      entity_type: 'agent',
      entity_id: agent.id,
      'agent-teams.memory_id': ofTeam.id,
      'projects.memory_id': ofProject.id,
      'processes.revision_id': draft.id,
      ...ofRun,
      ...ofReplays,
      request_id: requestId,
      revision_id: revision.id,
      rollout_id: rollout.id,
      route_id: routeId,
      slug: skill.slug,
      source_id: document.source_id,
      template_id: template.id,
    },
    slugs: { agent_id: agent.slug, team_id: team.slug, template_id: template.slug },
    ...own,
  };
}

/** An id that nothing has. */
export const NOBODY = '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';

/** Values of the path parameters that name nothing of an organization; they lead to nothing. */
export const OUTSIDE_OF_TENANTS = {
  ...Object.fromEntries(
    ['token_id', 'session_id', 'user_id', 'waitlist_id', 'allowed_email_id', 'route_id', 'entry_id', 'plan_id', 'pack_id', 'event_id'].map(
      (name) => [name, NOBODY],
    ),
  ),
  token: 'x'.repeat(43),
  provider: 'generic',
  worker: 'worker:1:000000',
};

/** Values of one parameter, wherever it stands, of all that a tenant has. */
export const valuesOf = (name: string, params: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).filter(([key]) => key === name || key.endsWith(`.${name}`)));

/** Fills the parameters of a path; a parameter that no tenant has a value for is a gap of this file. */
export function fill(path: string, params: Record<string, string>): string {
  const area = /^\/api\/(?:orgs\/[^/]+\/)?([\w-]+)/.exec(path)?.[1];
  return path.replace(/[:{](\w+)\}?/g, (_, name: string) => {
    const value = params[`${area}.${name}`] ?? params[name];
    if (value === undefined)
      throw new Error(`Teach testing/tenant.ts a value (and a slug, if it takes one) for the path parameter ${name}.`);
    return encodeURIComponent(value);
  });
}

const TABLES = `
  SELECT table_name AS name, column_name AS owner FROM information_schema.columns
  WHERE table_schema = 'public' AND (column_name IN ('org_id', 'owner_org_id') OR (table_name = 'organizations' AND column_name = 'id')) ORDER BY 1`;

/** Rows and their hash of every table that holds something of the organization. When a credential was used last is no change. */
export async function contentsOf(db: Database, orgId: string): Promise<Record<string, { rows: number; hash: string }>> {
  const contents: Record<string, { rows: number; hash: string }> = {};
  for (const { name, owner } of await db.query(sql<{ name: string; owner: string }>(TABLES))) {
    const [row] = await db.query(
      sql<{ rows: number; hash: string }>(`SELECT count(*)::int AS rows, coalesce(md5(string_agg(x, '|' ORDER BY x)), '') AS hash
       FROM (SELECT (to_jsonb(t) - 'last_used_at')::text AS x FROM ${name} t WHERE ${owner} = $1) rows`),
      [orgId],
    );
    contents[name] = row;
  }
  return contents;
}
