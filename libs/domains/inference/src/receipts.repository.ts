import { Injectable } from '@nestjs/common';
import type { InferenceReceipt } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Money, text } from '@aps/billing';
import { statement, type Db } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import type { Usage } from './client';
import { chargeFor, type Called, type Terms } from './charge';
import type { ModelChoice } from './inference.types';
import { chargedPrices, priceOf } from './pricing';

type Columns = Omit<InferenceReceipt, 'created_at'>;

/** Whom a receipt belongs to; known to whoever made the call. */
export type ReceiptOwner = Pick<Columns, 'org_id'> &
  Partial<Pick<Columns, 'chat_id' | 'turn_id' | 'step_no' | 'agent_id' | 'run_id' | 'message_id'>>;
/** What the call itself tells. */
export type ReceiptRow = Omit<Columns, keyof ReceiptOwner>;
/** What calls cost: decimal texts, no dollars where none is priced in them. */
export type CallCost = Pick<ReceiptRow, 'usd_cost' | 'credits'>;

/** The columns of a receipt, in the order of {@link receiptValues}. */
export const RECEIPT_COLUMNS = [
  'id',
  'org_id',
  'feature',
  'chat_id',
  'turn_id',
  'step_no',
  'agent_id',
  'run_id',
  'message_id',
  'requested_model',
  'model_key',
  'resolve_reason',
  'route_id',
  'byo_key',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'input_price_per_1m',
  'cached_input_price_per_1m',
  'cache_write_price_per_1m',
  'output_price_per_1m',
  'usd_cost',
  'fallback_credits_per_1k_tokens',
  'credits',
  'rate_card_version',
  'rule_index',
  'enforced',
  'unpriced',
  'duration_ms',
  'first_token_ms',
] as const satisfies readonly (keyof Columns)[];

export interface ReceiptInput {
  resolved: Called & Pick<ModelChoice, 'entry' | 'route' | 'requested_model' | 'reason'>;
  usage: Usage;
  /** What the call was for: `turn`, `title`, … */
  feature: string;
  durationMs: number;
  firstTokenMs?: number | null;
  /** What it is charged by. */
  terms: Terms;
  /** Default: a new UUIDv7. */
  id?: string;
}

/** A call's receipt. Pure, so that whoever owns the step writes it in the statement that finishes the step. */
export function receiptRow({ resolved, usage, terms, ...input }: ReceiptInput): ReceiptRow {
  const price = priceOf(resolved.entry, usage);
  const duration_ms = Math.round(input.durationMs);
  return {
    id: input.id ?? uuidv7(),
    feature: input.feature,
    requested_model: resolved.requested_model,
    model_key: resolved.entry.key,
    resolve_reason: resolved.reason,
    route_id: resolved.route.id,
    byo_key: resolved.byo_key,
    input_tokens: usage.input,
    cached_input_tokens: usage.cached_input,
    cache_write_tokens: usage.cache_write,
    output_tokens: usage.output,
    reasoning_tokens: usage.reasoning,
    ...chargedPrices(resolved.entry, usage),
    usd_cost: price.usd,
    fallback_credits_per_1k_tokens: price.fallback_credits === null ? null : resolved.entry.fallback_credits_per_1k_tokens,
    ...chargeFor(terms.card, resolved, input.feature, usage, duration_ms / 1000),
    enforced: terms.enforced,
    unpriced: price.unpriced,
    duration_ms,
    first_token_ms: input.firstTokenMs === undefined || input.firstTokenMs === null ? null : Math.round(input.firstTokenMs),
  };
}

/** What calls have cost together. Each is priced by itself: tiers and fees are about one call. */
export function costOf(receipts: readonly CallCost[]): CallCost {
  const sum = (amounts: string[]) => text(amounts.reduce((total, amount) => total.plus(amount), new Money(0)));
  const dollars = receipts.flatMap(({ usd_cost }) => usd_cost ?? []);
  return { usd_cost: dollars.length ? sum(dollars) : null, credits: sum(receipts.map(({ credits }) => credits)) };
}

/** A receipt's values, in the order of {@link RECEIPT_COLUMNS}. */
export const receiptValues = (row: ReceiptRow & ReceiptOwner): unknown[] => RECEIPT_COLUMNS.map((column) => row[column] ?? null);

// A step that is delivered again after its receipt was written must not be charged for twice, nor a receipt whose commit was not heard of.
const INSERT = statement(`
  INSERT INTO inference_receipts (${RECEIPT_COLUMNS.join(', ')}) VALUES (${RECEIPT_COLUMNS.map((_, i) => `$${i + 1}`).join(', ')})
  ON CONFLICT DO NOTHING`);

const HAS = statement('SELECT 1 FROM inference_receipts WHERE id = $1');

const SPENT = statement<{ chats: string; total: string }>(`
  SELECT trim_scale(coalesce(sum(chats_usd_cost), 0))::text AS chats, trim_scale(coalesce(sum(usd_cost), 0))::text AS total
  FROM usage_tallies WHERE org_id = $1 AND hour >= $2 AND hour < $3`);

@Injectable()
export class ReceiptsRepository {
  /** @returns false when the step, or the call, has its receipt already */
  async insert(db: Db, row: ReceiptRow & ReceiptOwner): Promise<boolean> {
    return (await db.execute(INSERT, receiptValues(row))) > 0;
  }

  /**
   * The same of all calls of a piece of work. They are written together, so the first tells a repeat that all are there.
   *
   * @param charge adds what they cost where that is summed up; a receipt comes last
   */
  async insertOnce(
    db: Db,
    receipts: readonly ReceiptRow[],
    owner: ReceiptOwner,
    charge?: (cost: CallCost) => Promise<void>,
  ): Promise<void> {
    if (receipts.length === 0 || (await this.has(db, receipts[0].id))) return;
    await charge?.(costOf(receipts));
    for (const receipt of receipts) await this.insert(db, { ...receipt, ...owner });
  }

  private async has(db: Db, id: string): Promise<boolean> {
    return (await db.query(HAS, [id])).length > 0;
  }

  /** US dollars of a period that begins and ends with an hour: what chats cost, and what all calls did. */
  async spent(db: Db, scope: OrgScope, from: Date, to: Date): Promise<{ chats: string; total: string }> {
    return (await db.query(SPENT, [scope.orgId, from, to]))[0];
  }
}
