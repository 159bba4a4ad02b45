import { Injectable } from '@nestjs/common';
import type { DecisionKind } from '@aps/entities';
import { chatSeenBy, type OrgScope } from '@aps/guards';
import { sliceBounds, statement, type Db, type Listed, type Slice, type Statement, type Tx } from '@aps/platform/database';
import type { BulkAction, DecisionFilter, DecisionGroup, DecisionPlace, DecisionRow, Review } from './decisions.types';

const COLUMNS = `d.id, d.chat_id, d.agent_id, d.agent_revision_id, d.turn_id, d.tool_call_id, d.tool_slug, d.connection_id, d.arguments_digest, d.kind, d.summary, d.basis,
  d.rationale, d.deviation, d.determination, d.confidence, d.review_status, d.review_note, d.should_have, d.reviewed_by, d.reviewed_at, d.archived_at, d.created_at`;

/** Decisions of an agent in chats that the reader may open. Values: org, user (null = system), agent. */
const OF_AGENT = `decisions d JOIN chats c ON c.id = d.chat_id AND c.org_id = d.org_id WHERE d.org_id = $1 AND d.agent_id = $3 AND ${chatSeenBy('$2')}`;
// Written out and no value: the live queue has an index of its own.
const archivedIs = (archived: boolean) => (archived ? 'd.archived_at IS NOT NULL' : 'd.archived_at IS NULL');
/** Values $4 to $7 of a filter. */
const MATCHES = `($4::text IS NULL OR d.kind = $4) AND ($5::text IS NULL OR d.review_status = $5) AND ($6::boolean IS NULL OR d.deviation = $6) AND ($7::boolean IS NOT TRUE OR d.determination)`;

/** One text for the live queue and one for the archive. */
interface Both<Row> {
  live: Statement<Row>;
  archive: Statement<Row>;
}
const forBoth = <Row>(text: (archived: boolean) => string): Both<Row> => ({ live: statement(text(false)), archive: statement(text(true)) });
const of = <Row>(both: Both<Row>, filter: DecisionFilter) => (filter.archived ? both.archive : both.live);

const found = (archived: boolean) => `${OF_AGENT} AND ${archivedIs(archived)} AND ${MATCHES}`;
// The count stands beside the page and not in a window over it: the page then reads its own rows and no others.
const LIST = forBoth<Counted<DecisionRow>>(
  (archived) =>
    `SELECT ${COLUMNS}, (SELECT count(*)::int FROM ${found(archived)}) AS total FROM ${found(archived)} ORDER BY d.id DESC LIMIT $8 OFFSET $9`,
);
const TOTAL = forBoth<{ total: number }>((archived) => `SELECT count(*)::int AS total FROM ${found(archived)}`);
const GROUPS = forBoth<Counted<DecisionGroup>>(
  (archived) => `
  SELECT d.basis, count(*)::int AS count, count(*) FILTER (WHERE d.review_status = 'unreviewed')::int AS unreviewed, count(*) FILTER (WHERE d.review_status = 'disputed')::int AS disputed,
    max(d.created_at) AS latest_at, (array_agg(d.id ORDER BY d.id DESC))[1:3] AS sample_decision_ids, (count(*) OVER ())::int AS total
  FROM ${found(archived)} GROUP BY d.basis ORDER BY count DESC, latest_at DESC, d.basis LIMIT $8 OFFSET $9`,
);
const GROUP_TOTAL = forBoth<{ total: number }>((archived) => `SELECT count(DISTINCT d.basis)::int AS total FROM ${found(archived)}`);

const CHAT_SEEN = statement(`SELECT 1 FROM chats c WHERE c.org_id = $1 AND c.id = $3 AND ${chatSeenBy('$2')}`);
const OF_CHAT = `decisions d WHERE d.org_id = $1 AND d.chat_id = $2`;
const LIST_OF_CHAT = statement<Counted<DecisionRow>>(
  `SELECT ${COLUMNS}, (SELECT count(*)::int FROM ${OF_CHAT}) AS total FROM ${OF_CHAT} ORDER BY d.id LIMIT $3 OFFSET $4`,
);
const TOTAL_OF_CHAT = statement<{ total: number }>(`SELECT count(*)::int AS total FROM ${OF_CHAT}`);
const LOCK = statement<DecisionRow>(`
  SELECT ${COLUMNS} FROM decisions d JOIN chats c ON c.id = d.chat_id AND c.org_id = d.org_id
  WHERE d.org_id = $1 AND d.chat_id = $3 AND d.id = $4 AND ${chatSeenBy('$2')} FOR NO KEY UPDATE OF d`);
const REVIEW = statement<DecisionRow>(`
  UPDATE decisions d SET review_status = $3, review_note = $4, should_have = $5, reviewed_by = $6, reviewed_at = now(), updated_at = now()
  WHERE d.org_id = $1 AND d.id = $2 RETURNING ${COLUMNS}`);

