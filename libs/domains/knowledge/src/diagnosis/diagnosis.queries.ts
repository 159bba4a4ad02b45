import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { Database, statement } from '@aps/platform/database';
import { KnowledgeQueries } from '../knowledge.queries';
import { diagnosisOf, type SourceDiagnosis, type SourceFacts } from './diagnosis.policy';

const AROUND = statement<Pick<SourceFacts, 'lease_expired' | 'org_suspended_at' | 'ahead' | 'oldest_ahead_s'>>(`
  SELECT coalesce(s.lease_expires_at, '-infinity') <= now() AS lease_expired, o.suspended_at AS org_suspended_at, q.ahead, q.oldest_ahead_s
  FROM knowledge_sources s JOIN organizations o ON o.id = s.org_id CROSS JOIN LATERAL (
    SELECT count(*)::int AS ahead, extract(epoch FROM now() - min(w.dispatched_at))::float8 AS oldest_ahead_s FROM knowledge_sources w
    WHERE s.status = 'queued' AND w.org_id = s.org_id AND w.status = 'queued' AND w.dispatched_at < s.dispatched_at
  ) q WHERE s.org_id = $1 AND s.id = $2`);

/** Tells why a source does what it does. Asks the database alone, so it works while the queues do not. */
@Injectable()
export class SourceDiagnoses {
  constructor(
    private readonly db: Database,
    private readonly queries: KnowledgeQueries,
  ) {}

  /** @throws DomainError `not_found` */
  async of(scope: OrgScope, kbId: string, id: string): Promise<SourceDiagnosis> {
    const source = await this.queries.source(scope, kbId, id);
    const [around] = await this.db.query(AROUND, [scope.orgId, id]);
    return diagnosisOf({ ...source, ...around });
  }
}
