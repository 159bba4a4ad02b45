import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { NIL_UUID, type Decision } from '@aps/entities';
import { chatSeenBy, type OrgScope } from '@aps/guards';
import { statement, type Tx } from '@aps/platform/database';
import type { ToolContext } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import type { DecisionFilter } from './decisions.queries';

/** What is done to many at once. */
export type BulkAction = 'archive' | 'unarchive' | 'review';

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
/** Decisions of an agent in chats that the reader may open. Values: org, user (null = system), agent. */
const OF_AGENT = `decisions d WHERE d.org_id = $1 AND d.agent_id = $3 AND ${chatSeenBy('$2', 'd')}`;
/** What a filter finds, but for the archive: its values are the next four. */
const MATCHES = `($4::text IS NULL OR d.kind = $4) AND ($5::text IS NULL OR d.review_status = $5) AND ($6::boolean IS NULL OR d.deviation = $6) AND ($7::boolean IS NOT TRUE OR d.determination)`;
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
  SELECT (SELECT count(*)::int FROM m) AS matched, (SELECT count(*)::int FROM u) AS updated, ${changedIds} AS changed_ids,
    (SELECT id FROM m ORDER BY id OFFSET ${BULK_BATCH - 1}) AS last_of_full`;
const perAction = <T>(make: (action: BulkAction) => T): Record<BulkAction, T> => ({
  archive: make('archive'),
  unarchive: make('unarchive'),
  review: make('review'),
});
const BULK_BY_IDS = perAction((action) =>
  statement<BulkRow>(bulk(action, 'd.id = ANY($4::uuid[])', 'ARRAY(SELECT id FROM u ORDER BY id)')),
);
// Written out and no value: the live queue has an index of its own.
const byFilter = (action: BulkAction, archived: 'NULL' | 'NOT NULL') =>
  statement<BulkRow>(bulk(action, `d.archived_at IS ${archived} AND ${MATCHES} AND d.id > $8`, 'NULL::uuid[]'));
const BULK_OF_LIVE = perAction((action) => byFilter(action, 'NULL'));
const BULK_OF_ARCHIVE = perAction((action) => byFilter(action, 'NOT NULL'));

/** What an agent says of a decision, and how long its plan keeps it. */
const SAID = [
  'kind',
  'summary',
  'basis',
  'rationale',
  'tool_slug',
  'connection_id',
  'arguments_digest',
  'deviation',
  'determination',
  'confidence',
  'keep_days',
] as const;
// The chat says whose decision it is; the turn that records it holds the chat's row.
const INSERT = statement<Decision>(`
  INSERT INTO decisions AS d (id, org_id, chat_id, agent_id, agent_revision_id, turn_id, tool_call_id, ${SAID.join(', ')})
  SELECT $5, c.org_id, c.id, c.agent_id, c.agent_revision_id, $3, $4, ${SAID.map((_, i) => `$${i + 6}`).join(', ')} FROM chats c WHERE c.org_id = $1 AND c.id = $2
  ON CONFLICT (turn_id, tool_call_id) DO NOTHING RETURNING d.*`);
const OF_CALL = statement<Decision>('SELECT * FROM decisions WHERE org_id = $1 AND turn_id = $2 AND tool_call_id = $3');

/** How many were found and changed. */
type BulkCounts = { matched: number; updated: number };
type BulkChanges = BulkCounts & { changed_ids: string[] };
type BulkRow = BulkChanges & { last_of_full: string | null };

/** Changes of many decisions at once, and what turns write. */
@Injectable()
export class DecisionsRepository {
  async bulkByIds(tx: Tx, scope: OrgScope, agentId: string, action: BulkAction, ids: string[]): Promise<BulkChanges> {
    return (await tx.query(BULK_BY_IDS[action], [scope.orgId, scope.actor.userId, agentId, ids]))[0];
  }

  /** Goes through all that the filter finds, however much it is. */
  async bulkByFilter(tx: Tx, scope: OrgScope, agentId: string, action: BulkAction, filter: DecisionFilter): Promise<BulkCounts> {
    const change = (filter.archived ? BULK_OF_ARCHIVE : BULK_OF_LIVE)[action];
    const { kind, review_status, deviation, determination } = filter;
    const values = [scope.orgId, scope.actor.userId, agentId, kind, review_status, deviation, determination];
    const sum = { matched: 0, updated: 0 };
    // From below every id.
    for (let after: string | null = NIL_UUID; after !== null;) {
      const [row]: BulkRow[] = await tx.query(change, [...values, after]);
      sum.matched += row.matched;
      sum.updated += row.updated;
      after = row.last_of_full;
    }
    return sum;
  }

  /** Writes a decision, or finds the one that this call has written before. @throws DomainError `not_found` when there is no such chat */
  async record(tx: Tx, at: ToolContext, said: Pick<Decision, (typeof SAID)[number]>): Promise<{ decision: Decision; created: boolean }> {
    const place = [at.orgId, at.chatId, at.turnId, at.toolCallId, uuidv7()];
    const [made] = await tx.query(INSERT, [...place, ...SAID.map((column) => said[column])]);
    const [decision] = made ? [made] : await tx.query(OF_CALL, [at.orgId, at.turnId, at.toolCallId]);
    if (!decision) throw notFound('Chat');
    return { decision, created: Boolean(made) };
  }
}
