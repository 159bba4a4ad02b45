/**
 * Every list of the API document: what is asked of it, or why it need not be. A house check holds the three to the document, so a new list
 * gets a line here, and where nothing fills it a seed in `seeds.mjs`.
 */
import { ARCHIVED, BASES, DETERMINATION, DEVIATION, NAMED, PENDING, SHARED, few } from './seeds.mjs';

const LIMIT = 20;

const live = (n) => !ARCHIVED.has(n);

/** How many rows have something, as their numbers say. */
const count = ({ rows }, has) => Array.from({ length: rows }, (_, i) => i + 1).filter(has).length;
const bases = ({ rows }, has) => new Set(Array.from({ length: rows }, (_, i) => i + 1).filter(has).map((n) => n % BASES)).size; // prettier-ignore

/**
 * By operation: what is asked, with the parameters of path and query, and how many rows the seeds have added to its total. Who asks is the
 * owner of the organization, unless `as` is another's token.
 */
export const LISTS = {
  'GET /api/orgs/{org_id}/agents/{agent_id}/chats': (of) => [
    ['chats, owner', { agent_id: of.mine }, of.rows],
    ['chats, far on', { agent_id: of.mine, offset: of.rows * 0.9 }, of.rows],
    ['chats, few seen', { agent_id: of.theirs }, SHARED],
  ],
  'GET /api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/timeline': (of) => [
    ['timeline', { agent_id: of.varied, chat_id: of.chat }, of.rows],
  ],
  'GET /api/orgs/{org_id}/agents/{agent_id}/decisions': (of) => [
    ['decisions, owner', { agent_id: of.mine }, count(of, live)],
    ['decisions, far on', { agent_id: of.mine, offset: of.rows * 0.8 }, count(of, live)],
    ['decisions, few seen', { agent_id: of.theirs }, SHARED],
    ['decisions, of a kind', { agent_id: of.mine, kind: 'act' }, count(of, (n) => live(n) && n % 3 === 0)],
    ['decisions, unreviewed', { agent_id: of.mine, review_status: 'unreviewed' }, count(of, (n) => live(n) && n % 2 === 0)],
    ['decisions, deviations', { agent_id: of.mine, deviation: true }, count(of, (n) => live(n) && DEVIATION.has(n))],
    ['decisions, no deviations', { agent_id: of.mine, deviation: false }, count(of, (n) => live(n) && !DEVIATION.has(n))],
    ['decisions, determinations', { agent_id: of.mine, determination: true }, count(of, (n) => live(n) && DETERMINATION.has(n))],
    ['decisions, archived', { agent_id: of.mine, archived: true }, count(of, ARCHIVED.has)],
  ],
  'GET /api/orgs/{org_id}/agents/{agent_id}/decisions/groups': (of) => [
    ['groups', { agent_id: of.mine }, bases(of, live)],
    ['groups, all different', { agent_id: of.varied }, count(of, live)],
    ['groups, few seen', { agent_id: of.theirs }, bases(of, few(of.rows).has)],
    ['groups, of a kind', { agent_id: of.mine, kind: 'act' }, bases(of, (n) => live(n) && n % 3 === 0)],
    ['groups, unreviewed', { agent_id: of.mine, review_status: 'unreviewed' }, bases(of, (n) => live(n) && n % 2 === 0)],
    ['groups, deviations', { agent_id: of.mine, deviation: true }, bases(of, (n) => live(n) && DEVIATION.has(n))],
    ['groups, no deviations', { agent_id: of.mine, deviation: false }, bases(of, (n) => live(n) && !DEVIATION.has(n))],
    ['groups, determinations', { agent_id: of.mine, determination: true }, bases(of, (n) => live(n) && DETERMINATION.has(n))],
    ['groups, archived', { agent_id: of.mine, archived: true }, bases(of, ARCHIVED.has)],
  ],
  'GET /api/orgs/{org_id}/chats/{chat_id}/decisions': (of) => [['decisions of a chat', { chat_id: of.chat }, of.rows]],
  'GET /api/orgs/{org_id}/hitl-requests': (of) => [
    ['HITL requests', {}, of.rows + 3 * SHARED],
    // Of the two times that there are few in one place, one each is pending.
    ['HITL requests, pending', { status: 'pending' }, count(of, PENDING.has) + 2],
    ['HITL requests, answered', { status: 'answered' }, count(of, (n) => n % 2 === 0) + 2 * SHARED],
    ['HITL requests, of an agent', { agent_id: of.mine }, of.rows],
    ['HITL requests, of an agent, few seen', { agent_id: of.theirs }, SHARED],
    ['HITL requests, of a chat', { chat_id: of.chat }, SHARED],
    ['HITL requests, of a run', { run_id: NAMED }, SHARED],
  ],
  'GET /api/orgs/{org_id}/agents': (of) => [
    ['agents', {}, of.rows],
    ['agents, of a team', { team_id: NAMED }, SHARED],
    ['agents, of no team', { team_id: 'none' }, of.rows - SHARED],
    ['agents, of a project', { project_id: NAMED }, SHARED],
    ['agents, of no project', { project_id: 'none' }, of.rows - SHARED],
  ],
  'GET /api/orgs/{org_id}/agents/{agent_id}/memories': (of) => [['memories', { agent_id: of.mine }, of.rows]],
  'GET /api/orgs/{org_id}/agents/{agent_id}/revisions': (of) => [['revisions', { agent_id: of.mine }, of.rows]],
  'GET /api/orgs/{org_id}/agents/{agent_id}/instruction/revisions': (of) => [['instruction revisions', { agent_id: of.mine }, of.rows]],
  'GET /api/orgs/{org_id}/agents/{agent_id}/rollouts': (of) => [
    ['rollouts, one with all chats', { agent_id: of.mine }, of.rows],
    ['rollouts, those before', { agent_id: of.mine, offset: 1 }, of.rows],
  ],
  'GET /api/orgs/{org_id}/agents/{agent_id}/simulations': (of) => [['simulations', { agent_id: of.mine }, of.rows]],
  'GET /api/orgs/{org_id}/skills': (of) => [
    ['skills', {}, of.rows],
    ['skills, of a project', { project_id: NAMED }, SHARED],
    ['skills, of no project', { project_id: 'none' }, of.rows - SHARED],
  ],
  'GET /api/orgs/{org_id}/agent-teams': (of) => [
    ['teams', {}, of.rows],
    ['teams, of a project', { project_id: NAMED }, of.rows - SHARED],
    ['teams, of no project', { project_id: 'none' }, SHARED],
  ],
  'GET /api/orgs/{org_id}/agent-teams/{team_id}/memories': (of) => [['memories of a team', { team_id: NAMED }, of.rows]],
  'GET /api/orgs/{org_id}/projects': (of) => [['projects', {}, of.rows]],
  'GET /api/orgs/{org_id}/projects/{project_id}/memories': (of) => [['memories of a project', { project_id: NAMED }, of.rows]],
  // Agents, connections, prompts, inboxes, processes, knowledge bases and skills beside the teams.
  'GET /api/orgs/{org_id}/projects/{project_id}/resources': (of) => [
    ['what is in a project', { project_id: NAMED }, of.rows + 6 * SHARED],
    ['what is in a project, far on', { project_id: NAMED, offset: of.rows * 0.9 }, of.rows + 6 * SHARED],
  ],
  'GET /api/orgs/{org_id}/prompt-templates': (of) => [
    ['prompts', {}, of.rows],
    ['prompts, of a project', { project_id: NAMED }, SHARED],
    ['prompts, of no project', { project_id: 'none' }, of.rows - SHARED],
  ],
  'GET /api/orgs/{org_id}/environments/{environment_id}/activity': (of) => [
    ['commands', { environment_id: NAMED }, of.rows],
    ['commands, far on', { environment_id: NAMED, offset: of.rows * 0.9 }, of.rows],
  ],
  // Half of them are private to somebody else.
  'GET /api/orgs/{org_id}/connections': (of) => [
    ['connections', {}, of.rows / 2],
    ['connections, of a project', { project_id: NAMED }, SHARED],
    ['connections, of no project', { project_id: 'none' }, of.rows / 2 - SHARED],
  ],
  'GET /api/orgs/{org_id}/connections/stewardship': (of) => [['connections, all', {}, of.rows]],
  'GET /api/orgs/{org_id}/knowledge': (of) => [
    ['knowledge bases', {}, of.rows + 1],
    ['knowledge bases, of a project', { project_id: NAMED }, SHARED],
    ['knowledge bases, of no project', { project_id: 'none' }, of.rows - SHARED + 1],
  ],
  'GET /api/orgs/{org_id}/knowledge/{kb_id}/sources': () => [['sources', { kb_id: NAMED }]],
  'GET /api/orgs/{org_id}/knowledge/{kb_id}/sync-configs': () => [['synchronisations', { kb_id: NAMED }]],
  'GET /api/orgs/{org_id}/knowledge/{kb_id}/documents': () => [['documents', { kb_id: NAMED }]],
  'GET /api/orgs/{org_id}/knowledge/{kb_id}/sources/{source_id}/chunks': (of) => [
    ['pieces of a source', { kb_id: NAMED, source_id: NAMED }, of.rows],
    ['pieces of a source, far on', { kb_id: NAMED, source_id: NAMED, offset: of.rows * 0.9 }, of.rows],
  ],
  'GET /api/orgs/{org_id}/processes': (of) => [
    ['processes', {}, of.rows],
    ['processes, of a project', { project_id: NAMED }, SHARED],
    ['processes, of no project', { project_id: 'none' }, of.rows - SHARED],
  ],
  'GET /api/orgs/{org_id}/processes/{process_id}/runs': (of) => [
    ['process runs', { process_id: of.process }, of.rows],
    ['process runs, far on', { process_id: of.process, offset: of.rows * 0.9 }, of.rows],
    ['process runs, completed', { process_id: of.process, status: 'completed' }, of.rows - SHARED],
    ['process runs, failed', { process_id: of.process, status: 'failed' }, SHARED],
  ],
  'GET /api/orgs/{org_id}/processes/{process_id}/runs/{run_id}/events': (of) => [
    ['events of a run', { process_id: of.process, run_id: of.run }, of.rows],
    ['events of a run, far on', { process_id: of.process, run_id: of.run, offset: of.rows * 0.9 }, of.rows],
  ],
  ...Object.fromEntries(
    ['llm-calls', 'agent-calls', 'repairs'].map((ledger) => [
      `GET /api/orgs/{org_id}/processes/{process_id}/runs/{run_id}/${ledger}`,
      (of) => [[`${ledger} of a run`, { process_id: of.process, run_id: of.run }, of.rows]],
    ]),
  ),
  'GET /api/orgs/{org_id}/inboxes': (of) => [
    ['inboxes', {}, of.rows],
    ['inboxes, of a project', { project_id: NAMED }, SHARED],
    ['inboxes, of no project', { project_id: 'none' }, of.rows - SHARED],
    ['inboxes, of agents', { target_kind: 'agent' }, SHARED],
    ['inboxes, of an agent', { target_id: NAMED }, SHARED],
  ],
  'GET /api/orgs/{org_id}/inboxes/{inbox_id}/messages': (of) => [
    ['inbox messages', { inbox_id: of.inbox }, of.rows],
    ['inbox messages, far on', { inbox_id: of.inbox, offset: of.rows * 0.9 }, of.rows],
    ['inbox messages, accepted', { inbox_id: of.inbox, state: 'accepted' }, of.rows - SHARED],
    ['inbox messages, that need attention', { inbox_id: of.inbox, lane: 'needs_attention' }, SHARED],
    ['inbox messages, settled', { inbox_id: of.inbox, evaluation_state: 'settled' }, of.rows],
    ['inbox messages, quarantined', { inbox_id: of.inbox, verdict: 'quarantined' }, SHARED],
    ['inbox messages, of webhooks', { inbox_id: of.inbox, channel: 'webhook' }, SHARED],
    ['inbox messages, of a week', { inbox_id: of.inbox, within_hours: 168 }],
    ['inbox messages, searched', { inbox_id: of.inbox, search: 'rare' }, SHARED],
  ],
  'GET /api/orgs/{org_id}/prompt-templates/{template_id}/runs': (of) => [['runs of a prompt', { template_id: of.template }]],
  'GET /api/orgs/{org_id}/members': (of) => [['members', {}, of.rows]],
  'GET /api/orgs/{org_id}/audit': (of) => [['audit', {}, of.rows + SHARED]],
  'GET /api/orgs': (of) => [
    ['organizations, one of many members', {}, 0],
    ['organizations, many', { as: of.tokens.person }, of.rows],
  ],
  'GET /api/models': (of) => [['models, of many organizations', { as: of.tokens.person }, 0]],
  'GET /api/tokens': (of) => [['tokens', { as: of.tokens.person }, of.rows]],
  'GET /api/admin/orgs': (of) => [
    ['admin, organizations', { as: of.tokens.operator }, of.rows],
    ['admin, organizations, suspended', { as: of.tokens.operator, suspended: true }, SHARED],
    ['admin, organizations, not suspended', { as: of.tokens.operator, suspended: false }, of.rows - SHARED],
    [
      'admin, organizations, without a plan',
      { as: of.tokens.operator, plan_code: '__none__' },
      count(of, (n) => n % 2 === 1 && !few(of.rows).has(n)),
    ],
    [
      'admin, organizations, on a plan',
      { as: of.tokens.operator, plan_code: 'starter' },
      count(of, (n) => n % 2 === 0 && !few(of.rows).has(n)),
    ],
    ['admin, organizations, on a rare plan', { as: of.tokens.operator, plan_code: 'trial' }, SHARED],
  ],
  'GET /api/admin/orgs/{org_id}/audit': (of) => [['admin, audit of one', { as: of.tokens.operator }, of.rows + SHARED]],
  'GET /api/admin/orgs/{org_id}/credits/receipts': (of) => [['admin, receipts of one', { as: of.tokens.operator }, 2 * of.rows]],
  'GET /api/admin/orgs/{org_id}/credits/ledger': (of) => [['admin, ledger of one', { as: of.tokens.operator }, of.rows]],
  'GET /api/admin/audit': (of) => [
    ['admin, audit', { as: of.tokens.operator }, of.rows],
    ['admin, audit, of an action', { as: of.tokens.operator, action: 'member.removed' }, of.rows - SHARED],
    ['admin, audit, of a rare action', { as: of.tokens.operator, action: 'organization.suspended' }, SHARED],
    ['admin, audit, of an actor', { as: of.tokens.operator, actor_id: of.operator }, of.rows - SHARED],
    ['admin, audit, of another actor', { as: of.tokens.operator, actor_id: of.owner }, SHARED],
    ['admin, audit, of an organization', { as: of.tokens.operator, org_id: of.org }, SHARED],
  ],
  'GET /api/admin/billing/events': (of) => [
    ['admin, deliveries', { as: of.tokens.operator }, of.rows],
    ['admin, deliveries, applied', { as: of.tokens.operator, status: 'applied' }, of.rows - SHARED],
    ['admin, deliveries, failed', { as: of.tokens.operator, status: 'failed' }, SHARED],
    ['admin, deliveries, of an organization', { as: of.tokens.operator, org_id: of.org }, SHARED],
  ],
  'GET /api/admin/waitlist': (of) => [
    ['waitlist', { as: of.tokens.operator }, of.rows],
    ['waitlist, pending', { as: of.tokens.operator, status: 'pending' }, count(of, (n) => n % 2 === 1 && !few(of.rows).has(n))],
    ['waitlist, dismissed', { as: of.tokens.operator, status: 'dismissed' }, SHARED],
  ],
};

