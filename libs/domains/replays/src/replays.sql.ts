import { messagesRead, type CallingTurn, type TranscriptRow } from '@aps/chats';
import { listTally, type Decision, type Replay, type ReplayItem } from '@aps/entities';
import { chatSeenBy, HELD_WITH_ORG, seenByEither } from '@aps/guards';
import type { Usage } from '@aps/inference';
import { heavy, OrgListing, statement } from '@aps/platform/database';
import { claimStatement, runOver, runStatements, type RunTable } from '@aps/platform/runs';

const TABLE = 'replays';
const RUN_TABLE = {
  kind: 'replay',
  table: TABLE,
  payload: { org_id: 'org_id', replay_id: 'id' },
  ...HELD_WITH_ORG,
} satisfies RunTable<'replay.run'>;
export const RUNS = runStatements<'replay.run'>(RUN_TABLE);
export const CLAIM = claimStatement(RUN_TABLE, {
  columns: 'r.agent_id, r.kind',
  answer: 'v.agent_id, v.kind',
});

export const LOAD = statement<Replay>(`SELECT * FROM ${TABLE} WHERE id = $1`);
export const NEXT_ITEM = statement<ReplayItem>('SELECT * FROM replay_items WHERE replay_id = $1 AND result IS NULL ORDER BY place LIMIT 1');
export const ADD_ITEMS = statement(`
  INSERT INTO replay_items (replay_id, place, org_id, chat_id, decision)
  SELECT $1, x.place, $2, x.chat_id, x.decision FROM jsonb_to_recordset($3::jsonb) AS x(place int, chat_id uuid, decision jsonb)`);
export const NOTE_PROGRESS = statement(
  `UPDATE replay_items SET progress = coalesce(progress, '[]') || $3::jsonb, cost = cost + $4, tokens = tokens + $5 WHERE replay_id = $1 AND place = $2`,
);
export const NOTE_RESULT = statement(`
  UPDATE replay_items SET progress = NULL, (result, verdict, differences, misses, cost_before, tokens_before) = (
    SELECT x.* FROM jsonb_to_record($3::jsonb) AS x(result jsonb, verdict text, differences text[], misses int, cost_before numeric, tokens_before bigint)
  ) WHERE replay_id = $1 AND place = $2`);
/** What a replay may spend, and has. */
export const MAY_SPEND = statement<Pick<Replay, 'spent' | 'budget'>>(`SELECT spent, budget FROM ${TABLE} WHERE id = $1`);
export const SPENT = statement(`UPDATE ${TABLE} SET spent = spent + $2 WHERE id = $1`);
export const FORGET_PROGRESS = statement('UPDATE replay_items SET progress = NULL WHERE replay_id = $1 AND progress IS NOT NULL');
/** Ends a replay that its owner cannot go on with or, without a fence, that nobody has any more. */
export const FAILED = statement<{ id: string }>(`
  UPDATE ${TABLE} SET ${runOver(`'failed'`, 'now()')}, error = $2
  WHERE id = $1 AND finished_at IS NULL AND CASE WHEN $3::bigint IS NULL THEN coalesce(lease_expires_at, '-infinity') <= now() ELSE fence = $3 AND status = 'running' END RETURNING id`);
export const UNFINISHED = statement<{ n: number }>(`SELECT count(*)::int AS n FROM ${TABLE} WHERE org_id = $1 AND finished_at IS NULL`);
export type LockedReplay = Pick<Replay, 'status' | 'created_by'>;
export const LOCK = statement<LockedReplay>(
  `SELECT status, created_by FROM ${TABLE} WHERE org_id = $1 AND agent_id = $2 AND kind = $3 AND id = $4 FOR NO KEY UPDATE`,
);

/** Removes replays that are older than so many days, with their items. */
export const PURGE = statement(`
  WITH old AS MATERIALIZED (
    SELECT id FROM ${TABLE} WHERE created_at < now() - make_interval(days => $1::int) AND finished_at IS NOT NULL ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
  ), items AS (DELETE FROM replay_items i USING old WHERE i.replay_id = old.id)
  DELETE FROM ${TABLE} r USING old WHERE r.id = old.id`);

/** What of a chat says how its turns ask. */
export type ReplayedChat = Pick<
  CallingTurn['claim'],
  'org_id' | 'chat_id' | 'agent_id' | 'enabled_scopes' | 'max_steps' | 'origin' | 'chat_mode'
>;
// Who began the replay may have left, or lost the chat, since.
export const CHAT = statement<ReplayedChat>(`
  SELECT c.id AS chat_id, c.org_id, c.agent_id, c.enabled_scopes, c.max_steps, json_build_object('kind', c.origin_kind, 'ref_id', c.origin_ref_id) AS origin, c.model_mode_override AS chat_mode
  FROM chats c JOIN agents a ON a.id = c.agent_id
  WHERE c.org_id = $1 AND c.id = $2 AND ${chatSeenBy('$3')} AND a.deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.user_id = $3 AND u.deactivated_at IS NULL)`);