/** What an action writes, and into which rows of those that were selected. */
const ACTIONS: Record<BulkAction, { set: string; where: string }> = {
  archive: { set: 'archived_at = now()', where: 'd.archived_at IS NULL' },
  unarchive: { set: 'archived_at = NULL', where: 'd.archived_at IS NOT NULL' },
  review: {
    set: `review_status = 'agreed', reviewed_by = $2, reviewed_at = now()`,
    where: `d.review_status = 'unreviewed' AND d.archived_at IS NULL`,
  },
};
/** Most decisions that one statement changes. It costs about 0.1 ms for each, and a statement has a few seconds. */
const BULK_BATCH = 5_000;
/**
 * Locks what is selected, in one order for everybody, as it is when the lock is there; then changes what the action may change. So two
 * calls never count the same change, and none waits for the other in a circle.
 */
const bulk = (action: BulkAction, selected: string, changedIds: string) => `
  WITH m AS MATERIALIZED (
    SELECT d.id FROM ${OF_AGENT} AND ${selected} ORDER BY d.id LIMIT ${BULK_BATCH} FOR NO KEY UPDATE OF d
  ), u AS (
    UPDATE decisions d SET ${ACTIONS[action].set}, updated_at = now() FROM m WHERE d.id = m.id AND ${ACTIONS[action].where} RETURNING d.id
  )
  SELECT (SELECT count(*)::int FROM m) AS matched, (SELECT count(*)::int FROM u) AS updated, ${changedIds} AS changed_ids, (SELECT id FROM m ORDER BY id DESC LIMIT 1) AS last_id`;
const perAction = <T>(make: (action: BulkAction) => T): Record<BulkAction, T> => ({
  archive: make('archive'),
  unarchive: make('unarchive'),
  review: make('review'),
});
const BULK_BY_IDS = perAction((action) =>
  statement<BulkRow>(bulk(action, 'd.id = ANY($4::uuid[])', 'ARRAY(SELECT id FROM u ORDER BY id)')),
);
const BULK_BY_FILTER = perAction((action) =>
  forBoth<BulkRow>((archived) => bulk(action, `${archivedIs(archived)} AND ${MATCHES} AND d.id > $8`, 'NULL::uuid[]')),
);

// The chat says whose decision it is; the turn that records it holds the chat's row.
const INSERT = statement<DecisionRow>(`
  INSERT INTO decisions AS d (id, org_id, chat_id, agent_id, agent_revision_id, turn_id, tool_call_id, tool_slug, arguments_digest, kind, summary, basis, rationale, deviation, determination, confidence)
  SELECT $4, c.org_id, c.id, c.agent_id, c.agent_revision_id, $3, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 FROM chats c WHERE c.org_id = $1 AND c.id = $2
  ON CONFLICT (turn_id, tool_call_id) DO NOTHING RETURNING ${COLUMNS}`);
const OF_CALL = statement<DecisionRow>(`SELECT ${COLUMNS} FROM decisions d WHERE d.org_id = $1 AND d.turn_id = $2 AND d.tool_call_id = $3`);
// By the database's time: workers that had the turn one after another need not agree about theirs.
const NEWEST_KIND = statement<{ kind: DecisionKind }>(
  'SELECT kind FROM decisions WHERE turn_id = $1 AND tool_slug = ANY($2) ORDER BY created_at DESC, id DESC LIMIT 1',
);

// From one organization to the next by the index, however many rows each has.
const ORGANIZATIONS = statement<{ org_id: string }>(`
  WITH RECURSIVE o AS (
    (SELECT org_id FROM decisions ORDER BY org_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.org_id FROM decisions d WHERE d.org_id > o.org_id ORDER BY d.org_id LIMIT 1) FROM o WHERE o.org_id IS NOT NULL
  ) SELECT org_id FROM o WHERE org_id IS NOT NULL`);
const PURGE = statement(`
  DELETE FROM decisions WHERE id IN (
    SELECT x.id FROM unnest($1::uuid[], $2::int[]) AS r(org_id, days), LATERAL (
      SELECT d.id FROM decisions d
      WHERE d.org_id = r.org_id AND d.created_at < now() - make_interval(days => r.days)
        AND (d.review_status <> 'disputed' OR d.archived_at IS NOT NULL OR d.created_at < now() - make_interval(days => r.days + $4::int))
      ORDER BY d.created_at LIMIT $3 FOR UPDATE SKIP LOCKED
    ) x LIMIT $3
  )`);

type Counted<T> = T & { total: number };
type BulkCounts = { matched: number; updated: number };
type BulkRow = BulkCounts & { changed_ids: string[]; last_id: string | null };
/** Below every id. */
const NIL = '00000000-0000-0000-0000-000000000000';

/** The only file that names the table of decisions. Of chats it reads who may open them. */
@Injectable()
export class DecisionsRepository {
  /** Newest first. */
  list(db: Db, scope: OrgScope, agentId: string, filter: DecisionFilter, page: Slice): Promise<Listed<DecisionRow>> {
    return paged(db, of(LIST, filter), of(TOTAL, filter), filterValues(scope, agentId, filter), page);
  }

