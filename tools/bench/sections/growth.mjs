/** Lists and figures over few rows and over many: what a page costs must follow the page, and not what lies beside it. */
import { strictEqual } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../dev/lib/postgres.mjs';
import { closedLoop, figure, middle, median, printTable } from '../lib/measure.mjs';
import { Product } from '../lib/systems.mjs';

/** Of many rows, so many may be seen by somebody to whom they do not belong. */
const SHARED = 20;
const BASES = 500;
const DAYS = 30;

/** SQL of an id in the order of time, as the product makes them; different for each `n` and `salt`. */
const idAt = (at, salt) =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5('${salt}a' || n), 1, 3) || '8' || substr(md5('${salt}b' || n), 1, 15))::uuid`;

/** One for all tables: a row of one finds that of another by its number. */
const END = new Date().toISOString();
/** `rows` numbered from 1, spread over a month up to now. */
const numbered = (rows) =>
  `(SELECT n, timestamptz '${END}' - interval '${DAYS} days' * (1 - n::float / ${rows}) AS at FROM generate_series(1, ${rows}) AS n) s`;

/**
 * What each list is filled with. The owner's agent has `rows` chats that the owner sees; the other's has as many, of which the owner sees
 * {@link SHARED}.
 */
const SEEDS = {
  chats: ({ rows, org, agent, revision, owner }) => `
    INSERT INTO chats (id, org_id, agent_id, agent_revision_id, title, created_by, shared, root_chat_id, origin_kind, message_count, event_seq, message_seq, created_at, updated_at)
    SELECT id, '${org}', '${agent}', '${revision}', 'Chat ' || n, ${owner ? `'${owner}'` : 'gen_random_uuid()'}, ${owner ? 'false' : `n % ${rows / SHARED} = 0`}, id, 'user', 10, 0, 10, at, at
    FROM (SELECT n, at, ${idAt('at', agent)} AS id FROM ${numbered(rows)}) c`,
  decisions: ({ rows, org, agent, revision }) => `
    INSERT INTO decisions (id, org_id, chat_id, agent_id, agent_revision_id, turn_id, tool_call_id, kind, summary, basis, deviation, determination, review_status, archived_at, created_at, updated_at)
    SELECT ${idAt('at', `d${agent}`)}, '${org}', ${idAt('at', agent)}, '${agent}', '${revision}', gen_random_uuid(), 'call', (ARRAY['act', 'no_act', 'escalate'])[1 + n % 3], 'Decision ' || n,
      'Rule ' || n % ${BASES}, n % 50 = 0, n % 40 = 0, (ARRAY['unreviewed', 'agreed', 'unreviewed', 'disputed'])[1 + n % 4], CASE WHEN n % 10 = 0 THEN at END, at, at
    FROM ${numbered(rows)}`,
  receipts: ({ rows, org, agent, route }) => `
    INSERT INTO inference_receipts (id, org_id, feature, chat_id, agent_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
      input_price_per_1m, output_price_per_1m, usd_cost, duration_ms, created_at)
    SELECT ${idAt('at', `r${agent}`)}, '${org}', 'turn', ${idAt('at', agent)}, '${agent}', 'mock', 'requested', '${route}', 100, 0, 0, 50, 0, 1, 2, 0.0002, 900, at FROM ${numbered(rows)}`,
  turns: ({ rows, org, agent }) => `
    INSERT INTO turns (id, org_id, chat_id, seq, status, cause, dispatched_at, started_at, finished_at)
    SELECT ${idAt('at', `t${agent}`)}, '${org}', ${idAt('at', agent)}, 1, 'done', 'message', at, at, at FROM ${numbered(rows)}`,
  requests: ({ rows, org, agent }) => `
    INSERT INTO hitl_requests (id, org_id, chat_id, agent_id, turn_id, step_id, tool_call_id, kind, prompt, status, expires_at, created_at)
    SELECT ${idAt('at', `h${agent}`)}, '${org}', ${idAt('at', agent)}, '${agent}', gen_random_uuid(), '1', 'call', 'question', 'Question ' || n, 'answered', at, at FROM ${numbered(rows)}`,
  audit: ({ rows, org, owner }) => `
    INSERT INTO audit_log (id, source, action, org_id, actor_id, target_kind, target_id, created_at)
    SELECT ${idAt('at', 'audit')}, 'business', 'chat.shared', '${org}', '${owner}', 'chat', n::text, at FROM ${numbered(rows)}`,
  runs: ({ rows, org, template, revision }) => `
    INSERT INTO prompt_runs (id, org_id, template_id, revision_id, source, status, model, output, held_until, created_at, updated_at)
    SELECT ${idAt('at', 'run')}, '${org}', '${template}', '${revision}', 'test', 'succeeded', 'mock', 'Answer ' || n, at, at, at FROM ${numbered(rows)}`,
  events: ({ rows, org, chat }) => `
    INSERT INTO events (topic, seq, org_id, type, data, created_at) SELECT 'chat:${chat}', n, '${org}', 'status_changed', '{"from": "ACTIVE", "to": "RUNNING", "stop_reason": null, "pause": null}', at FROM ${numbered(rows)}`,
};

/** What is asked, with the total that is known by hand. */
const reads = ({ rows, mine, theirs, chat, template }) => {
  const live = rows - Math.floor(rows / 10);
  const far = rows * 0.9;
  return [
    ['chats, owner', `${mine}/chats?limit=20`, rows],
    ['chats, far on', `${mine}/chats?limit=20&offset=${far}`, rows],
    ['chats, few seen', `${theirs}/chats?limit=20`, SHARED],
    ['decisions, owner', `${mine}/decisions?limit=20`, live],
    ['decisions, far on', `${mine}/decisions?limit=20&offset=${live * 0.9}`, live],
    ['decisions, few seen', `${theirs}/decisions?limit=20`],
    ['decisions, of a kind', `${mine}/decisions?limit=20&kind=act`],
    ['decisions, unreviewed', `${mine}/decisions?limit=20&review_status=unreviewed`],
    ['decisions, deviations', `${mine}/decisions?limit=20&deviation=true`],
    ['decisions, archived', `${mine}/decisions?limit=20&archived=true`, rows - live],
    ['groups', `${mine}/decisions/groups?limit=20`],
    ['groups, few seen', `${theirs}/decisions/groups?limit=20`],
    ['usage', '/usage'],
    ['usage of limits', '/settings/limits/usage'],
    ['audit', '/audit?limit=20'],
    ['HITL requests', '/hitl-requests?limit=20'],
    ['timeline', `${mine}/chats/${chat}/timeline?limit=20`],
    ['runs of a prompt', `/prompt-templates/${template}/runs?limit=20`],
  ];
};

/** Waits until the worker has folded what the seeds appended. */
async function folded(url) {
  const tallies = await query(
    url,
    `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'folded'`,
  );
  const left = tallies.map(({ name }) => `(SELECT count(*)::int FROM ${name} WHERE NOT folded)`).join(' + ');
  while ((await query(url, `SELECT ${left} AS n`))[0].n > 0) await sleep(500);
}

/** A database with so many rows behind a product that had started, and planned its statements, before they came. */
async function grown(servers, name, rows) {
  const url = Object.assign(new URL(servers.env.DATABASE_URL), { pathname: `/${name}` }).href;
  await query(servers.env.DATABASE_URL, `CREATE DATABASE ${name} TEMPLATE agent_platform`);
  const env = { ...servers.env, DATABASE_URL: url, REDIS_PREFIX: name };
  const product = await new Product({ ...servers, env }).start();
  const org = servers.seed.org_id;
  const api = `${product.url}/api/orgs/${org}`;
  const [mine, theirs] = await Promise.all(
    ['Mine', 'Theirs'].map((agent) => product.call(`${api}/agents`, { method: 'POST', body: { name: agent } })),
  );
  const template = await product.call(`${api}/prompt-templates`, { method: 'POST', body: { name: 'Bench', text: 'Hello.' } });
  const [{ id: owner }] = await query(url, `SELECT id FROM users WHERE email = '${servers.seed.user.email}'`);
  const [{ id: route }] = await query(url, `SELECT id FROM inference_routes WHERE slug = 'mock'`);
  const revisionOf = async (agent) => (await query(url, `SELECT live_revision_id AS id FROM agents WHERE id = '${agent}'`))[0].id;
  const asked = {
    ...servers.seed,
    rows,
    mine: `/agents/${mine.id}`,
    theirs: `/agents/${theirs.id}`,
    chat: undefined,
    template: template.id,
  };
  const chat = await product.newChat(`${api}/agents/${theirs.id}/chats`);
  asked.chat = chat.id;
  // Six times each, after which PostgreSQL may keep a plan that it made for next to nothing.
  const all = (place) => reads({ ...place, theirs: place.theirs }).filter(([what]) => what !== 'timeline');
  for (let times = 0; times < 6; times++) for (const [, path] of all(asked)) await product.call(`${api}${path}`);
  await query(url, `DELETE FROM chats WHERE id = '${chat.id}'`);

  for (const [agent, by] of [
    [mine.id, owner],
    [theirs.id, null],
  ]) {
    const of = { rows, org, agent, revision: await revisionOf(agent), owner: by, route };
    for (const seed of ['chats', 'decisions', 'receipts', 'turns', 'requests']) await query(url, SEEDS[seed](of));
  }
  const [{ id: anyChat }] = await query(url, `SELECT id FROM chats WHERE agent_id = '${mine.id}' ORDER BY id LIMIT 1`);
  asked.chat = anyChat;
  const rest = { rows, org, owner, chat: anyChat, template: template.id, revision: template.current_revision.id };
  for (const seed of ['audit', 'runs', 'events']) await query(url, SEEDS[seed](rest));
  await query(url, `UPDATE chats SET event_seq = ${rows} WHERE id = '${anyChat}'`);
  await folded(url);
  await query(url, 'VACUUM ANALYZE');
  return { product, url, api, reads: reads(asked) };
}

export async function growth({ servers, quick }) {
  const sizes = quick ? [1_000, 20_000] : [1_000, 100_000];
  const places = [];
  for (const rows of sizes) places.push(await grown(servers, `growth_${rows}`, rows));
  const [rounds, ms] = quick ? [2, 400] : [4, 1_000];
  const rows = [];
  for (const [i, [what]] of places[0].reads.entries()) {
    const runs = places.map(() => []);
    for (const [at, { product, api, reads: all }] of places.entries()) {
      const { total } = await product.call(`${api}${all[i][1]}`);
      if (all[i][2] !== undefined) strictEqual(total, all[i][2], `the total of ${what} over ${sizes[at]} rows`);
    }
    for (let round = 0; round < rounds; round++)
      for (const [at, { product, api, reads: all }] of places.entries())
        runs[at].push(await closedLoop({ width: 1, ms }, () => product.call(`${api}${all[i][1]}`)));
    const [few, many] = runs;
    rows.push([
      what,
      ...[few, many].flatMap((of) => [figure(middle(of, 'p50')), figure(middle(of, 'p95'))]),
      figure(median(many.map((run, round) => run.p50 / few[round].p50))),
    ]);
  }
  printTable(
    `Growth, one request at a time, ms`,
    ['read', ...sizes.flatMap((size) => [`${size.toLocaleString('en')} rows, p50`, 'p95']), 'p50, ratio'],
    rows,
  );
  for (const { product } of places) await product.stop();
}
