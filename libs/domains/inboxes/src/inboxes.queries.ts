import { Injectable } from '@nestjs/common';
import { listTally, NIL_UUID, type HandlerKind, type Inbox } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, idOrNone, mapListed, OrgListing, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import { ChannelsQueries, type ChannelView } from './channels/channels.queries';
import { messagesSince } from './inbox-counts.sql';
import { requireFitting } from './inboxes.policy';
import { targetId } from './rules/rule-set.schema';

/** An inbox with what is looked up beside it. */
export interface InboxView extends Inbox {
  channels: ChannelView[];
  current_revision: { id: string; version: number; deployed_at: Date | null } | null;
  volume_24h: number;
  verdicts_24h: { accepted: number; dropped: number; quarantined: number };
}

export interface InboxFilter {
  project_id?: string;
  target_kind?: HandlerKind;
  target_id?: string;
}

type Row = Inbox & Pick<InboxView, 'current_revision'>;

const VIEWS = new OrgListing<Row, { project_id?: string; target_kind?: HandlerKind; target_id?: string }>({
  key: 'i.id',
  prefixed: true,
  org: 'i.org_id',
  select: `i.*, CASE WHEN r.id IS NOT NULL THEN jsonb_build_object('id', r.id, 'version', r.version, 'deployed_at', r.deployed_at) END AS current_revision`,
  from: 'inboxes i LEFT JOIN inbox_revisions r ON r.id = i.current_revision_id',
  found: 'inboxes i',
  always: 'i.deleted_at IS NULL',
  where: {
    project_id: idOrNone('i.project_id'),
    target_kind: 'i.target_kind = $',
    target_id: 'i.target_id = $',
  },
  tally: {
    from: listTally('inboxes'),
    where: {
      project_id: idOrNone('t.of_id', NIL_UUID),
      target_kind: `split_part(t.facet, ':', 1) = $`,
      target_id: `split_part(t.facet, ':', 2) = $`,
    },
  },
  order: 'i.created_at DESC, i.id DESC',
  what: 'Inbox',
});

const DAY = `now() - interval '24 hours'`;
const VOLUMES = statement<{ inbox_id: string; volume: number; accepted: number; dropped: number; quarantined: number }>(`
  SELECT x.inbox_id, sum(x.n)::int AS volume, ${['accepted', 'dropped', 'quarantined']
    .map((verdict) => `coalesce(sum(x.n) FILTER (WHERE x.verdict = '${verdict}' AND x.state <> 'evaluating'), 0)::int AS ${verdict}`)
    .join(', ')}
  FROM ${messagesSince('inbox_id = ANY ($1)', DAY)} GROUP BY x.inbox_id`);

const STATES = statement<Pick<Inbox, 'id' | 'org_id' | 'status' | 'event_seq'>>(
  'SELECT id, org_id, status, event_seq FROM inboxes WHERE id = ANY ($1) AND deleted_at IS NULL',
);

/** Reads inboxes. Never writes. */
@Injectable()
export class InboxesQueries {
  constructor(
    private readonly db: Database,
    private readonly channels: ChannelsQueries,
  ) {}

  /** Newest first. @throws DomainError `validation_error` for a target that there cannot be */
  async list(scope: OrgScope, { project_id, target_kind, target_id }: InboxFilter, page: Slice): Promise<Listed<InboxView>> {
    const target = { target_kind, target_id: target_id && targetId(target_id) };
    requireFitting(target);
    const rows = await VIEWS.page(this.db, scope, { project_id, ...target }, page);
    return mapListed(rows, (batch) => this.whole(this.db, scope, batch));
  }

  /** @throws DomainError `not_found` */
  async get(scope: OrgScope, id: string, db: Db = this.db): Promise<InboxView> {
    return (await this.whole(db, scope, [await VIEWS.get(db, scope, id, {})]))[0];
  }

  /** How those of these are that are there, of whatever organization. */
  states(ids: string[]): Promise<Pick<Inbox, 'id' | 'org_id' | 'status' | 'event_seq'>[]> {
    return this.db.query(STATES, [ids]);
  }

  private async whole(db: Db, scope: OrgScope, rows: Row[]): Promise<InboxView[]> {
    const ids = rows.map(({ id }) => id);
    const channels = await this.channels.of(scope, ids, db);
    const volumes = new Map((await db.query(VOLUMES, [ids])).map((row) => [row.inbox_id, row]));
    return rows.map((row) => {
      const { volume = 0, accepted = 0, dropped = 0, quarantined = 0 } = volumes.get(row.id) ?? {};
      return {
        ...row,
        current_revision: row.current_revision && { ...row.current_revision, deployed_at: dateOf(row.current_revision.deployed_at) },
        channels: channels.filter(({ inbox_id }) => inbox_id === row.id),
        volume_24h: volume,
        verdicts_24h: { accepted, dropped, quarantined },
      };
    });
  }
}

/** In JSON it is a text. */
const dateOf = (text: Date | string | null): Date | null => (text === null ? null : new Date(text));