/** A message, with the turn that it is of, and how that chose a model. */
export type ReplayedRow = TranscriptRow & { turn_no: number; seq: number; of_turn: string | null } & Pick<
    CallingTurn['claim'],
    'model' | 'model_mode_override' | 'reasoning_effort'
  >;
/** The summary that a turn of the chat began with; of a whole chat none. */
const SUMMARY_THEN = `SELECT k.summary, k.through_turn_no, k.through_seq FROM turns t JOIN chat_compactions k ON k.chat_id = t.chat_id JOIN turns b ON b.id = k.turn_id
  WHERE t.id = $2 AND t.chat_id = $1 AND b.seq <= t.seq AND k.through_turn_no < t.seq ORDER BY k.through_turn_no DESC, k.through_seq DESC LIMIT 1`;
const LAST_TURN = `CASE WHEN $2::uuid IS NULL THEN 2147483647 ELSE (SELECT x.seq FROM turns x WHERE x.id = $2 AND x.chat_id = $1) END`;
/** The messages of a chat, or those up to the end of a turn of it as that read them: no more than a turn reads. */
export const ROWS = statement<ReplayedRow>(`
  SELECT m.*, t.id AS of_turn, t.model, t.model_mode_override, t.reasoning_effort FROM (${messagesRead(SUMMARY_THEN, LAST_TURN)}) m
  LEFT JOIN turns t ON t.chat_id = $1 AND t.seq = m.turn_no ORDER BY m.turn_no, m.seq`);

const SUMMED = `coalesce(sum(r.input_tokens), 0)::float8 AS input, coalesce(sum(r.cached_input_tokens), 0)::float8 AS cached_input, coalesce(sum(r.cache_write_tokens), 0)::float8 AS cache_write,
  coalesce(sum(r.output_tokens), 0)::float8 AS output, coalesce(sum(r.reasoning_tokens), 0)::float8 AS reasoning`;
export interface Spent extends Usage {
  calls: number;
  usd: string | null;
  credits: string | null;
}
/** What answers took: those of chats, or of these turns of theirs alone. */
export const TOOK = statement<Spent>(`
  SELECT count(*)::int AS calls, ${SUMMED}, CASE WHEN bool_or(r.usd_cost IS NULL) THEN NULL ELSE coalesce(sum(r.usd_cost), 0)::text END AS usd,
    CASE WHEN bool_or(r.unpriced) THEN NULL ELSE coalesce(sum(r.credits), 0)::text END AS credits
  FROM inference_receipts r WHERE r.org_id = $1 AND r.feature = 'turn' AND r.chat_id = ANY ($2::uuid[]) AND ($3::uuid[] IS NULL OR r.turn_id = ANY ($3))`);

const TO_REPLAY = `c.org_id = $1 AND c.agent_id = $2 AND ${chatSeenBy('$3')}`;
const HAS_WORDS = `EXISTS (SELECT 1 FROM messages m WHERE m.chat_id = c.id AND m.role = 'user')`;
/** Those of these chats that the caller may open. */
export const CHATS = statement<{ id: string; has_words: boolean }>(
  `SELECT c.id, ${HAS_WORDS} AS has_words FROM chats c WHERE ${TO_REPLAY} AND c.id = ANY ($4::uuid[]) ORDER BY c.id`,
);
/** Some of the newest 5,000. Values: organization, agent, reader, hours, how many, what chance goes by. */
export const SAMPLE = statement<{ id: string }>(`
  SELECT n.id FROM (
    SELECT c.id FROM chats c WHERE ${TO_REPLAY} AND c.source_chat_id IS NULL AND ($4::int IS NULL OR c.last_message_at > now() - make_interval(hours => $4)) AND ${HAS_WORDS}
    ORDER BY c.id DESC LIMIT 5000
  ) n ORDER BY md5(n.id::text || $6), n.id LIMIT $5`);

export type FoundDecision = Pick<
  Decision,
  'id' | 'chat_id' | 'turn_id' | 'tool_call_id' | 'kind' | 'basis' | 'summary' | 'should_have' | 'should_have_kind' | 'review_status'
>;
const FOUND = `SELECT d.id, d.chat_id, d.turn_id, d.tool_call_id, d.kind, d.basis, d.summary, d.should_have, d.should_have_kind, d.review_status
  FROM decisions d WHERE d.org_id = $1 AND d.agent_id = $2`;
