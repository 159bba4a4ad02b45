import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { HitlRequest, HitlStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, sliceBounds, statement, type Listed, type Slice } from '@aps/platform/database';
import { HitlRepository, SEEN_REQUESTS } from './hitl.repository';

/** Which requests are listed; what is not given does not matter. */
export interface HitlFilter {
  status?: HitlStatus;
  chat_id?: string;
  run_id?: string;
  agent_id?: string;
}

const matching = (status: string) => `FROM hitl_requests h
  WHERE ${SEEN_REQUESTS} AND ${status} AND ($4::uuid IS NULL OR h.chat_id = $4) AND ($5::uuid IS NULL OR h.run_id = $5) AND ($6::uuid IS NULL OR h.agent_id = $6)`;
const reads = (status: string) => ({
  list: statement<HitlRequest>(`SELECT h.* ${matching(status)} ORDER BY h.id DESC LIMIT $7 OFFSET $8`),
  count: statement<{ n: number }>(`SELECT count(*)::int AS n ${matching(status)}`),
});
const ANY = reads('$3::text IS NULL');
// Of its own, so that the few that are pending are read without all that are over.
const IN_STATUS = reads('h.status = $3');

/** Reads questions to humans. */
@Injectable()
export class HitlQueries {
  constructor(
    private readonly db: Database,
    private readonly requests: HitlRepository,
  ) {}

  /** Newest first. */
  async list(scope: OrgScope, filter: HitlFilter, slice: Slice): Promise<Listed<HitlRequest>> {
    const values = [
      scope.orgId,
      scope.actor.userId,
      filter.status ?? null,
      filter.chat_id ?? null,
      filter.run_id ?? null,
      filter.agent_id ?? null,
    ];
    const { list, count } = filter.status ? IN_STATUS : ANY;
    const [items, [{ n }]] = await Promise.all([this.db.query(list, [...values, ...sliceBounds(slice)]), this.db.query(count, values)]);
    return { items, total: n };
  }

  /** @throws DomainError 404 */
  async get(scope: OrgScope, id: string): Promise<HitlRequest> {
    const request = await this.requests.seen(this.db, scope, id);
    if (!request) throw notFound('Request');
    return request;
  }
}
