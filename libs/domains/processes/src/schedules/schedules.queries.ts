import { Injectable } from '@nestjs/common';
import type { Schedule } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgListing, type Db, type Listed, type Slice } from '@aps/platform/database';

/** A schedule with what became of what it has begun last: the state of the run, or the status of the chat. */
export interface ScheduleView extends Schedule {
  last_status: string | null;
}

export interface ScheduleFilter {
  target_kind?: Schedule['target_kind'];
  target_id?: string;
}

const VIEWS = new OrgListing<ScheduleView, ScheduleFilter>({
  key: 's.id',
  org: 's.org_id',
  select: `s.*, coalesce(r.state, CASE WHEN c.deleted_at IS NOT NULL THEN 'DELETED' ELSE c.status END, s.last_run->>'status') AS last_status`,
  from: `schedules s LEFT JOIN process_runs r ON r.id = (s.last_run->>'id')::uuid AND r.org_id = s.org_id
    LEFT JOIN chats c ON c.id = (s.last_run->>'id')::uuid AND c.org_id = s.org_id`,
  found: 'schedules s',
  where: { target_kind: 's.target_kind = $', target_id: 's.target_id = $' },
  order: 's.created_at DESC, s.id DESC',
  what: 'Schedule',
  rows: 'large',
});

/** Reads schedules. Never writes. */
@Injectable()
export class SchedulesQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  list(scope: OrgScope, { target_kind, target_id }: ScheduleFilter, page: Slice): Promise<Listed<ScheduleView>> {
    return VIEWS.page(this.db, scope, { target_kind, target_id }, page);
  }

  /** @throws DomainError `not_found` */
  get(scope: OrgScope, id: string, db: Db = this.db): Promise<ScheduleView> {
    return VIEWS.get(db, scope, id, {});
  }
}
