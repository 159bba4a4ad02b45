import { Injectable } from '@nestjs/common';
import { Blockers, Entitlements } from '@aps/billing';
import { notFound } from '@aps/contracts';
import { ModelHealthQueries } from '@aps/inference';
import { Database, statement } from '@aps/platform/database';
import { SEEN_LATELY } from '@aps/platform/queues';
import { findingsOf, type Finding, type OrgFacts } from './org-diagnosis.policy';

/** A turn that may run and is not begun for so long, waits for workers. */
const UNCLAIMED_S = 30;

const FACTS = statement<OrgFacts>(`
  SELECT o.suspended_at, p.parked, p.parked_since, u.unclaimed, u.unclaimed_since, l.lost, l.lost_since, l.lost_owner,
    (SELECT count(*)::int FROM workers WHERE ${SEEN_LATELY} AND NOT draining AND queues @> '[{"name": "turns"}]') AS workers
  FROM organizations o
  CROSS JOIN LATERAL (SELECT count(*)::int AS parked, min(t.dispatched_at) AS parked_since FROM turns t WHERE t.org_id = o.id AND t.parked) p
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS unclaimed, min(t.dispatched_at) AS unclaimed_since FROM turns t JOIN chats c ON c.current_turn_id = t.id
    WHERE t.org_id = o.id AND t.status = 'queued' AND t.finished_at IS NULL AND NOT t.parked AND t.dispatched_at < now() - interval '${UNCLAIMED_S} seconds'
  ) u
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS lost, min(t.lease_expires_at) AS lost_since, (array_agg(t.lease_owner ORDER BY t.lease_expires_at))[1] AS lost_owner
    FROM turns t WHERE t.org_id = o.id AND t.lease_owner IS NOT NULL AND t.lease_expires_at < now()
  ) l
  WHERE o.id = $1 AND o.deleted_at IS NULL`);

export interface OrgDiagnosis {
  org_id: string;
  healthy: boolean;
  findings: Finding[];
}

/** Tells why an organization does not move. Asks the database alone, so it works while the queues do not. */
@Injectable()
export class OrgDiagnosisQueries {
  constructor(
    private readonly db: Database,
    private readonly blockers: Blockers,
    private readonly entitlements: Entitlements,
    private readonly models: ModelHealthQueries,
  ) {}

  /** @throws DomainError `not_found` */
  async of(orgId: string): Promise<OrgDiagnosis> {
    const [facts] = await this.db.query(FACTS, [orgId]);
    if (!facts) throw notFound('Organization');
    const [blocker, faults, unreadable, { max_concurrent_chats }] = await Promise.all([
      this.blockers.of(orgId),
      this.models.faults(orgId),
      this.models.unreadableKeys(orgId),
      this.entitlements.of(orgId),
    ]);
    // A suspended organization is not worked for; what waits of it waits for that.
    const waiting = facts.suspended_at ? { ...facts, parked: 0, unclaimed: 0 } : facts;
    const findings = findingsOf(waiting, blocker, faults, unreadable, max_concurrent_chats);
    return { org_id: orgId, healthy: findings.length === 0, findings };
  }
}