/** Lists that cannot grow: how many rows they have at most, and where that is seen to. */
export const BOUNDED = {
  'GET /api/auth/sessions': {
    cap: '1,000 sessions: who signs in once more ends the one that was not used for longest',
    where: 'libs/domains/identity/src/sessions.repository.ts',
  },
  'GET /api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/todos': {
    cap: '100 todos: the tool that replaces them takes no more',
    where: 'libs/domains/chats/src/tools/core-tools.ts',
  },
  'GET /api/orgs/{org_id}/environments': {
    cap: '500 environments: an organization gets no further ones',
    where: 'libs/domains/environments/src/environments.service.ts',
  },
  'GET /api/orgs/{org_id}/inference-routes': {
    cap: '100 routes that an organization owns: it gets no further ones',
    where: 'libs/domains/inference/src/governance/own-routes.service.ts',
  },
  'GET /api/orgs/{org_id}/models': {
    cap: 'the models of the catalog, which operators add one by one, and `max_custom_models` of its own; held in memory',
    where: 'libs/domains/inference/src/model.queries.ts',
  },
  'GET /api/orgs/{org_id}/schedules': {
    cap: '500 schedules: an organization gets no further ones',
    where: 'libs/domains/processes/src/schedules/schedules.service.ts',
  },
  'GET /api/admin/workers': {
    cap: 'the processes that run: one that has been silent for a minute is gone',
    where: 'libs/platform/src/queues/worker-registry.sql.ts',
  },
  'GET /api/admin/plans': {
    cap: 'the plans that operators make one by one',
    where: 'libs/domains/billing/src/plans/plans.queries.ts',
  },
  'GET /api/orgs/{org_id}/tool-sources/tools': {
    cap: '500 tools of each of the `max_integrations` connections: a server that lists more is refused',
    where: 'libs/domains/connections/src/mcp/mcp-tool-servers.ts',
  },
};