  /** Largest first, then the one that was met latest. */
  groups(db: Db, scope: OrgScope, agentId: string, filter: DecisionFilter, page: Slice): Promise<Listed<DecisionGroup>> {
    return paged(db, of(GROUPS, filter), of(GROUP_TOTAL, filter), filterValues(scope, agentId, filter), page);
  }

  async isChatSeen(db: Db, scope: OrgScope, chatId: string): Promise<boolean> {
    return (await db.query(CHAT_SEEN, [scope.orgId, scope.actor.userId, chatId])).length > 0;
  }

  /** Oldest first, archived ones included. Whether the chat may be seen was asked before. */
  ofChat(db: Db, scope: OrgScope, chatId: string, page: Slice): Promise<Listed<DecisionRow>> {
    return paged(db, LIST_OF_CHAT, TOTAL_OF_CHAT, [scope.orgId, chatId], page);
  }

  /** Locks a decision of a chat that the caller may open; null when there is none. */
  async lock(tx: Tx, scope: OrgScope, chatId: string, id: string): Promise<DecisionRow | null> {
    const [row] = await tx.query(LOCK, [scope.orgId, scope.actor.userId, chatId, id]);
    return row ?? null;
  }

  /** Writes a review into a locked decision. */
  async review(tx: Tx, scope: OrgScope, id: string, review: Required<Review>): Promise<DecisionRow> {
    const [row] = await tx.query(REVIEW, [
      scope.orgId,
      id,
      review.review_status,
      review.review_note,
      review.should_have,
      scope.actor.userId,
    ]);
    return row;
  }

  /** @returns how many were found and changed, and which were changed */
  async bulkByIds(
    tx: Tx,
    scope: OrgScope,
    agentId: string,
    action: BulkAction,
    ids: string[],
  ): Promise<BulkCounts & { changed_ids: string[] }> {
    const [row] = await tx.query(BULK_BY_IDS[action], [scope.orgId, scope.actor.userId, agentId, ids]);
    return row;
  }

  /** Goes through all that the filter finds, however much it is. @returns how many were found and changed */
  async bulkByFilter(tx: Tx, scope: OrgScope, agentId: string, action: BulkAction, filter: DecisionFilter): Promise<BulkCounts> {
    const sum: BulkCounts = { matched: 0, updated: 0 };
    for (let after = NIL; ;) {
      const [row] = await tx.query(of(BULK_BY_FILTER[action], filter), [...filterValues(scope, agentId, filter), after]);
      sum.matched += row.matched;
      sum.updated += row.updated;
      if (row.matched < BULK_BATCH || row.last_id === null) return sum;
      after = row.last_id;
    }
  }

  /** Writes a decision, or finds the one that this call has written before. Null when there is no such chat. */
  async record(
    tx: Tx,
    place: DecisionPlace,
    d: Pick<
      DecisionRow,
      'id' | 'tool_slug' | 'arguments_digest' | 'kind' | 'summary' | 'basis' | 'rationale' | 'deviation' | 'determination'
    > & { confidence: number | null },
  ): Promise<DecisionRow | null> {
    const values = [
      place.orgId,
      place.chatId,
      place.turnId,
      d.id,
      place.toolCallId,
      d.tool_slug,
      d.arguments_digest,
      d.kind,
      d.summary,
      d.basis,
      d.rationale,
      d.deviation,
      d.determination,
      d.confidence,
    ];
    const [row] = await tx.query(INSERT, values);
    return row ?? (await tx.query(OF_CALL, [place.orgId, place.turnId, place.toolCallId]))[0] ?? null;
  }

  /** What was decided last, in this turn, on a tool that goes by these names; null when nothing was. */
  async newestKind(db: Db, turnId: string, toolNames: string[]): Promise<DecisionKind | null> {
    const [row] = await db.query(NEWEST_KIND, [turnId, toolNames]);
    return row?.kind ?? null;
  }

  /** Every organization that has decisions. */
  async organizations(db: Db): Promise<string[]> {
    return (await db.query(ORGANIZATIONS)).map((r) => r.org_id);
  }

  /** Removes what is older than its organization keeps, open disputes `disputeDays` later. @returns how many, at most `batch` */
  purge(db: Db, rules: { orgId: string; days: number }[], disputeDays: number, batch: number): Promise<number> {
    return db.execute(PURGE, [rules.map((r) => r.orgId), rules.map((r) => r.days), batch, disputeDays]);
  }
}

const filterValues = (scope: OrgScope, agentId: string, f: DecisionFilter): unknown[] => [
  scope.orgId,
  scope.actor.userId,
  agentId,
  f.kind ?? null,
  f.review_status ?? null,
  f.deviation ?? null,
  f.determination ?? null,
];

async function paged<T extends object>(
  db: Db,
  list: Statement<Counted<T>>,
  count: Statement<{ total: number }>,
  values: unknown[],
  page: Slice,
): Promise<Listed<T>> {
  const [limit, offset] = sliceBounds(page);
  const rows = await db.query(list, [...values, limit, offset]);
  // A page past the end has no row that could carry the total.
  const total = rows[0]?.total ?? (offset > 0 ? (await db.query(count, values))[0].total : 0);
  return { items: rows, total };
}
