import { Injectable } from '@nestjs/common';
import { statement, type Db } from '@aps/platform/database';

/** What an operator sees of all credits at a glance. Amounts are numbers: they are drawn, not reckoned with. */
export interface CreditHealth {
  /** Of the newest proof, by invariant. */
  violations: Record<string, number>;
  /** Since the newest proof, or since the first was begun where none has come to an end; null where none was. */
  proof_age_s: number | null;
  /** What calls under way hold. */
  held: number;
  /** Holds that nothing has ended for two hours. */
  overdue: number;
  /** Of the last 24 whole hours. */
  burned: number;
  /** What the calls cost that burned it, in US dollars. */
  cost_usd: number;
  /** What was burned is worth by the rate card of today, in US dollars. */
  worth_usd: number;
}

// One takes minutes. What was begun an hour ago and has come to nothing never will.
const RECENT = statement(`
  SELECT FROM ledger_proofs
  WHERE checked_at > now() - make_interval(secs => $1) OR checked_at IS NULL AND created_at > now() - interval '1 hour' LIMIT 1`);

const HEALTH = statement<CreditHealth>(`
  SELECT coalesce(p.violations, '{}') AS violations, extract(epoch FROM now() - coalesce(p.checked_at, (SELECT min(created_at) FROM ledger_proofs)))::float8 AS proof_age_s, h.held, h.overdue, b.burned, b.cost_usd,
    coalesce(b.burned / (SELECT c.credits_per_usd::float8 FROM rate_cards c WHERE c.effective_from <= (now() AT TIME ZONE 'UTC')::date ORDER BY c.version DESC LIMIT 1), 0) AS worth_usd
  FROM (SELECT 1) one
  LEFT JOIN (SELECT violations, checked_at FROM ledger_proofs WHERE checked_at IS NOT NULL ORDER BY checked_at DESC LIMIT 1) p ON true
  CROSS JOIN (
    SELECT coalesce(sum(amount) FILTER (WHERE expires_at > now()), 0)::float8 AS held, (count(*) FILTER (WHERE expires_at < now() - interval '2 hours'))::int AS overdue
    FROM call_holds WHERE unit = 'credits'
  ) h
  CROSS JOIN (
    SELECT coalesce(sum(burned_credits), 0)::float8 AS burned, coalesce(sum(burned_usd), 0)::float8 AS cost_usd
    FROM usage_tallies WHERE burned_credits <> 0 AND hour >= date_trunc('hour', now(), 'UTC') - interval '24 hours'
  ) b`);

@Injectable()
export class ProofsRepository {
  /** Whether one was computed in the last so many seconds, or is under way. */
  async isRecent(db: Db, seconds: number): Promise<boolean> {
    return (await db.query(RECENT, [seconds])).length > 0;
  }

  async health(db: Db): Promise<CreditHealth> {
    return (await db.query(HEALTH))[0];
  }
}
