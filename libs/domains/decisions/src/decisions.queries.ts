import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { DomainError, notFound, refuseValue } from '@aps/contracts';
import { Decision, listTally, NIL_UUID, type DecisionKind, type ReviewStatus } from '@aps/entities';
import { chatSeenBy, readerOf, seenByEither, type OrgScope } from '@aps/guards';
import {
  Database,
  listed,
  listedInBatches,
  OrgListing,
  OrgTable,
  sliceBounds,
  statement,
  type Db,
  type Listed,
  type Slice,
} from '@aps/platform/database';

/** Which decisions of an agent; what is left out does not matter. */
export interface DecisionFilter {
  kind?: DecisionKind;
  review_status?: ReviewStatus;
  deviation?: boolean;
  /** True: determinations alone. False is no filter. */
  determination?: boolean;
  /** The archive, or the live queue; never both. */
  archived?: boolean;
}

/** Decisions that cite the same basis, word for word. */
export interface DecisionGroup {
  basis: string;
  count: number;
  unreviewed: number;
  disputed: number;
  latest_at: Date;
  /** The newest, at most three. */
  sample_decision_ids: string[];
}

type Values = Omit<DecisionFilter, 'deviation'> & {
  seen_by?: string;
  seen?: boolean;
  agent_id?: string;
  chat_id?: string;
  live?: boolean;
  deviation?: true;
  conformity?: true;
};

/** As {@link readerOf} says who reads. */
const SEEN = new OrgListing<Decision, Values>({
  key: 'd.id',
  org: 'd.org_id',
  select: 'd.*',
  from: 'decisions d',
  where: {
    seen_by: seenByEither('$', 'd'),
    seen: 'd.private_to IS NOT NULL',
    agent_id: 'd.agent_id = $',
    chat_id: 'd.chat_id = $',
    kind: 'd.kind = $',
    review_status: 'd.review_status = $',
    // Written out and no value: deviations have an index of their own.
    deviation: 'd.deviation',
    conformity: 'NOT d.deviation',
    determination: 'd.determination',
    archived: 'd.archived_at IS NOT NULL',
    live: 'd.archived_at IS NULL',
  },
  tally: {
    from: 'decision_tallies t',
    where: {
      seen_by: seenByEither('$', 't'),
      seen: 'true',
      agent_id: 't.agent_id = $',
      kind: 't.kind = $',
      review_status: 't.review_status = $',
      deviation: 't.deviation',
      conformity: 'NOT t.deviation',
      determination: 't.determination',
      archived: 't.archived',
      live: 'NOT t.archived',
    },
  },
  order: 'd.id DESC',
  what: 'Decision',
});

/** What matches, of decisions or of their tally. Values: organization, agent, kind, review status, deviation, determination. */
const matching = (rows: string, archived: string) =>
  `${rows}.org_id = $1 AND ${rows}.agent_id = $2 AND ($3::text IS NULL OR ${rows}.kind = $3) AND ($4::text IS NULL OR ${rows}.review_status = $4) AND ($5::boolean IS NULL OR ${rows}.deviation = $5)
   AND ($6::boolean IS NOT TRUE OR ${rows}.determination) AND (${archived}) = $7`;

const LARGEST_FIRST = 'count DESC, latest_at DESC, basis';

/*
 * Groups come from the tally, and of a page alone the newest decisions from the rows: each reader's of a basis lie together. The newest of a
 * group is looked for where the tally has lost it, until it is folded. The reader is the eighth value.
 */
function groups(seen: string, readers: string) {
  const found = (only = 'true') => `
  WITH sums AS (
    SELECT t.basis, sum(t.n)::int AS count, coalesce(sum(t.n) FILTER (WHERE t.review_status = 'unreviewed'), 0)::int AS unreviewed,
      coalesce(sum(t.n) FILTER (WHERE t.review_status = 'disputed'), 0)::int AS disputed,
      CASE WHEN bool_and(t.latest IS NOT NULL) THEN max(t.latest) END AS latest
    FROM basis_tallies t WHERE ${matching('t', 't.archived')} AND ${seen} AND ${only} GROUP BY t.basis HAVING sum(t.n) > 0
  ), groups AS (
    SELECT s.basis, s.count, s.unreviewed, s.disputed, count(*) OVER ()::int AS total,
      coalesce(s.latest, (SELECT max(d.created_at) FROM decisions d WHERE d.basis = s.basis AND d.private_to IN (${readers}) AND ${matching('d', 'd.archived_at IS NOT NULL')})) AS latest_at
    FROM sums s
  )`;
  const shown = `g.basis, g.count, g.unreviewed, g.disputed, g.latest_at,
    ARRAY(SELECT newest.id FROM (${readers}) reader(id) CROSS JOIN LATERAL (
      SELECT d.id FROM decisions d WHERE d.basis = g.basis AND d.private_to = reader.id AND ${matching('d', 'd.archived_at IS NOT NULL')} ORDER BY d.id DESC LIMIT 3
    ) newest ORDER BY newest.id DESC LIMIT 3) AS sample_decision_ids`;
  return {
    page: statement<DecisionGroup & { total: number }>(
      `${found()} SELECT ${shown}, g.total FROM (SELECT * FROM groups ORDER BY ${LARGEST_FIRST} LIMIT $9 OFFSET $10) g ORDER BY ${LARGEST_FIRST}`,
    ),
    /** As of a {@link OrgListing}: the bases of every group after so many, so many to a row. */
    keys: statement<{ keys: string }>(
      `${found()} SELECT array_agg(p.basis ORDER BY p.place)::text AS keys FROM (SELECT basis, row_number() OVER (ORDER BY ${LARGEST_FIRST}) - 1 AS place FROM groups) p
       WHERE p.place >= $9::int GROUP BY (p.place - $9) / $10 ORDER BY (p.place - $9) / $10`,
    ),
    byKeys: statement<DecisionGroup>(`${found('t.basis = ANY ($9)')} SELECT ${shown} FROM groups g ORDER BY ${LARGEST_FIRST}`),
  };
}
/** For a user, and for the system. */
const GROUPS = {
  seen: groups(`t.private_to IN ('${NIL_UUID}', $8)`, `VALUES ('${NIL_UUID}'::uuid), ($8)`),
  all: groups('$8::uuid IS NULL', 'SELECT DISTINCT t.private_to FROM basis_tallies t WHERE t.org_id = $1 AND t.agent_id = $2'),
};

