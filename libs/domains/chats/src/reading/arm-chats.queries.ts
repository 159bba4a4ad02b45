import { Injectable } from '@nestjs/common';
import { RolloutChats } from '@aps/agents';
import type { Rollout } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { statement, type Db } from '@aps/platform/database';
import { ArmChats, type AssignedUnits, type ChatDecisions, type CountedChat } from '@aps/rollouts';
import { topicOf } from '../state/chat-state.sql';

/** Chats of an experiment have the label of their arm; those of a deployment have none. */
const OF_ROLLOUT = 'c.org_id = $1 AND c.rollout_id = $2';
/** Who is behind a chat. */
const UNIT = `coalesce(c.originator, c.id::text)`;
/** So many are counted, the newest: more would tell nothing else, and take long to look up. */
const MOST_COUNTED = 20_000;
/** A turn that waits is dispatched anew when its wait is over; then it is as old as its first claim, but for what it had waited in the queue. */
const BEGUN = 'least(t.dispatched_at, t.started_at)';
/** The tool by which a turn waits for a time. */
const TIMER = 'wait_until';

/*
 * A chat counts when it is over: failed, closed or given up, or at rest for so long. One that goes on leaves the count, and comes back. What is
 * deleted stays in it: else who deletes what failed, polishes an arm. What was escalated stays so,
 * however long its decisions are kept: the log of a chat is kept for good.
 */
const COUNTED = statement<CountedChat>(`
  WITH RECURSIVE over AS (
    SELECT c.id, c.arm_label, ${UNIT} AS unit, c.status, c.stop_reason,
           c.deleted_at IS NOT NULL AND (c.stop_reason = 'deleted'
             OR (c.status NOT IN ('ERRORED', 'ARCHIVED', 'ABANDONED') AND c.last_message_at > c.deleted_at - make_interval(mins => $3::int))) AS cut_off
    FROM chats c
    WHERE ${OF_ROLLOUT} AND c.source_chat_id IS NULL AND EXISTS (SELECT 1 FROM messages m WHERE m.chat_id = c.id AND m.role = 'user')
      AND (c.deleted_at IS NOT NULL OR c.status IN ('ERRORED', 'ARCHIVED', 'ABANDONED')
        OR (c.current_turn_id IS NULL AND c.pending_turns = 0 AND c.last_message_at <= now() - make_interval(mins => $3::int)
          AND NOT EXISTS (SELECT 1 FROM hitl_requests h WHERE h.chat_id = c.id AND h.status = 'pending')
          AND NOT EXISTS (SELECT 1 FROM child_waits w WHERE w.parent_chat_id = c.id AND w.status = 'open')))
    ORDER BY c.id DESC LIMIT ${MOST_COUNTED}
  ), ran AS (
    SELECT t.id, t.chat_id, ${BEGUN} AS begun_at, coalesce(t.finished_at, now()) AS ended_at FROM over o JOIN turns t ON t.chat_id = o.id WHERE t.started_at IS NOT NULL
  ), tree AS (
    SELECT id AS top, id FROM over UNION ALL SELECT t.top, c.id FROM tree t JOIN chats c ON c.parent_chat_id = t.id
  ), spent AS (
    SELECT t.top, CASE WHEN bool_or(r.usd_cost IS NULL) THEN NULL ELSE sum(r.usd_cost) END AS usd, CASE WHEN bool_or(r.unpriced) THEN NULL ELSE sum(r.credits) END AS credits,
           sum(r.input_tokens::bigint + r.cached_input_tokens + r.cache_write_tokens + r.output_tokens + r.reasoning_tokens) AS tokens
    FROM tree t JOIN inference_receipts r ON r.chat_id = t.id GROUP BY t.top
  ), waits AS (
    SELECT t.chat_id, tstzrange(t.begun_at, t.ended_at) * tstzrange(h.created_at, greatest(h.created_at, CASE WHEN h.status = 'pending' THEN now() ELSE coalesce(h.answered_at, h.updated_at) END)) AS span
    FROM ran t JOIN hitl_requests h ON h.chat_id = t.chat_id AND h.turn_id = t.id
    UNION ALL
    SELECT t.chat_id, tstzrange(t.begun_at, t.ended_at) * tstzrange(s.started_at, greatest(s.started_at, coalesce(s.finished_at, t.ended_at)))
    FROM ran t JOIN turn_steps s ON s.turn_id = t.id AND s.tool_name = '${TIMER}'
  ), waited AS (
    SELECT w.chat_id, sum(extract(epoch FROM upper(span) - lower(span)))::float8 AS seconds
    FROM (SELECT chat_id, range_agg(span) AS spans FROM waits GROUP BY chat_id) w CROSS JOIN LATERAL unnest(w.spans) AS span GROUP BY w.chat_id
  ), worked AS (
    SELECT t.chat_id, count(*)::int AS turns, sum(extract(epoch FROM t.ended_at - t.begun_at))::float8 AS seconds,
           sum((SELECT count(*) FROM turn_steps s WHERE s.turn_id = t.id AND s.kind = 'tool'))::int AS tool_calls
    FROM ran t GROUP BY t.chat_id
  )
  SELECT o.arm_label, o.unit,
    CASE WHEN o.status = 'ERRORED' OR (o.status = 'ARCHIVED' AND o.stop_reason IN ('credits_exhausted', 'model_unpriced')) THEN 'errored'
      WHEN o.status = 'ABANDONED' THEN 'abandoned'
      WHEN (o.status = 'ARCHIVED' AND o.stop_reason = 'terminated') OR o.cut_off THEN 'terminated'
      WHEN EXISTS (SELECT 1 FROM events e WHERE e.topic = ${topicOf('o.id')} AND e.type = 'decision_recorded' AND e.data->>'kind' = 'escalate') THEN 'escalated'
      ELSE 'completed' END AS outcome,
    CASE WHEN s.top IS NULL THEN 0 ELSE s.usd END AS cost_usd, CASE WHEN s.top IS NULL THEN 0 ELSE s.credits END AS cost_credits, coalesce(s.tokens, 0)::float8 AS tokens,
    coalesce(w.turns, 0) AS turns, coalesce(w.tool_calls, 0) AS tool_calls,
    EXISTS (SELECT 1 FROM hitl_requests h WHERE h.chat_id = o.id) AS asked,
    coalesce(w.seconds, 0) - coalesce(x.seconds, 0) AS seconds
  FROM over o LEFT JOIN spent s ON s.top = o.id LEFT JOIN worked w ON w.chat_id = o.id LEFT JOIN waited x ON x.chat_id = o.id
  ORDER BY o.id`);