/** Of each reader so many: they lie together. The archived ones, too: archiving tidies the queue. */
const newest = (held: string): string => {
  const those = seenByEither('$3', 'd').map(
    (seen) => `(SELECT d.id FROM decisions d WHERE d.agent_id = $2 AND ${seen} AND ${held} ORDER BY d.id DESC LIMIT $4)`,
  );
  return `${FOUND} AND d.id = ANY (ARRAY(${those.join(' UNION ALL ')})) ORDER BY d.id DESC LIMIT $4`;
};
/** The newest first. Values: organization, agent, reader, how many. */
export const DISPUTED = statement<FoundDecision>(newest(`d.review_status = 'disputed' AND d.should_have IS NOT NULL`));
export const AGREED = statement<FoundDecision>(newest(`d.review_status = 'agreed'`));
/** Those of these that the caller may see, however they were reviewed. */
export const BY_IDS = statement<FoundDecision>(`${FOUND} AND ${chatSeenBy('$3', 'd')} AND d.id = ANY ($4::uuid[]) ORDER BY d.id DESC`);

const SHOWN = [
  ...(['id', 'org_id', 'revision_id', 'status', 'error', 'estimate', 'billing_unit'] as const),
  ...(['budget', 'spent', 'created_by', 'created_at', 'finished_at'] as const),
] as const satisfies (keyof Replay)[];
/** A simulation without what it plays on. */
export type ShownReplay = Pick<Replay, (typeof SHOWN)[number]>;
export const SIMULATIONS = new OrgListing<ShownReplay, Pick<Replay, 'agent_id' | 'kind'>>({
  key: 'r.id',
  org: 'r.org_id',
  select: SHOWN.map((column) => `r.${column}`).join(', '),
  from: `${TABLE} r`,
  where: { agent_id: 'r.agent_id = $', kind: 'r.kind = $' },
  tally: { from: listTally(TABLE), where: { agent_id: 't.of_id = $', kind: 't.facet = $' } },
  order: 'r.id DESC',
  what: 'Simulation',
});

/** Of a replay its reader sees, and counts, what is of chats that they may open. */
const seenItems = (replay = '$2'): string =>
  `FROM replay_items i JOIN chats c ON c.id = i.chat_id WHERE i.org_id = $1 AND i.replay_id = ${replay} AND ${chatSeenBy('$3')}`;
export type DoneItem = Omit<ReplayItem, 'progress'>;
/** In their order, from a place on. */
export const ITEMS = statement<DoneItem>(`
  SELECT i.replay_id, i.place, i.org_id, i.chat_id, i.decision, i.result, i.verdict, i.differences, i.misses, i.cost_before, i.tokens_before, i.cost, i.tokens
  ${seenItems()} AND i.place > $4 ORDER BY i.place LIMIT $5`);

/** Of the first so many that its reader sees. */
export const ITEMS_HEAVY = statement<{ heavy: boolean }>(
  heavy('x', `(SELECT i.decision, i.result ${seenItems()} ORDER BY i.place LIMIT $4) x`),
);

const sumOrNone = (cost: string, of = 'true') =>
  `CASE WHEN bool_or(${cost} IS NULL) FILTER (WHERE ${of}) THEN NULL ELSE trim_scale(coalesce(sum(${cost}) FILTER (WHERE ${of}), 0))::text END`;
const PLAYED = 'i.differences IS NOT NULL';
export interface SimulationTotals {
  replay_id: string;
  chats: number;
  same_tools: number;
  same_decisions: number;
  cost_before: string | null;
  cost_after: string | null;
  tokens_before: number;
  tokens_after: number;
  tool_call_misses: number;
}
const without = (difference: string) => `count(*) FILTER (WHERE NOT '${difference}' = ANY (i.differences))::int`;
/** What is compared is of the same chats: those that could be played. */
export const TOTALS = statement<SimulationTotals>(`
  SELECT i.replay_id, count(*)::int AS chats, ${without('tools')} AS same_tools, ${without('decisions')} AS same_decisions,
    ${sumOrNone('i.cost_before', PLAYED)} AS cost_before, ${sumOrNone('i.cost', PLAYED)} AS cost_after,
    coalesce(sum(i.tokens_before), 0)::float8 AS tokens_before, coalesce(sum(i.tokens) FILTER (WHERE ${PLAYED}), 0)::float8 AS tokens_after,
    coalesce(sum(i.misses), 0)::int AS tool_call_misses
  ${seenItems('ANY ($2::uuid[])')} GROUP BY i.replay_id`);

export interface CheckTotals {
  cases: number;
  fixed: number;
  still_wrong: number;
  guard_broken: number;
  unjudged: number;
  cost: string | null;
}
const told = (verdicts: string, set?: string) =>
  `count(*) FILTER (WHERE i.verdict IN (${verdicts})${set ? ` AND i.decision->>'set' = '${set}'` : ''})::int`;
export const CHECK_TOTALS = statement<CheckTotals>(`
  SELECT count(*)::int AS cases, ${told(`'agrees'`, 'regression')} AS fixed, ${told(`'differs', 'no_decision'`, 'regression')} AS still_wrong,
    ${told(`'differs', 'no_decision'`, 'guard')} AS guard_broken, ${told(`'unjudged', 'error'`)} AS unjudged, ${sumOrNone('i.cost')} AS cost
  ${seenItems()}`);
