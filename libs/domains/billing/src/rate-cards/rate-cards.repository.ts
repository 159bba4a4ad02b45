import { Injectable } from '@nestjs/common';
import { statement, type Db, type Tx } from '@aps/platform/database';
import type { Card, CreditRule } from './rate-card.policy';

const CARD = `version, effective_from::text AS effective_from, trim_scale(credits_per_usd)::text AS credits_per_usd, rules`;
interface CardRow extends Omit<Card, 'rules'> {
  rules: unknown;
}

const VERSIONS = statement<CardRow>(`SELECT ${CARD} FROM rate_cards ORDER BY effective_from DESC`);
// From yesterday on, so that clocks that differ lose none.
const CHARGING = statement<CardRow>(`
  SELECT ${CARD} FROM rate_cards
  WHERE effective_from >= coalesce((SELECT max(effective_from) FROM rate_cards WHERE effective_from < (now() AT TIME ZONE 'UTC')::date), '-infinity')
  ORDER BY effective_from DESC`);
const TODAY = statement<{ today: string }>(`SELECT (statement_timestamp() AT TIME ZONE 'UTC')::date::text AS today`);
const APPEND = statement(
  'INSERT INTO rate_cards (version, effective_from, credits_per_usd, rules, published_by) VALUES ($1, $2, $3, $4, $5)',
);
const REPLACE = statement(
  'UPDATE rate_cards SET credits_per_usd = $2, rules = $3, published_by = $4, created_at = now() WHERE version = $1',
);

// What calls have burned, by whole hours.
const BURNED = statement<Burned>(`
  SELECT trim_scale(coalesce(sum(burned_credits), 0))::text AS credits, trim_scale(coalesce(sum(burned_usd), 0))::text AS usd_cost
  FROM usage_tallies WHERE burned_credits <> 0 AND hour >= date_trunc('hour', now(), 'UTC') - make_interval(days => $1::int)`);

const DISPLAY_FX = statement<{ rates: Record<string, string> }>('SELECT rates FROM credit_display_fx WHERE id = 1');
const SET_DISPLAY_FX = statement(`
  INSERT INTO credit_display_fx (id, rates, updated_by) VALUES (1, $1, $2)
  ON CONFLICT (id) DO UPDATE SET rates = excluded.rates, updated_by = excluded.updated_by, updated_at = now()`);

/** Decimal texts. */
export interface Burned {
  credits: string;
  usd_cost: string;
}

const cardOf = ({ rules, ...card }: CardRow): Card => ({ ...card, rules: rules as CreditRule[] });

/** Versions of the rate card, and display rates. */
@Injectable()
export class RateCardsRepository {
  /** All, the newest first. */
  async versions(db: Db): Promise<Card[]> {
    return (await db.query(VERSIONS)).map(cardOf);
  }

  /** Those that charge now or will, the newest first. */
  async charging(db: Db): Promise<Card[]> {
    return (await db.query(CHARGING)).map(cardOf);
  }

  /** In UTC. */
  async today(db: Db): Promise<string> {
    return (await db.query(TODAY))[0].today;
  }

  async append(tx: Tx, { version, effective_from, credits_per_usd, rules }: Card, by: string | null): Promise<void> {
    await tx.execute(APPEND, [version, effective_from, credits_per_usd, JSON.stringify(rules), by]);
  }

  async replace(tx: Tx, { version, credits_per_usd, rules }: Card, by: string | null): Promise<void> {
    await tx.execute(REPLACE, [version, credits_per_usd, JSON.stringify(rules), by]);
  }

  async burned(db: Db, days: number): Promise<Burned> {
    return (await db.query(BURNED, [days]))[0];
  }

  async displayFx(db: Db): Promise<Record<string, string>> {
    return (await db.query(DISPLAY_FX))[0]?.rates ?? {};
  }

  async setDisplayFx(tx: Tx, rates: Record<string, string>, by: string | null): Promise<void> {
    await tx.execute(SET_DISPLAY_FX, [JSON.stringify(rates), by]);
  }
}
