import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { Database, statement } from '@aps/platform/database';
import { surroundings, type RunSurroundings } from '@aps/platform/runs';
import { KnowledgeQueries } from '../knowledge.queries';
import { diagnosisOf, type SourceDiagnosis, type SourceFacts } from './diagnosis.policy';

const SURROUNDINGS = statement<RunSurroundings & Pick<SourceFacts, 'org_suspended_at'>>(`
  SELECT o.suspended_at AS org_suspended_at, q.lease_expired, q.ahead, q.oldest_ahead_s
  FROM knowledge_sources s JOIN organizations o ON o.id = s.org_id CROSS JOIN ${surroundings('knowledge_sources', 's', { of: 'org_id' })} q
  WHERE s.org_id = $1 AND s.id = $2`);

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
    const [around] = await this.db.query(SURROUNDINGS, [scope.orgId, id]);
    return diagnosisOf({ ...source, ...around });
  }
}
