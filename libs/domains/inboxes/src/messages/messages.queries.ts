import { Injectable } from '@nestjs/common';
import { Inbox, InboxEnvelope, type InboxMessage, type InboxReply, type TraceRow } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { containing, Database, mapListed, OrgListing, OrgTable, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import { messagesSince } from '../inbox-counts.sql';
import { MESSAGE_STATES, statesOf, type MessageFilter } from './messages.policy';

/** A message with what is looked up beside it. */
export interface MessageView extends InboxMessage {
  revision: { id: string; version: number } | null;
  /** The newest mail that answers it. */
  reply: Pick<InboxReply, 'state' | 'due_at' | 'sent_at'> | null;
}

/** The same with all that it says, and what became of it. */
export interface MessageDetail extends MessageView {
  envelope: InboxEnvelope | null;
  /** In the order in which it happened. */
  trace: TraceRow[];
}

export interface MessageCounts {
  total: number;
  accepted: number;
  dropped: number;
  quarantined: number;
  held: number;
  failed: number;
  evaluating: number;
  needs_attention: number;
}

interface Values {
  inbox_id?: string;
  states?: string[];
  channel?: string;
  verdict?: string;
  /** Of a verdict: as far as it is settled. */
  settled?: boolean;
  search?: string;
  within_hours?: number;
  /** Whenever they came. */
  ever?: boolean;
}

/** What a search looks at. The line feed lets none be found half in one and half in another. */
const SEARCHED = `concat_ws(E'\\n', m.sender_address, m.sender_name, m.subject, m.decided_by)`;
const since = (hours: string) => `(now() - make_interval(hours => ${hours}))`;
/** Where whole hours of a window begin; what came before that in it is counted one by one. */
const WHOLE = `date_trunc('hour', ${since('$')}, 'UTC') + interval '1 hour'`;

const VIEWS = new OrgListing<MessageView, Values>({
  key: 'm.id',
  org: 'm.org_id',
  select: `m.*, CASE WHEN r.id IS NOT NULL THEN jsonb_build_object('id', r.id, 'version', r.version) END AS revision,
    (SELECT jsonb_build_object('state', a.state, 'due_at', a.due_at, 'sent_at', a.sent_at) FROM inbox_replies a WHERE a.message_id = m.id ORDER BY a.id DESC LIMIT 1) AS reply`,
  from: 'inbox_messages m LEFT JOIN inbox_revisions r ON r.id = m.revision_id',
  found: 'inbox_messages m',
  where: {
    inbox_id: 'm.inbox_id = $',
    // Each state lies together in an index; one that is not asked for is not looked for.
    states: MESSAGE_STATES.map((state) => `m.state = '${state}' AND '${state}' = ANY ($::text[])`),
    channel: 'm.channel_kind = $',
    verdict: 'm.verdict = $',
    settled: `m.state <> 'evaluating'`,
    search: `${SEARCHED} ILIKE $`,
    within_hours: `m.received_at >= ${since('$')}`,
    ever: 'true',
  },
  tally: {
    from: `(SELECT org_id, inbox_id, channel_kind, state, verdict, hour AS at, true AS whole, n FROM inbox_tallies
      UNION ALL SELECT org_id, inbox_id, channel_kind, state, verdict, received_at, false, 1 FROM inbox_messages) t`,
    where: {
      inbox_id: 't.inbox_id = $',
      states: 't.state = ANY ($::text[])',
      channel: 't.channel_kind = $',
      verdict: 't.verdict = $',
      settled: `t.state <> 'evaluating'`,
      within_hours: `t.whole AND t.at >= ${WHOLE} OR NOT t.whole AND t.at >= ${since('$')} AND t.at < ${WHOLE}`,
      ever: 't.whole',
    },
  },
  order: 'm.received_at DESC, m.id DESC',
  what: 'Message',
});

const ofState = (...states: string[]) =>
  `coalesce(sum(x.n) FILTER (WHERE x.state IN (${states.map((state) => `'${state}'`).join(', ')})), 0)::int`;
/** @param from rows of an inbox as `x`, as of {@link messagesSince}; values: the inbox, the channel or null */
const counts = (from: string) =>
  statement<MessageCounts>(`
  SELECT coalesce(sum(x.n), 0)::int AS total, ${MESSAGE_STATES.map((state) => `${ofState(state)} AS ${state}`).join(', ')}, ${ofState('held', 'failed')} AS needs_attention,
    coalesce(sum(x.n) FILTER (WHERE x.verdict = 'quarantined' AND x.state <> 'evaluating'), 0)::int AS quarantined
  FROM ${from} WHERE ($2::text IS NULL OR x.channel_kind = $2)`);
const COUNTS = {
  ever: counts('(SELECT channel_kind, state, verdict, n FROM inbox_tallies WHERE inbox_id = $1) x'),
  since: counts(messagesSince('inbox_id = $1', since('$3'))),
  found: counts(
    `(SELECT m.channel_kind, m.state, m.verdict, 1 AS n FROM inbox_messages m WHERE m.inbox_id = $1 AND ${SEARCHED} ILIKE $3 AND ($4::int IS NULL OR m.received_at >= ${since('$4')})) x`,
  ),
};
const TRACE = statement<{ rows: TraceRow[] }>('SELECT rows FROM inbox_traces WHERE org_id = $1 AND message_id = $2 ORDER BY id');

/** Reads what came to inboxes. Never writes. */
@Injectable()
export class MessagesQueries {
  private readonly inboxes = new OrgTable(Inbox);
  private readonly envelopes = new OrgTable(InboxEnvelope);

  constructor(private readonly db: Database) {}

  /** Newest received first. @throws DomainError `not_found` */
  async list(scope: OrgScope, inboxId: string, filter: MessageFilter, page: Slice): Promise<Listed<MessageView>> {
    await this.inboxes.get(this.db, scope, inboxId);
    const { channel, verdict, search, within_hours } = filter;
    const values: Values = {
      inbox_id: inboxId,
      states: statesOf(filter),
      channel,
      verdict,
      settled: verdict === 'quarantined',
      search: search ? containing(search) : undefined,
      within_hours,
      ever: within_hours === undefined,
    };
    return mapListed(await VIEWS.page(this.db, scope, values, page), (rows) => rows.map((row) => this.asOfNow(row)));
  }

  /** What a list has of each state, whatever it is asked for. @throws DomainError `not_found` */
  async counts(
    scope: OrgScope,
    inboxId: string,
    { channel = null, search, within_hours: hours = null }: CountsFilter,
  ): Promise<MessageCounts> {
    await this.inboxes.get(this.db, scope, inboxId);
    const [row] = search
      ? await this.db.query(COUNTS.found, [inboxId, channel, containing(search), hours])
      : hours === null
        ? await this.db.query(COUNTS.ever, [inboxId, channel])
        : await this.db.query(COUNTS.since, [inboxId, channel, hours]);
    return row;
  }

  /** @throws DomainError `not_found` */
  async get(scope: OrgScope, inboxId: string, id: string, db: Db = this.db): Promise<MessageDetail> {
    await this.inboxes.get(db, scope, inboxId);
    const row = await VIEWS.get(db, scope, id, { inbox_id: inboxId });
    const envelope = await this.envelopes.find(db, scope, { message_id: id });
    const traces = await db.query(TRACE, [scope.orgId, id]);
    return { ...this.asOfNow(row), envelope, trace: traces.flatMap(({ rows }) => rows) };
  }

  /** What is kept too long already is as good as gone. */
  private asOfNow({ reply, ...row }: MessageView): MessageView {
    return {
      ...row,
      raw_available: row.raw_available && row.raw_expires_at > this.db.now(),
      // JSON has no times.
      reply: reply && { ...reply, due_at: new Date(reply.due_at), sent_at: reply.sent_at && new Date(reply.sent_at) },
    };
  }
}

type CountsFilter = { channel?: string | null; search?: string; within_hours?: number | null };
