import { Injectable } from '@nestjs/common';
import { isUuid, notFound, STREAM_ONLY_EVENTS } from '@aps/contracts';
import { EVENTS_COUNTED_EVERY } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import {
  BATCH,
  batchesBehind,
  Database,
  listed,
  mapListed,
  PIECE,
  sliceBounds,
  statement,
  type Listed,
  type Slice,
  type Statement,
} from '@aps/platform/database';
import { VISIBLE_CHAT } from '../state/visible-chats.sql';

const TOPIC = `'chat:' || $4::uuid`;
const STREAM_ONLY = `(${STREAM_ONLY_EVENTS.map((type) => `'${type}'`).join(', ')})`;
/** Each of these events ends a step of a turn, which stands just before it. */
const STEP_ENDS = `('message_completed', 'tool_result')`;
const ofParentAgent = (column: 'id' | 'name') =>
  `(SELECT d.${column} FROM chats p JOIN agents d ON d.id = p.agent_id WHERE p.id = c.parent_chat_id)`;

/*
 * One row is one event of the timeline. Its place is the number in the event log of the event that tells it, and then `part`: 0 the step
 * that the event ended, 1 the event itself.
 *
 * Events come backwards from their index, so a page near the newest end reads no more than itself; messages, steps and receipts are read
 * for the rows of the page.
 */
const timeline = <Row>(total: string, before: string, bounds: string) =>
  statement<Row>(`
  WITH c AS MATERIALIZED (
    SELECT c.id, c.agent_id, a.name AS agent_name, c.origin_kind, c.origin_ref_id, ${ofParentAgent('id')} AS parent_agent_id, ${ofParentAgent('name')} AS parent_agent_name
    FROM chats c JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id WHERE ${VISIBLE_CHAT}
  ), page AS (
    SELECT e.seq AS place, s.part, e.type, e.data, e.created_at FROM events e JOIN (VALUES (1), (0)) s(part) ON s.part = 1 OR e.type IN ${STEP_ENDS}
    WHERE e.topic = ${TOPIC} AND e.type NOT IN ${STREAM_ONLY} AND ${before} AND EXISTS (SELECT 1 FROM c)
    ORDER BY e.seq DESC, s.part DESC ${bounds}
  ), n AS (
    SELECT ${total} AS total FROM c
  )
  SELECT n.total::int, c.agent_id, c.agent_name, c.origin_kind, c.origin_ref_id, c.parent_agent_id, c.parent_agent_name, page.place, page.part, page.type, page.data, page.created_at, m.id AS message_id, m.author_id, m.attachments,
         s.turn_id, s.step_no, s.status, s.started_at, s.tool_name, s.tool_call_id, s.detail->>'finish_reason' AS finish_reason, s.detail->>'provider_finish_reason' AS provider_finish_reason,
         s.detail ? 'restarted' AS restarted, s.detail->>'context_sha256' AS context_sha256,
         r.model_key, r.requested_model, r.first_token_ms, r.duration_ms, r.input_tokens, r.cached_input_tokens, r.cache_write_tokens, r.output_tokens, r.reasoning_tokens,
         r.usd_cost, r.credits
  FROM c CROSS JOIN n LEFT JOIN page ON true
  LEFT JOIN messages m ON m.chat_id = $4 AND m.id = (CASE
    WHEN page.type IN ('message_created', 'message_completed') THEN page.data->'message'->>'id' WHEN page.type = 'tool_result' THEN page.data->>'message_id' END)::uuid
  LEFT JOIN turn_steps s ON page.part = 0 AND s.turn_id = m.turn_id AND s.message_id = m.id
  LEFT JOIN inference_receipts r ON r.turn_id = s.turn_id AND r.step_no = s.step_no AND s.kind = 'model'
  ORDER BY page.place DESC, page.part DESC`);
/** What was counted last, and the events since: fewer than so many, or they had been counted. */
const TOTAL = `(
  WITH counted AS (SELECT k.seq, k.counts FROM event_counts k WHERE k.topic = ${TOPIC} ORDER BY k.seq DESC LIMIT 1)
  SELECT coalesce(sum(CASE WHEN o.type IN ${STEP_ENDS} THEN 2 * o.n ELSE o.n END), 0) FROM (
    SELECT key AS type, value::int AS n FROM counted CROSS JOIN jsonb_each_text(counted.counts)
    UNION ALL
    (SELECT e.type, 1 FROM events e WHERE e.topic = ${TOPIC} AND e.seq > coalesce((SELECT seq FROM counted), 0) ORDER BY e.seq LIMIT ${EVENTS_COUNTED_EVERY})
  ) o WHERE o.type NOT IN ${STREAM_ONLY})`;
