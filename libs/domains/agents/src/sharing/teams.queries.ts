import { Injectable } from '@nestjs/common';
import { listTally, NIL_UUID, type AgentTeam } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, idOrNone, OrgListing, type Listed, type Slice } from '@aps/platform/database';

/** A team as it is shown. */
export interface TeamView extends AgentTeam {
  agent_count: number;
}

const VIEWS = new OrgListing<TeamView, { project_id?: string }>({
  key: 'b.id',
  slug: 'b.slug',
  org: 'b.org_id',
  select: `b.*, (SELECT coalesce(sum(t.n), 0)::int FROM ${listTally('agents')} WHERE t.org_id = b.org_id AND t.of_id = b.id) AS agent_count`,
  from: 'agent_teams b',
  always: 'b.deleted_at IS NULL',
  where: { project_id: idOrNone('b.project_id') },
  tally: { from: listTally('agent_teams'), where: { project_id: idOrNone('t.of_id', NIL_UUID) } },
  order: 'b.display_order, b.id',
  what: 'Team',
});

/** Reads teams. */
@Injectable()
export class TeamsQueries {
  constructor(private readonly db: Database) {}

  /** In the order that members have chosen. */
  list(scope: OrgScope, { project_id }: { project_id?: string }, page: Slice): Promise<Listed<TeamView>> {
    return VIEWS.page(this.db, scope, { project_id }, page);
  }

  /** @throws DomainError `not_found` */
  get(scope: OrgScope, ref: string): Promise<TeamView> {
    return VIEWS.get(this.db, scope, ref, {});
  }
}
