import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database, statement } from '@aps/platform/database';
import { VISIBLE_CHAT } from '../state/visible-chats.sql';
import { breakdownOf, byType, TOKEN_TYPES, type BillingUnit, type Breakdown, type ModelSpend, type TokenType } from './cost.policy';

const PRICES = ['input', 'cached_input', 'cache_write', 'output'] as const;
/** Reasoning is charged as output. */
const PRICE_OF = (type: TokenType) => (type === 'reasoning' ? 'output' : type);
const all = (of: (t: TokenType) => string, glue: string) => TOKEN_TYPES.map(of).join(glue);

/*
 * The chat and the receipts are read in one statement: a step that ends meanwhile is in both or in neither.
 *
 * Dollars of a kind of token are exact: tokens times the price of their time. Credits are what billing made of a call as a whole; those of
 * the calls of a model at the same prices are shared out by dollars, or by tokens where they cost no dollars.
 */
const SPEND = statement<SpendRow>(`
  WITH RECURSIVE root AS (
    SELECT c.id, c.org_id FROM chats c WHERE ${VISIBLE_CHAT}
  ), tree AS (
    SELECT id, org_id, true AS own FROM root
    UNION
    SELECT c.id, c.org_id, false FROM tree t JOIN chats c ON c.parent_chat_id = t.id AND c.org_id = t.org_id
  ), total AS (
    SELECT t.own, count(*)::int AS chats, sum(c.cost_usd) AS cost_usd, sum(c.cost_credits) AS credits FROM tree t JOIN chats c ON c.id = t.id GROUP BY t.own
  ), calls AS (
    SELECT t.own, r.model_key, count(*) AS calls, count(*) FILTER (WHERE r.unpriced) AS unpriced_calls, coalesce(sum(r.usd_cost), 0) AS cost_usd, sum(r.credits) AS credits,
           ${all((t) => `sum(r.${t}_tokens::bigint) AS ${t}`, ', ')}, ${PRICES.map((p) => `r.${p}_price_per_1m`).join(', ')}
    FROM tree t JOIN inference_receipts r ON r.chat_id = t.id
    GROUP BY t.own, r.model_key, ${PRICES.map((p) => `r.${p}_price_per_1m`).join(', ')}
  ), priced AS (
    SELECT c.*, ${all((t) => `c.${t} * coalesce(c.${PRICE_OF(t)}_price_per_1m, 0) * 0.000001 AS ${t}_usd`, ', ')}, ${all((t) => `c.${t}`, ' + ')} AS tokens FROM calls c
  ), shared AS (
    SELECT p.*, ${all((t) => `p.${t}_usd`, ' + ')} AS dollars FROM priced p
  ), spend AS (
    SELECT own, model_key, sum(calls)::int AS calls, sum(unpriced_calls)::int AS unpriced_calls, sum(cost_usd) AS cost_usd, sum(credits) AS credits,
           ${all((t) => `sum(${t}) AS ${t}, sum(${t}_usd) AS ${t}_usd`, ', ')},
           ${all((t) => `sum(CASE WHEN dollars > 0 THEN credits * ${t}_usd / dollars WHEN tokens > 0 THEN credits * ${t} / tokens ELSE 0 END) AS ${t}_credits`, ', ')}
    FROM shared GROUP BY own, model_key
  )
  SELECT t.own, t.chats, t.cost_usd AS total_cost_usd, t.credits AS total_credits, s.model_key, s.calls, s.unpriced_calls, s.cost_usd, s.credits,
         ${all((t) => `s.${t}, s.${t}_usd, s.${t}_credits`, ', ')}
  FROM total t LEFT JOIN spend s ON s.own = t.own`);

type SpendRow = {
  own: boolean;
  chats: number;
  total_cost_usd: string;
  total_credits: string;
  /** Null when no model was called. */
  model_key: string | null;
  calls: number;
  unpriced_calls: number;
  cost_usd: string;
  credits: string;
} & Record<TokenType | `${TokenType}_usd` | `${TokenType}_credits`, string>;

export interface ChatCosts extends Breakdown {
  chat_id: string;
  billing_unit: BillingUnit;
  /** The same of all chats that were delegated to, at any depth. */
  descendants: Breakdown & { chats: number };
}

/** Reads what chats have cost. */
@Injectable()
export class CostQueries {
  constructor(
    private readonly db: Database,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * Every model call counts: answers, titles, summaries. Deleted chats among the descendants count, too; they were paid for.
   *
   * @throws DomainError 404
   */
  async ofChat(scope: OrgScope, agentId: string, chatId: string): Promise<ChatCosts> {
    const [rows, inCredits] = await Promise.all([
      this.db.query(SPEND, [scope.orgId, scope.actor.userId, agentId, chatId]),
      this.entitlements.has(scope.orgId, 'enforces_credits'),
    ]);
    const own = rows.filter((r) => r.own);
    const below = rows.filter((r) => !r.own);
    if (own.length === 0) throw notFound('Chat');
    const unit = inCredits ? 'credits' : 'usd';
    return {
      chat_id: chatId,
      billing_unit: unit,
      ...sum(own, unit),
      descendants: { chats: below[0]?.chats ?? 0, ...sum(below, unit) },
    };
  }
}

function sum(rows: SpendRow[], unit: BillingUnit): Breakdown {
  const total = { cost_usd: rows[0]?.total_cost_usd ?? '0', credits: rows[0]?.total_credits ?? '0' };
  const spend = rows.flatMap((r): ModelSpend[] =>
    r.model_key === null
      ? []
      : [
          {
            model_key: r.model_key,
            calls: r.calls,
            unpriced_calls: r.unpriced_calls,
            cost_usd: r.cost_usd,
            credits: r.credits,
            tokens: byType((t) => Number(r[t])),
            usd_of: byType((t) => r[`${t}_usd`]),
            credits_of: byType((t) => r[`${t}_credits`]),
          },
        ],
  );
  return breakdownOf(total, spend, unit);
}
