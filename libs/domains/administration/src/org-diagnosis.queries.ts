import { Injectable } from '@nestjs/common';
import { Blockers, Entitlements } from '@aps/billing';
import { notFound } from '@aps/contracts';
import { ModelHealthQueries } from '@aps/inference';
import { Database, statement } from '@aps/platform/database';
import { SEEN_LATELY } from '@aps/platform/queues';
import { findingsOf, type Finding, type RunFacts } from './org-diagnosis.policy';
import { RUNS } from './runs.sql';

/** A run that could be begun, and is not for so long, waits for workers. */
const UNCLAIMED_S = 30;
const UNCLAIMED = `ready_at < now() - interval '${UNCLAIMED_S} seconds'`;

const ORG = statement<{ suspended_at: Date | null }>('SELECT suspended_at FROM organizations WHERE id = $1 AND deleted_at IS NULL');
// A lease that the sweep has found has no time any more. What a worker could take up has a job; what waits behind another run has none. Turns count as unfinished even where there are none: the next message is one.
const FACTS = statement<RunFacts>(
  RUNS.map(
    ({ kind, table, job, queue }) => `
  SELECT '${kind}' AS kind, p.parked, p.parked_since, u.unclaimed, u.unclaimed_since, l.lost, l.lost_since, l.lost_owner,
    ${kind === 'turn'} OR u.jobs OR p.parked > 0 OR EXISTS (SELECT 1 FROM ${table} WHERE org_id = $1 AND status = 'waiting' AND finished_at IS NULL) AS unfinished,
    (SELECT count(*)::int FROM workers WHERE ${SEEN_LATELY} AND NOT draining AND queues @> '[{"name": "${queue}"}]') AS workers
  FROM (SELECT count(*)::int AS parked, min(dispatched_at) AS parked_since FROM ${table} WHERE org_id = $1 AND parked) p
  CROSS JOIN (
    SELECT count(*) > 0 AS jobs, count(*) FILTER (WHERE ${UNCLAIMED})::int AS unclaimed, min(ready_at) FILTER (WHERE ${UNCLAIMED}) AS unclaimed_since
    FROM outbox j CROSS JOIN LATERAL (SELECT * FROM ${table} x WHERE x.id = j.id AND x.org_id = $1 LIMIT 1) r
    CROSS JOIN LATERAL (SELECT CASE WHEN r.lease_owner IS NOT NULL THEN NULL WHEN r.status = 'queued' THEN greatest(r.dispatched_at, j.created_at)
      WHEN r.status = 'running' THEN r.lease_expires_at WHEN r.status = 'waiting' THEN (r.wait->>'resume_at')::timestamptz END AS ready_at) a
    WHERE j.job = '${job}'
  ) u
  CROSS JOIN (
    SELECT count(*)::int AS lost, min(lease_expires_at) AS lost_since, (array_agg(lease_owner ORDER BY lease_expires_at))[1] AS lost_owner
    FROM ${table} WHERE org_id = $1 AND lease_owner IS NOT NULL AND (lease_expires_at < now() OR lease_expires_at IS NULL)
  ) l`,
  ).join(' UNION ALL '),
);

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
    const [org] = await this.db.query(ORG, [orgId]);
    if (!org) throw notFound('Organization');
    const [runs, blocker, faults, unreadable, { max_concurrent_chats }] = await Promise.all([
      this.db.query(FACTS, [orgId]),
      this.blockers.of(orgId),
      this.models.faults(orgId),
      this.models.unreadableKeys(orgId),
      this.entitlements.of(orgId),
    ]);
    const findings = findingsOf(org.suspended_at, runs, blocker, faults, unreadable, max_concurrent_chats);
    return { org_id: orgId, healthy: findings.length === 0, findings };
  }
}