const PAGE = timeline<TimelineRow & { total: number }>(TOTAL, 'true', 'LIMIT $5 OFFSET $6');
/** What comes before a place and part: events are only added, at the other end, so nothing is met twice or missed. */
const BEFORE = timeline<TimelineRow & { total: null }>('NULL', 'e.seq <= $6 AND (e.seq < $6 OR s.part < $7)', 'LIMIT $5');

// Authors are columns of ours. What an event's data names is believed only of members: part of it comes from models.
const NAMES = statement<{ id: string; name: string }>(`
  SELECT u.id, u.name FROM users u
  WHERE u.id = ANY($2::uuid[]) OR (u.id = ANY($3::uuid[]) AND EXISTS (SELECT 1 FROM memberships s WHERE s.org_id = $1 AND s.user_id = u.id))`);

/** An event of a timeline with all that is known of it. */
export interface TimelineRow {
  agent_id: string;
  agent_name: string;
  origin_kind: string;
  origin_ref_id: string | null;
  /** Of the chat that has delegated this one; null without. */
  parent_agent_id: string | null;
  parent_agent_name: string | null;
  /** Number in the event log. */
  place: number;
  /** 0: the step that the event ended. */
  part: number;
  /** Of the event, as it is in the event log. */
  type: string;
  data: Record<string, unknown>;
  created_at: Date;
  message_id: string | null;
  author_id: string | null;
  attachments: unknown[] | null;
  turn_id: string | null;
  step_no: number | null;
  status: string | null;
  started_at: Date | null;
  tool_name: string | null;
  tool_call_id: string | null;
  finish_reason: string | null;
  /** The same in its provider's own word. */
  provider_finish_reason: string | null;
  /** Of a model call: a worker had begun it before, and another one asked anew. */
  restarted: boolean | null;
  context_sha256: string | null;
  /** From here on: null without a receipt. */
  model_key: string | null;
  requested_model: string | null;
  first_token_ms: number | null;
  duration_ms: number | null;
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  usd_cost: string | null;
  credits: string;
}

export interface TimelineEntry {
  /** Its place counted from the oldest, which stays. */
  seq: number;
  row: TimelineRow;
  /** Of the users that the row names, and of others. */
  names: ReadonlyMap<string, string>;
}

/** The user who did what an event tells, where its data says so. */
export const answererOf = (data: TimelineRow['data']): string | null => (isUuid(data.answered_by) ? data.answered_by : null);

/** Reads what has happened in chats. */
@Injectable()
export class TimelineQueries {
  constructor(private readonly db: Database) {}

  /**
   * Newest first.
   *
   * @throws DomainError 404 for a chat that is not there, is another agent's, or may not be opened by the caller
   */
  async ofChat(scope: OrgScope, agentId: string, chatId: string, slice: Slice): Promise<Listed<TimelineEntry>> {
    const chat = [scope.orgId, scope.actor.userId, agentId, chatId];
    const part = { ...slice, limit: slice.limit ?? PIECE };
    const { rows, total } = await this.read(PAGE, [...chat, ...sliceBounds(part)]);
    const page = await listed(part, rows, () => total);
    const isWhole = slice.limit === undefined && page.more;
    const list = isWhole ? { ...page, more: false, rest: this.before(chat, page.items[PIECE - 1]) } : page;
    let seq = total - (slice.offset ?? 0);
    return mapListed(list, async (items) => {
      const names = await this.namesIn(scope, items);
      return items.map((row) => ({ seq: seq--, row, names }));
    });
  }

  /** What comes before a row, in batches. */
  private before(chat: unknown[], first: TimelineRow): AsyncGenerator<TimelineRow[]> {
    return batchesBehind(
      first,
      (row) => row,
      async ({ place, part }) => (await this.read(BEFORE, [...chat, BATCH, place, part])).rows,
    );
  }

  private async read<Total>(sql: Statement<TimelineRow & { total: Total }>, values: unknown[]) {
    const found = await this.db.query(sql, values);
    if (found.length === 0) throw notFound('Chat');
    // Where nothing is found, there is one row that has the total alone.
    return { rows: found.filter((row) => row.place !== null), total: found[0].total };
  }

  private async namesIn(scope: OrgScope, rows: TimelineRow[]): Promise<ReadonlyMap<string, string>> {
    const [authors, answerers] = [rows.map((r) => r.author_id), rows.map((r) => answererOf(r.data))].map((ids) => [
      ...new Set(ids.filter((id) => id !== null)),
    ]);
    const names = authors.length + answerers.length ? await this.db.query(NAMES, [scope.orgId, authors, answerers]) : [];
    return new Map(names.map((u) => [u.id, u.name]));
  }
}