/** Lists that have no pages: they answer all they have, so they cost that. What keeps it little. */
export const WHOLE = {
  'GET /api/orgs/{org_id}/environments/custom-images/registries': 'Operators name them in a setting.',
  'GET /api/orgs/{org_id}/inboxes/{inbox_id}/channels': 'An inbox has at most twenty.',
  'GET /api/orgs/{org_id}/inboxes/{inbox_id}/revisions':
    'People deploy them one by one, and there is one open draft. Four are held at a time.',
  'GET /api/orgs/{org_id}/knowledge/integrations/{integration_id}/collections':
    'Of what a server lists, 10,001 resources are looked at; nothing of it is stored.',
  'GET /api/orgs/{org_id}/members/invitations': 'Those that are open are seats; one that has expired stays until it is revoked.',
  'GET /api/orgs/{org_id}/processes/{process_id}/revisions':
    'People push them, and nothing is written where one says what the newest does. Four are held at a time.',
  'GET /api/orgs/{org_id}/prompt-templates/{template_id}/revisions': 'People write them, and each is without its text.',
  'GET /api/auth/oidc': 'Operators name them in a setting.',
  'GET /api/admin/admins': 'Operators are few.',
  'GET /api/admin/ai/routes': 'Operators add them one by one, and so do organizations with their own keys.',
  'GET /api/admin/models': 'Operators add them one by one, and so do organizations up to `max_custom_models`.',
  'GET /api/admin/credit-packs': 'Operators make them one by one.',
  'GET /api/admin/allowed-emails': 'Operators add them one by one.',
};

