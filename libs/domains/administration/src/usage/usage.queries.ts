import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import type { OrgScope } from '@aps/guards';
import { Database, statement } from '@aps/platform/database';
import { summarize, type CountRow, type SpendRow, type UsageSummary, type UsageWindow } from './usage.summary';

const HOURS: Record<UsageWindow, number> = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 };

const day = (column: string) => `(${column} AT TIME ZONE 'UTC')::date::text`;

// One pass over the receipts gives the totals and every break-down of them, so the parts cannot disagree with the sum.
const SPEND = statement<SpendRow>(`
  SELECT grouping(day, agent_id, model_key, feature) AS level, day, agent_id, model_key, feature,
         count(*)::int AS calls, coalesce(sum(tokens), 0)::bigint AS tokens,
         trim_scale(coalesce(sum(usd_cost), 0))::text AS cost_usd, trim_scale(coalesce(sum(credits), 0))::text AS credits
  FROM (
    SELECT ${day('created_at')} AS day, agent_id, model_key, feature, usd_cost, credits,
           input_tokens::bigint + cached_input_tokens + cache_write_tokens + output_tokens + reasoning_tokens AS tokens
    FROM inference_receipts WHERE org_id = $1 AND created_at >= $2 AND created_at < $3
  ) receipts
  GROUP BY GROUPING SETS ((), (day), (agent_id), (model_key), (feature))`);

// Deleted chats count: they were begun.
const CHATS = statement<CountRow>(`
  SELECT ${day('created_at')} AS day, agent_id, count(*)::int AS count
  FROM chats WHERE org_id = $1 AND created_at >= $2 AND created_at < $3 GROUP BY 1, 2`);

const TURNS = statement<CountRow>(`
  SELECT ${day('t.dispatched_at')} AS day, c.agent_id, count(*)::int AS count
  FROM turns t JOIN chats c ON c.org_id = t.org_id AND c.id = t.chat_id
  WHERE t.org_id = $1 AND t.dispatched_at >= $2 AND t.dispatched_at < $3 AND t.status NOT IN ('cancelled', 'skipped') GROUP BY 1, 2`);

const NAMES = statement<{ id: string; name: string }>('SELECT id, name FROM agents WHERE org_id = $1 AND id = ANY($2::uuid[])');

/** What an organization has used. One service for its members and for operators. */
@Injectable()
export class UsageQueries {
  constructor(
    private readonly db: Database,
    private readonly entitlements: Entitlements,
  ) {}

  /** Dollars are null where the organization is billed in credits. */
  async summary(scope: OrgScope, window: UsageWindow, now = this.db.now()): Promise<UsageSummary> {
    const from = new Date(now.getTime() - HOURS[window] * 3_600_000);
    const values = [scope.orgId, from, now];
    const [spend, chats, turns, inCredits] = await Promise.all([
      this.db.query(SPEND, values),
      this.db.query(CHATS, values),
      this.db.query(TURNS, values),
      this.entitlements.has(scope.orgId, 'enforces_credits'),
    ]);
    const agentIds = new Set([...spend, ...chats, ...turns].flatMap(({ agent_id }) => agent_id ?? []));
    const named = await this.db.query(NAMES, [scope.orgId, [...agentIds]]);
    return summarize({
      window,
      from,
      to: now,
      spend,
      chats,
      turns,
      names: new Map(named.map(({ id, name }) => [id, name])),
      showDollars: !inCredits,
    });
  }
}