const CHAT_SEEN = statement(`SELECT 1 FROM chats c WHERE c.org_id = $1 AND c.id = $3 AND ${chatSeenBy('$2')}`);

/** Reads decisions of chats that the caller may open, whether the log is on or off. Never writes. */
@Injectable()
export class DecisionsQueries {
  private readonly decisions = new OrgTable(Decision, 'Decision', { from: listTally('decisions'), where: { chat_id: 't.of_id = $' } });

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
  ) {}

  /**
   * Newest first.
   *
   * @param agentRef an id or a slug
   * @param query `agent_id` repeats the agent; it is refused when it means another one, and ignored when it means none
   */
  async list(scope: OrgScope, agentRef: string, query: DecisionFilter & Slice & { agent_id?: string }): Promise<Listed<Decision>> {
    const agent_id = await this.agentOf(scope, agentRef, query.agent_id);
    const { kind, review_status, determination, archived } = query;
    const marked = query.deviation === undefined ? {} : query.deviation ? { deviation: true as const } : { conformity: true as const };
    const values = { kind, review_status, determination, archived, live: !archived, ...marked, agent_id, ...readerOf(scope) };
    return SEEN.page(this.db, scope, values, query);
  }

  /** Grouped by the basis that they cite: the largest group first, then the one that was met latest. The total counts groups. */
  async groups(scope: OrgScope, agentRef: string, query: DecisionFilter & Slice & { agent_id?: string }): Promise<Listed<DecisionGroup>> {
    const agentId = await this.agentOf(scope, agentRef, query.agent_id);
    const { kind, review_status, deviation, determination, archived = false } = query;
    const values = [scope.orgId, agentId, kind, review_status, deviation, determination, archived];
    const { userId } = scope.actor;
    const { page, keys, byKeys } = userId === null ? GROUPS.all : GROUPS.seen;
    const read = (slice: Slice) => this.db.query(page, [...values, userId, ...sliceBounds(slice)]);
    const { db } = this;
    return listedInBatches(
      query,
      (slice) => listed(slice, read(slice), async () => (await read({ limit: 1 }))[0]?.total ?? 0),
      async function* (offset, size) {
        for (const batch of await db.query(keys, [...values, userId, offset, size]))
          yield db.query(byKeys, [...values, userId, batch.keys]);
      },
    );
  }

  /** Oldest first, archived ones included. @throws DomainError `not_found` for a chat that the caller may not open */
  async ofChat(scope: OrgScope, chatId: string, page: Slice): Promise<Listed<Decision>> {
    const [chat] = await this.db.query(CHAT_SEEN, [scope.orgId, scope.actor.userId, chatId]);
    if (!chat) throw notFound('Chat');
    return this.decisions.page(this.db, scope, { chat_id: chatId }, { id: 'ASC' }, page);
  }

  /** @throws DomainError `not_found`, also in a chat that the caller may not open */
  get(db: Db, scope: OrgScope, chatId: string, id: string): Promise<Decision> {
    return SEEN.get(db, scope, id, { chat_id: chatId, ...readerOf(scope) });
  }

  private async agentOf(scope: OrgScope, agentRef: string, repeated = agentRef): Promise<string> {
    const agentId = await this.agents.idOf(scope, agentRef);
    if (repeated === agentRef) return agentId;
    const meant = await this.agents.idOf(scope, repeated).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'not_found') return agentId;
      throw error;
    });
    if (meant === agentId) return agentId;
    throw refuseValue(['query', 'agent_id'], 'This is another agent than the one in the path');
  }
}
