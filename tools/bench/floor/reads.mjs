/** The floor of the reads: bare Express and pg, on the product's tables, by the product's indexes, answering the same JSON. */
import express from 'express';
import pg from 'pg';

const { DATABASE_URL, PORT, ORG_ID, USER_ID, TOKEN } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 16 });
const COLUMNS = `id, agent_id, agent_revision_id, rollout_id, arm_label, title, status, pause, stop_reason, error, stop_requested_at, completed_at, archived_at, shared, created_by,
  environment_id, sandbox_enabled, model_mode_override, parent_chat_id, root_chat_id, source_chat_id, origin_kind, origin_ref_id, cost_usd, cost_credits, last_message_at, message_count, created_at, updated_at`;
const MINE = 'org_id = $1 AND agent_id = $2 AND deleted_at IS NULL AND (shared OR created_by = $3)';
const ONE = `SELECT ${COLUMNS} FROM chats WHERE ${MINE} AND id = $4`;
const MESSAGES =
  'SELECT id, seq, role, content, attachments, tool_calls, tool_call_id, tool_name, model, usage, created_at FROM messages WHERE org_id = $1 AND chat_id = $2 ORDER BY seq';
const PAGE = `SELECT ${COLUMNS}, (SELECT count(*)::int FROM chats WHERE ${MINE}) AS total FROM chats WHERE ${MINE} ORDER BY id DESC LIMIT $4`;

const OF_AGENT = `memories WHERE org_id = $1 AND owner_kind = 'agent' AND owner_id = $2`;
const MEMORIES = `SELECT *, (SELECT count(*)::int FROM ${OF_AGENT}) AS total FROM ${OF_AGENT} ORDER BY created_at DESC, id DESC LIMIT $3`;

const MODELS = 'SELECT * FROM model_catalog ORDER BY sort_order, key, id';
const ROUTES = `SELECT r.*, (SELECT count(*)::int FROM model_catalog m WHERE m.route_id = r.id AND m.enabled) AS pin_count
  FROM inference_routes r ORDER BY r.sort_order, r.slug, r.id`;

const rowsOf = async (name, text, values) => (await pool.query({ name, text, values })).rows;

/** Numeric columns come as text, with all their digits. */
const decimal = (text) => text.replace(/\.?0+$/, '');

function toJson({ origin_kind, origin_ref_id, total: _, ...chat }) {
  return {
    ...chat,
    cost_usd: decimal(chat.cost_usd),
    cost_credits: decimal(chat.cost_credits),
    archived: chat.status === 'ARCHIVED',
    origin: { kind: origin_kind, ref_id: origin_ref_id },
    pending_hitl_count: 0,
  };
}

const app = express();
app.disable('x-powered-by');
app.use((request, response, next) => (request.headers.authorization === `Bearer ${TOKEN}` ? next() : response.status(401).end()));

app.get('/agents/:agent/chats/:chat', async (request, response) => {
  const { agent, chat } = request.params;
  const [row] = await rowsOf('one', ONE, [ORG_ID, agent, USER_ID, chat]);
  if (!row) return response.status(404).end();
  response.json({ ...toJson(row), messages: await rowsOf('messages', MESSAGES, [ORG_ID, chat]) });
});

app.get('/agents/:agent/chats', async (request, response) => {
  const rows = await rowsOf('page', PAGE, [ORG_ID, request.params.agent, USER_ID, Number(request.query.limit)]);
  const total = rows[0]?.total ?? 0;
  response.json({ items: rows.map(toJson), total, next_offset: total > rows.length ? rows.length : null });
});

app.get('/agents/:agent/memories', async (request, response) => {
  const rows = await rowsOf('memories', MEMORIES, [ORG_ID, request.params.agent, Number(request.query.limit)]);
  const total = rows[0]?.total ?? 0;
  const items = rows.map(({ id, content, owner_kind, owner_id, source, created_by, created_at }) => ({
    id,
    content,
    owner: { kind: owner_kind, id: owner_id },
    source,
    created_by,
    created_at,
    updated_at: created_at,
  }));
  response.json({ items, total, next_offset: total > rows.length ? rows.length : null });
});

app.get('/models', async (_request, response) => response.json(await rowsOf('models', MODELS, [])));

app.get('/routes', async (_request, response) => response.json(await rowsOf('routes', ROUTES, [])));

app.listen(Number(PORT), '127.0.0.1', () => process.send?.('ready'));
process.on('SIGTERM', () => process.exit(0));