const ORIGINATORS = statement<AssignedUnits>(
  `SELECT c.arm_label, count(DISTINCT ${UNIT})::int AS units FROM chats c WHERE ${OF_ROLLOUT} GROUP BY c.arm_label`,
);

const DECISIONS = statement<ChatDecisions>(`
  SELECT c.id AS chat_id, c.arm_label, ${UNIT} AS unit, count(*)::int AS recorded, count(*) FILTER (WHERE d.review_status <> 'unreviewed')::int AS reviewed,
         count(*) FILTER (WHERE d.review_status = 'disputed')::int AS disputed
  FROM (SELECT * FROM chats c WHERE ${OF_ROLLOUT} AND c.source_chat_id IS NULL ORDER BY c.id DESC LIMIT ${MOST_COUNTED}) c
  JOIN decisions d ON d.chat_id = c.id GROUP BY c.id, c.arm_label, c.originator ORDER BY c.id`);

/** What has come of the chats of a rollout. */
@Injectable()
export class ChatsOfArms extends ArmChats {
  constructor(private readonly rollouts: RolloutChats) {
    super();
  }

  counted(db: Db, { orgId }: OrgScope, { id }: Rollout, idleMinutes: number): Promise<CountedChat[]> {
    return db.query(COUNTED, [orgId, id, idleMinutes]);
  }

  async assigned(db: Db, scope: OrgScope, { id, unit }: Rollout): Promise<AssignedUnits[]> {
    if (unit === 'originator') return db.query(ORIGINATORS, [scope.orgId, id]);
    return (await this.rollouts.count(db, scope, [id])).map(({ arm_label, chats: units }) => ({ arm_label, units }));
  }

  decisions(db: Db, { orgId }: OrgScope, { id }: Rollout): Promise<ChatDecisions[]> {
    return db.query(DECISIONS, [orgId, id]);
  }
}
