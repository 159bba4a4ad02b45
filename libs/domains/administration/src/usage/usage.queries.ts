import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { NIL_UUID } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, statement } from '@aps/platform/database';
import { summarize, type UsageSummary, type UsageWindow, type UsedRow } from './usage.summary';

const HOURS: Record<UsageWindow, number> = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 };
const HOUR_MS = 3_600_000;

const TOKENS = 'input_tokens::bigint + cached_input_tokens + cache_write_tokens + output_tokens + reasoning_tokens';
/** Of the hour in which the window begins. Values: the organization, the begin of the window, and of the next hour. */
const edge = (column: string) => `org_id = $1 AND ${column} >= $2 AND ${column} < $3`;

// The hours that are whole come from the tally; the one in which the window begins, from the rows. One pass over both gives the totals and
// every break-down of them, so the parts cannot disagree with the sum. What the break-downs are made of is added up first: they are five.
const USED = statement<UsedRow>(`
  SELECT grouping(day, agent_id, model_key, feature) AS level, day, agent_id, model_key, feature,
         sum(chats)::int AS chats, sum(turns)::int AS turns, sum(calls)::int AS calls, sum(tokens)::bigint AS tokens,
         trim_scale(sum(usd_cost))::text AS cost_usd, trim_scale(sum(credits))::text AS credits
  FROM (
    SELECT (at AT TIME ZONE 'UTC')::date::text AS day, nullif(agent_id, '${NIL_UUID}') AS agent_id, nullif(model_key, '') AS model_key, nullif(feature, '') AS feature,
           sum(chats) AS chats, sum(turns) AS turns, sum(calls) AS calls, sum(tokens) AS tokens, sum(usd_cost) AS usd_cost, sum(credits) AS credits
    FROM (
      SELECT hour AS at, agent_id, model_key, feature, chats, turns, calls, tokens, usd_cost, credits FROM usage_tallies WHERE org_id = $1 AND hour >= $3
      UNION ALL
      SELECT created_at, agent_id, model_key, feature, 0, 0, 1, ${TOKENS}, coalesce(usd_cost, 0), credits FROM inference_receipts WHERE ${edge('created_at')}
      UNION ALL
      SELECT created_at, agent_id, '', '', 1, 0, 0, 0, 0, 0 FROM chats WHERE ${edge('created_at')}
      UNION ALL
      SELECT t.dispatched_at, c.agent_id, '', '', 0, 1, 0, 0, 0, 0 FROM turns t JOIN chats c ON c.id = t.chat_id
      WHERE t.${edge('t.dispatched_at')} AND t.status NOT IN ('cancelled', 'skipped')
    ) found GROUP BY (at AT TIME ZONE 'UTC')::date, agent_id, model_key, feature
  ) used
  GROUP BY GROUPING SETS ((), (day), (agent_id), (model_key), (feature))
  HAVING sum(chats) > 0 OR sum(turns) > 0 OR sum(calls) > 0`);

const NAMES = statement<{ id: string; name: string }>('SELECT id, name FROM agents WHERE org_id = $1 AND id = ANY($2::uuid[])');

/** What an organization has used. One service for its members and for operators. */
@Injectable()
export class UsageQueries {
  constructor(
    private readonly db: Database,
    private readonly entitlements: Entitlements,
  ) {}

  /** Of the time up to now. Dollars are null where the organization is billed in credits. */
  async summary(scope: OrgScope, window: UsageWindow): Promise<UsageSummary> {
    const to = this.db.now();
    const from = new Date(to.getTime() - HOURS[window] * HOUR_MS);
    const firstWhole = new Date(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS);
    const [used, inCredits] = await Promise.all([
      this.db.query(USED, [scope.orgId, from, firstWhole]),
      this.entitlements.has(scope.orgId, 'enforces_credits'),
    ]);
    const named = await this.db.query(NAMES, [scope.orgId, used.flatMap(({ agent_id }) => agent_id ?? [])]);
    return summarize({ window, from, to, used, names: new Map(named.map(({ id, name }) => [id, name])), showDollars: !inCredits });
  }
}
