/** What fills a database: SQL of `rows` rows each, spread over a month up to now. */

/** Of many rows, so many are seen by somebody to whom they do not belong, or have what a filter looks for. */
export const SHARED = 20;
export const BASES = 500;
const DAYS = 30;

/** Which rows have something, by their number: as SQL, and to tell totals by hand. */
const each = (step, from = 0) => ({ sql: `n % ${step} = ${from}`, has: (n) => n % step === from });
export const few = (rows) => each(rows / SHARED);
// None excludes another, and few of the archived are among those of which there are few.
export const ARCHIVED = each(10, 3);
export const DEVIATION = each(50, 7);
export const DETERMINATION = each(40, 9);
export const PENDING = each(50, 7);
/** The team, project and process run that few rows name; all memories and most teams but these are the project's. */
export const NAMED = '00000000-0000-7000-8000-000000000001';

/** SQL of an id in the order of time, as the product makes them; different for each `n` and `salt`. */
const idAt = (at, salt) =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5('${salt}a' || n), 1, 3) || '8' || substr(md5('${salt}b' || n), 1, 15))::uuid`;
const ref = (id) => (id === null ? 'NULL::uuid' : `'${id}'::uuid`);
/** One of the words, in turn. */
const oneOf = (...words) => `(ARRAY[${words.map((word) => `'${word}'`).join(', ')}])[1 + n % ${words.length}]`;

/** One for all tables: a row of one finds that of another by its number. */
const END = new Date().toISOString();
/** `rows` numbered from 1, spread over a month up to now. */
const numbered = (rows) =>
  `(SELECT n, timestamptz '${END}' - interval '${DAYS} days' * (1 - n::float / ${rows}) AS at FROM generate_series(1, ${rows}) AS n) s`;

/** What was said in a chat that was played again. */
const said = `jsonb_build_object('tools', '[]'::jsonb, 'decisions', '[]'::jsonb, 'final_text', repeat('x', 10000))`;

/** Of an agent. Each chat has one row of the others, unless they are `allIn` one. */
export const AGENT_SEEDS = {
  /** Of the `owner`; without one of as many people, and {@link SHARED} of them are shared. */
  chats: ({ rows, org, agent, revision, owner }) => `
    INSERT INTO chats (id, org_id, agent_id, agent_revision_id, rollout_id, title, created_by, shared, root_chat_id, origin_kind, message_count, event_seq, message_seq, created_at, updated_at)
    SELECT id, '${org}', '${agent}', '${revision}', rollout, 'Chat ' || n, ${owner ? `'${owner}'` : 'gen_random_uuid()'}, ${owner ? 'false' : few(rows).sql}, id, 'user', 10, 0, 10, at, at
    FROM (SELECT n, at, ${idAt('at', agent)} AS id, (SELECT id FROM rollouts WHERE agent_id = '${agent}' AND status = 'live') AS rollout FROM ${numbered(rows)}) c`,
  decisions: ({ rows, org, agent, revision, allIn, basis = `n % ${BASES}` }) => `
    INSERT INTO decisions (id, org_id, chat_id, agent_id, agent_revision_id, turn_id, tool_call_id, kind, summary, basis, deviation, determination, review_status, archived_at, created_at, updated_at)
    SELECT ${idAt('at', `d${agent}`)}, '${org}', ${allIn ? ref(allIn) : idAt('at', agent)}, '${agent}', '${revision}', gen_random_uuid(), 'call', ${oneOf('act', 'no_act', 'escalate')}, 'Decision ' || n,
      'Rule ' || ${basis}, ${DEVIATION.sql}, ${DETERMINATION.sql}, ${oneOf('unreviewed', 'agreed', 'unreviewed', 'disputed')}, CASE WHEN ${ARCHIVED.sql} THEN at END, at, at
    FROM ${numbered(rows)}`,
  receipts: ({ rows, org, agent, route }) => `
    INSERT INTO inference_receipts (id, org_id, feature, chat_id, agent_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
      input_price_per_1m, output_price_per_1m, usd_cost, duration_ms, created_at)
    SELECT ${idAt('at', `r${agent}`)}, '${org}', 'turn', ${idAt('at', agent)}, '${agent}', 'mock', 'requested', '${route}', 100, 0, 0, 50, 0, 1, 2, 0.0002, 900, at FROM ${numbered(rows)}`,
  turns: ({ rows, org, agent }) => `
    INSERT INTO turns (id, org_id, chat_id, seq, status, cause, dispatched_at, started_at, finished_at)
    SELECT ${idAt('at', `t${agent}`)}, '${org}', ${idAt('at', agent)}, 1, 'done', 'message', at, at, at FROM ${numbered(rows)}`,
  /** Without an agent they are a process run's. */
  requests: ({ rows, org, agent, allIn }) => `
    INSERT INTO hitl_requests (id, org_id, chat_id, agent_id, run_id, turn_id, step_id, tool_call_id, kind, prompt, status, expires_at, created_at)
    SELECT ${idAt('at', `h${agent}`)}, '${org}', ${agent ? (allIn ? ref(allIn) : idAt('at', agent)) : 'NULL'}, ${ref(agent)}, ${ref(agent ? null : NAMED)}, gen_random_uuid(), '1', 'call', 'question', 'Question ' || n,
      CASE WHEN ${PENDING.sql} THEN 'pending' ELSE ${oneOf('answered', 'expired', 'answered', 'cancelled')} END, timestamptz '${END}' + interval '1 day', at FROM ${numbered(rows)}`,
  memories: ({ rows, org, agent }) => `
    INSERT INTO memories (id, org_id, owner_kind, owner_id, content, source, created_at)
    SELECT ${idAt('at', 'memory')}, '${org}', 'agent', '${agent}', 'Memory ' || n, 'human', at FROM ${numbered(rows)}`,
  revisions: ({ rows, org, agent, revision }) => `
    INSERT INTO agent_revisions (id, org_id, agent_id, version, hash, config, created_at)
    SELECT ${idAt('at', 'sealed')}, '${org}', '${agent}', 1 + n, md5(n::text), (SELECT config FROM agent_revisions WHERE id = '${revision}'), at FROM ${numbered(rows)}`,
  instructions: ({ rows, org, agent }) => `
    INSERT INTO instruction_revisions (id, org_id, agent_id, version, state, content, published_at, created_at, updated_at)
    SELECT ${idAt('at', 'text')}, '${org}', '${agent}', 1 + n, 'superseded', 'Instruction ' || n, at, at, at FROM ${numbered(rows)}`,
  /** Older than the live one, which has all of the agent's chats. */
  rollouts: ({ rows, org, agent, revision }) => `
    INSERT INTO rollouts (id, org_id, agent_id, kind, status, arms, started_at, ended_at)
    SELECT ${idAt('at', 'rollout')}, '${org}', '${agent}', 'deploy', 'superseded', '[{"label": "live", "revision_id": "${revision}", "version": 1, "weight": 10000}]', at, at FROM ${numbered(rows)}`,
  /** Each of one chat. */
  replays: ({ rows, org, agent, revision, owner }) => `
    INSERT INTO replays (id, org_id, agent_id, kind, status, config, revision_id, billing_unit, estimate, created_by, created_at, finished_at)
    SELECT ${idAt('at', 'replay')}, '${org}', '${agent}', 'simulation', 'completed', (SELECT config FROM agent_revisions WHERE id = '${revision}'), '${revision}', 'usd',
      '{"model_calls": 1, "credits": null, "usd": "0.1"}', '${owner}', at, at FROM ${numbered(rows)};
    INSERT INTO replay_items (replay_id, place, org_id, chat_id, result, differences, misses, cost_before, tokens_before, cost, tokens)
    SELECT ${idAt('at', 'replay')}, 0, '${org}', ${idAt('at', agent)}, jsonb_build_object('before', ${said}, 'after', ${said}), '{final_text}', 0, 0.1, 100, 0.2, 90 FROM ${numbered(rows)}`,
};

const ENVELOPE = JSON.stringify({
  id: NAMED,
  source: { kind: 'api', ref_id: null, user_id: null },
  received_at: END,
  input: {},
  attachments: [],
  message: null,
});
/** A run, before there are any. */
export const aRun = ({ org, process, processRevision }) => `
  INSERT INTO process_runs (id, org_id, status, process_id, revision_id, revision_hash, revision_version, envelope, source_kind, root_run_id, finished_at)
  VALUES ('${NAMED}', '${org}', 'cancelled', '${process}', '${processRevision}', '', 1, '${ENVELOPE}', 'api', '${NAMED}', now())`;

/** The project and the team that seeds name. */
export const places = ({ org }) => `
  INSERT INTO projects (id, org_id, slug, name, display_order) VALUES ('${NAMED}', '${org}', 'named', 'Named', 0);
  INSERT INTO agent_teams (id, org_id, slug, name, display_order) VALUES ('${NAMED}', '${org}', 'named', 'Named', 0)`;

export const SEEDS = {
  events: ({ rows, org, chat }) => `
    INSERT INTO events (topic, seq, org_id, type, data, created_at)
    SELECT 'chat:' || c.id, c.event_seq + n, '${org}', 'status_changed', '{"from": "ACTIVE", "to": "RUNNING", "stop_reason": null, "pause": null}', at FROM chats c, ${numbered(rows)} WHERE c.id = '${chat}';
    UPDATE chats SET event_seq = event_seq + ${rows} WHERE id = '${chat}'`,
  ledger: ({ rows, org }) => `
    INSERT INTO org_credits (org_id) VALUES ('${org}') ON CONFLICT DO NOTHING;
    INSERT INTO credit_ledger (id, org_id, bucket, delta, kind, key, content_hash, created_at)
    SELECT ${idAt('at', 'ledger')}, '${org}', 'granted', 1, 'adjust', 'adjust:' || n, '', at FROM ${numbered(rows)}`,
  audit: ({ rows, org, owner }) => `
    INSERT INTO audit_log (id, source, action, org_id, actor_id, target_kind, target_id, created_at)
    SELECT ${idAt('at', 'audit')}, 'business', 'chat.shared', '${org}', '${owner}', 'chat', n::text, at FROM ${numbered(rows)}`,
  prompts: ({ rows, org }) => `
    INSERT INTO prompt_templates (id, org_id, slug, name, project_id, version, created_at, updated_at)
    SELECT ${idAt('at', 'prompt')}, '${org}', 'growth-' || n, 'Prompt ' || n, CASE WHEN ${few(rows).sql} THEN ${ref(NAMED)} END, 1, at, at FROM ${numbered(rows)};
    INSERT INTO prompt_revisions (id, org_id, template_id, version, text, changed, created_at)
    SELECT ${idAt('at', 'wording')}, '${org}', ${idAt('at', 'prompt')}, 1, 'Hello.', '{}', at FROM ${numbered(rows)}`,
  connections: ({ rows, org, owner, operator }) => `
    INSERT INTO connections (id, org_id, slug, label, app_key, provider_key, method, status, scope, owner_user_id, project_id, created_at, updated_at)
    SELECT ${idAt('at', 'connection')}, '${org}', 'growth-' || n, 'Connection ' || n, 'deepwiki', 'deepwiki', 'none', 'active', ${oneOf('org', 'private')},
      CASE WHEN n % 2 = 0 THEN ${ref(owner)} ELSE ${ref(operator)} END,
      CASE WHEN ${few(rows).sql} THEN ${ref(NAMED)} END, at, at FROM ${numbered(rows)}`,
  inboxes: ({ rows, org }) => `
    INSERT INTO inboxes (id, org_id, slug, name, project_id, target_kind, target_id, created_at, updated_at)
    SELECT 'inb_' || lpad(n::text, 26, '0'), '${org}', 'growth-' || n, 'Inbox ' || n, CASE WHEN ${few(rows).sql} THEN ${ref(NAMED)} END,
      CASE WHEN ${few(rows).sql} THEN 'agent' END, CASE WHEN ${few(rows).sql} THEN '${NAMED}' END, at, at FROM ${numbered(rows)}`,
  /** Of one inbox; a few came by a webhook, are held, and say so. */
  inboxMessages: ({ rows, org, inbox }) => `
    INSERT INTO inbox_messages (id, org_id, inbox_id, channel_id, channel_kind, sender_address, sender_key, subject, size_bytes, status, state, verdict, hold_reason, decided_by, passed_at,
      raw_available, raw_expires_at, dispatched_at, finished_at, received_at, updated_at)
    SELECT ${idAt('at', 'mail')}, '${org}', '${inbox}', gen_random_uuid(), CASE WHEN few THEN 'webhook' ELSE 'email' END, 'person-' || n || '@growth.example', 'person-' || n || '@growth.example',
      CASE WHEN few THEN 'Rare' ELSE 'Order' END || ' ' || n, 2048, 'settled', CASE WHEN few THEN 'held' ELSE 'accepted' END, CASE WHEN few THEN 'quarantined' ELSE 'accepted' END,
      CASE WHEN few THEN 'quarantined' END, 'default', at, false, at, at, at, at, at FROM (SELECT *, ${few(rows).sql} AS few FROM ${numbered(rows)}) m`,
  bases: ({ rows, org }) => `
    INSERT INTO knowledge_bases (id, org_id, slug, name, project_id, created_at, updated_at)
    SELECT ${idAt('at', 'base')}, '${org}', 'growth-' || n, 'Base ' || n, CASE WHEN ${few(rows).sql} THEN ${ref(NAMED)} END, at, at FROM ${numbered(rows)}`,
  /** Of one base; each is a page, and one of them has as many pieces. */
  sources: ({ rows, org }) => `
    INSERT INTO knowledge_bases (id, org_id, slug, name) VALUES ('${NAMED}', '${org}', 'named', 'Named');
    INSERT INTO knowledge_sources (id, org_id, status, kb_id, kind, title, position, version, finished_at, indexed_at, created_at, updated_at)
    SELECT ${idAt('at', 'source')}, '${org}', 'ready', '${NAMED}', 'document', 'Page ' || n, n, 1, at, at, at, at FROM ${numbered(rows)};
    INSERT INTO knowledge_sources (id, org_id, status, kb_id, kind, title, chunk_count, finished_at, indexed_at)
    VALUES ('${NAMED}', '${org}', 'ready', '${NAMED}', 'text', 'Long', ${rows}, now(), now());
    INSERT INTO knowledge_chunks (id, org_id, kb_id, source_id, position, content, heading_path, char_start, char_end, token_count, words)
    SELECT ${idAt('at', 'piece')}, '${org}', '${NAMED}', '${NAMED}', n - 1, 'Piece ' || n, '{}', n, n, 2,
      to_tsvector('english', 'Piece ' || n) || array_to_tsvector(ARRAY['org:${org}', 'kb:${NAMED}']) FROM ${numbered(rows)}`,
  /** Of the same base, by one of the connections. */
  syncs: ({ rows, org }) => `
    INSERT INTO knowledge_syncs (id, org_id, status, kb_id, connection_id, collection_id, collection_name, finished_at, created_at, updated_at)
    SELECT ${idAt('at', 'sync')}, '${org}', 'ok', '${NAMED}', (SELECT id FROM connections WHERE org_id = '${org}' LIMIT 1), 'notes://' || n, 'Notes', at, at, at FROM ${numbered(rows)}`,
  /** Of one environment, all by one chat. */
  commands: ({ rows, org, chat }) => `
    INSERT INTO environments (id, org_id, kind, name) VALUES ('${NAMED}', '${org}', 'BUILTIN_SANDBOX', 'Sandbox');
    INSERT INTO environment_commands (id, org_id, environment_id, chat_id, call_key, workspace, kind, command, workdir, timeout_s, status, exit_code, started_at, finished_at, created_at)
    SELECT ${idAt('at', 'command')}, '${org}', '${NAMED}', '${chat}', 'growth/' || n, '${NAMED}', 'exec', 'make ' || n, '/workspace', 120, 'done', 0, at, at, at FROM ${numbered(rows)}`,
  processes: ({ rows, org }) => `
    INSERT INTO processes (id, org_id, slug, name, title, project_id, created_at, updated_at)
    SELECT 'prc_' || lpad(n::text, 26, '0'), '${org}', 'growth-' || n, 'Process ' || n, 'Does it', CASE WHEN ${few(rows).sql} THEN ${ref(NAMED)} END, at, at FROM ${numbered(rows)}`,
  /** Of one process; a few have failed. */
  processRuns: ({ rows, org, process, processRevision }) => `
    INSERT INTO process_runs (id, org_id, status, process_id, revision_id, revision_hash, revision_version, envelope, source_kind, root_run_id, started_at, finished_at, created_at, updated_at)
    SELECT id, '${org}', CASE WHEN few THEN 'failed' ELSE 'completed' END, '${process}', '${processRevision}', '', 1, '${ENVELOPE}', 'api', id, at, at, at, at
    FROM (SELECT *, ${idAt('at', 'process run')} AS id, ${few(rows).sql} AS few FROM ${numbered(rows)}) r`,
  /** Of one run. */
  runEvents: ({ rows, org, run }) => `
    INSERT INTO events (topic, seq, org_id, type, data, created_at)
    SELECT 'run:${run}', n, '${org}', 'step_updated', '{"event": "step_started", "step_id": "say", "path": "say", "kind": "transform"}', at FROM ${numbered(rows)};
    UPDATE process_runs SET event_seq = ${rows} WHERE id = '${run}'`,
  runCalls: ({ rows, org, run }) => `
    INSERT INTO process_llm_calls (id, org_id, run_id, step_id, path, status, request_messages, response_messages, created_at)
    SELECT ${idAt('at', 'llm')}, '${org}', '${run}', 'say', 'say', 'succeeded', '[]', '[]', at FROM ${numbered(rows)};
    INSERT INTO process_agent_calls (id, org_id, run_id, step_id, path, kind, status, created_at)
    SELECT ${idAt('at', 'agent call')}, '${org}', '${run}', 'say', 'say', 'turn', 'succeeded', at FROM ${numbered(rows)};
    INSERT INTO process_repairs (id, org_id, run_id, step_id, path, tool_slug, attempt, error, fixable, request, created_at)
    SELECT ${idAt('at', 'repair')}, '${org}', '${run}', 'say', 'say', 'tool', 1, 'No.', true, '[]', at FROM ${numbered(rows)}`,
  runs: ({ rows, org, template, templateRevision }) => `
    INSERT INTO prompt_runs (id, org_id, template_id, revision_id, source, status, model, output, held_until, created_at, updated_at)
    SELECT ${idAt('at', 'run')}, '${org}', '${template}', '${templateRevision}', 'test', 'succeeded', 'mock', 'Answer ' || n, at, at, at FROM ${numbered(rows)}`,
  /** Each with what its view joins. */
  agents: ({ rows, org }) => `
    INSERT INTO agents (id, org_id, slug, name, team_id, project_id, live_revision_id, draft_hash, last_revision_version, last_instruction_version, created_at, updated_at)
    SELECT ${idAt('at', 'agent')}, '${org}', 'growth-' || n, 'Agent ' || n, CASE WHEN ${few(rows).sql} THEN ${ref(NAMED)} END, CASE WHEN ${few(rows).sql} THEN ${ref(NAMED)} END,
      ${idAt('at', 'live')}, 'hash', 1, 1, at, at FROM ${numbered(rows)};
    INSERT INTO agent_revisions (id, org_id, agent_id, version, hash, config, created_at)
    SELECT ${idAt('at', 'live')}, '${org}', ${idAt('at', 'agent')}, 1, 'hash', '{}', at FROM ${numbered(rows)};
    INSERT INTO instruction_revisions (id, org_id, agent_id, version, state, content, published_at, created_at, updated_at)
    SELECT ${idAt('at', 'active')}, '${org}', ${idAt('at', 'agent')}, 1, 'active', 'Answer briefly.', at, at, at FROM ${numbered(rows)}`,
  projects: ({ rows, org }) => `
    INSERT INTO projects (id, org_id, slug, name, display_order, created_at, updated_at)
    SELECT ${idAt('at', 'project')}, '${org}', 'growth-' || n, 'Project ' || n, n, at, at FROM ${numbered(rows)}`,
  teams: ({ rows, org }) => `
    INSERT INTO agent_teams (id, org_id, slug, name, project_id, display_order, created_at, updated_at)
    SELECT ${idAt('at', 'team')}, '${org}', 'growth-' || n, 'Team ' || n, CASE WHEN NOT ${few(rows).sql} THEN ${ref(NAMED)} END, n, at, at FROM ${numbered(rows)}`,
  sharedMemories: ({ rows, org }) => `
    INSERT INTO memories (id, org_id, owner_kind, owner_id, content, source, created_at)
    SELECT gen_random_uuid(), '${org}', kind, '${NAMED}', 'Memory ' || n, 'human', at FROM ${numbered(rows)}, (VALUES ('team'), ('project')) k(kind)`,
  skills: ({ rows, org }) => `
    INSERT INTO skills (id, org_id, slug, name, description, content, project_id, created_at, updated_at)
    SELECT ${idAt('at', 'skill')}, '${org}', 'growth-' || n, 'Skill ' || n, 'What it is for.', 'What it says.', CASE WHEN ${few(rows).sql} THEN ${ref(NAMED)} END, at, at FROM ${numbered(rows)}`,
  /** Each with a session and a token: where only one person had any, PostgreSQL would look for everybody's as for that one's. */
  members: ({ rows, org }) => `
    INSERT INTO users (id, email, email_canonical, name, password_hash, created_at, updated_at)
    SELECT ${idAt('at', 'user')}, 'person-' || n || '@growth.example', 'person-' || n || '@growth.example', 'Person ' || n, '', at, at FROM ${numbered(rows)};
    INSERT INTO memberships (id, org_id, user_id, role, created_at, updated_at)
    SELECT ${idAt('at', 'member')}, '${org}', ${idAt('at', 'user')}, 'MEMBER', at, at FROM ${numbered(rows)};
    INSERT INTO sessions (id, user_id, token_hash, expires_at, last_used_at, created_at)
    SELECT ${idAt('at', 'seen')}, ${idAt('at', 'user')}, decode(md5('seen' || n), 'hex'), timestamptz '${END}' + interval '${DAYS} days', at, at FROM ${numbered(rows)};
    INSERT INTO api_tokens (id, user_id, name, token_hash, prefix, last4, created_at)
    SELECT ${idAt('at', 'key')}, ${idAt('at', 'user')}, 'Token', decode(md5('key' || n), 'hex'), 'aps', 'last', at FROM ${numbered(rows)}`,
  /** Of which the person is a member, and nobody else. Half of them have a plan, and a few another one. */
  organizations: ({ rows, person }) => `
    INSERT INTO organizations (id, name, slug, suspended_at, created_at, updated_at)
    SELECT ${idAt('at', 'org')}, 'Organization ' || n, 'growth-' || n, CASE WHEN ${few(rows).sql} THEN at END, at, at FROM ${numbered(rows)};
    INSERT INTO memberships (id, org_id, user_id, role, created_at, updated_at)
    SELECT ${idAt('at', 'joined')}, ${idAt('at', 'org')}, '${person}', 'MEMBER', at, at FROM ${numbered(rows)};
    INSERT INTO subscriptions (org_id, plan_id, created_at, updated_at)
    SELECT ${idAt('at', 'org')}, p.id, at, at FROM (SELECT *, ${few(rows).sql} AS few FROM ${numbered(rows)}) o
    JOIN plans p ON p.code = CASE WHEN few THEN 'trial' WHEN n % 2 = 0 THEN 'starter' END`,
  /** Expired: how many are good at a time is capped, and a list has the others too until they are revoked. */
  tokens: ({ rows, person }) => `
    INSERT INTO api_tokens (id, user_id, name, token_hash, prefix, last4, expires_at, created_at)
    SELECT ${idAt('at', 'token')}, '${person}', 'Token ' || n, decode(md5('token' || n), 'hex'), 'aps', 'last', at, at - interval '1 day' FROM ${numbered(rows)}`,
  waitlist: ({ rows }) => `
    INSERT INTO waitlist_entries (id, email, email_canonical, status, asked_at, created_at, updated_at)
    SELECT ${idAt('at', 'waiting')}, 'waiting-' || n || '@growth.example', 'waiting-' || n || '@growth.example',
      CASE WHEN ${few(rows).sql} THEN 'dismissed' ELSE ${oneOf('registered', 'pending')} END, at, at, at FROM ${numbered(rows)}`,
  /** What the payment provider delivered; of the organization a few times, and those went wrong. */
  deliveries: ({ rows, org }) => `
    INSERT INTO billing_events (id, delivery_id, type, org_id, status, payload, received_at, next_attempt_at)
    SELECT ${idAt('at', 'delivery')}, 'msg_' || n, 'order.paid', CASE WHEN few THEN ${ref(org)} END, CASE WHEN few THEN 'failed' ELSE 'applied' END,
      jsonb_build_object('type', 'order.paid', 'data', jsonb_build_object('id', n::text)), at, NULL FROM (SELECT *, ${few(rows).sql} AS few FROM ${numbered(rows)}) o`,
  /** What the operator did, each to another organization; and in between a few times somebody else did another thing to the one that is full. */
  operations: ({ rows, org, owner, operator }) => `
    INSERT INTO audit_log (id, source, action, org_id, actor_id, target_kind, target_id, created_at)
    SELECT ${idAt('at', 'operation')}, 'admin', CASE WHEN few THEN 'organization.suspended' ELSE 'member.removed' END, CASE WHEN few THEN ${ref(org)} ELSE ${idAt('at', 'org')} END,
      CASE WHEN few THEN ${ref(owner)} ELSE ${ref(operator)} END, 'organization', n::text, at FROM (SELECT *, ${few(rows).sql} AS few FROM ${numbered(rows)}) o`,
};