/** What is computed from as many rows, and is no list. */
export const FIGURES = {
  'GET /api/orgs/{org_id}/usage': () => [['usage', {}]],
  'GET /api/orgs/{org_id}/inboxes/{inbox_id}/messages/counts': (of) => [
    ['counts of an inbox', { inbox_id: of.inbox }],
    ['counts of an inbox, of a week', { inbox_id: of.inbox, within_hours: 168 }],
    ['counts of an inbox, searched', { inbox_id: of.inbox, search: 'rare' }],
  ],
  'GET /api/orgs/{org_id}/settings/limits/usage': () => [['usage of limits', {}]],
};

const readsOf = (place, operations, page) =>
  Object.entries(operations).flatMap(([operation, asked]) =>
    asked(place).map(([what, { as, ...parameters }, added]) => {
      const given = { org_id: place.org, ...parameters };
      const names = [...operation.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const query = Object.entries({ ...page, ...parameters }).filter(([name]) => !names.includes(name));
      const path = operation.replace('GET ', '').replace(/\{(\w+)\}/g, (_, name) => given[name]);
      return { what, path: `${path}?${new URLSearchParams(query)}`, as, added };
    }),
  );

/** All that is read of a place, in one order for all places. */
export const reads = (place) => [...readsOf(place, LISTS, { limit: LIMIT }), ...readsOf(place, FIGURES, {})];
