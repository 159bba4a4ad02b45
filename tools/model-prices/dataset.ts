import { readFileSync } from 'node:fs';
import { Decimal } from 'decimal.js';

/** The community's list that is taken where nothing else is named. */
const DATASET = 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json';
/** Modes of calls that are charged by tokens, and that a route can make. */
const MODES = ['chat', 'responses', 'completion', 'embedding', 'rerank', 'image_generation'];
const PRICES = ['input_cost_per_token', 'output_cost_per_token', 'cache_read_input_token_cost', 'cache_creation_input_token_cost'];

/** US dollars per million tokens of input, output, cached input and cache write; null: not known. */
type Prices = (string | null)[];
/** By model: its prices, then those of prompts above so many tokens. */
export type PriceList = Record<string, (string | null | Record<string, Prices>)[]>;

type Raw = Record<string, unknown>;

/** @throws Error where it cannot be read, or holds no model */
export async function readDataset(file?: string): Promise<PriceList> {
  const url = process.env.MODEL_PRICE_DATASET_URL ?? DATASET;
  const text = file ? readFileSync(file, 'utf8') : await fetched(url);
  const list = pricesIn(JSON.parse(text) as Record<string, Raw>);
  if (!Object.keys(list).length) throw new Error('The dataset names no model with a price.');
  return list;
}

async function fetched(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
  return answer.text();
}

/** Zero stands for what nobody has filled in as often as for what costs nothing, so it is as good as not known. */
export function pricesIn(dataset: Record<string, Raw>): PriceList {
  const list: PriceList = {};
  for (const [model, raw] of Object.entries(dataset).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!MODES.includes(raw.mode as string)) continue;
    const of = (suffix = ''): Prices => PRICES.map((field) => perMillion(raw[field + suffix]));
    const prices = of();
    if (prices[0] === null) continue;
    const bounds = Object.keys(raw).flatMap((field) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(field)?.[1] ?? []);
    const tiers = bounds.map((k) => [`${k}000`, of(`_above_${k}k_tokens`)] as const).filter(([, tier]) => tier.some((p) => p !== null));
    list[model] = tiers.length ? [...prices, Object.fromEntries(tiers)] : prices;
  }
  return list;
}

function perMillion(cost: unknown): string | null {
  if (typeof cost !== 'number' || !(cost > 0)) return null;
  const price = new Decimal(cost).times(1_000_000).toDecimalPlaces(6, Decimal.ROUND_HALF_UP);
  return price.isZero() ? null : price.toFixed();
}

/** The list as a source file. */
export function source(list: PriceList): string {
  const lines = Object.entries(list).map(([model, prices]) => `  ${JSON.stringify(model)}: ${JSON.stringify(prices)},`);
  return [
    '// Written by `npm run model-prices`, and not by hand.',
    "import type { ListedPrices } from './model-prices';",
    '',
    'export const MODEL_PRICES: Record<string, ListedPrices> = {',
    ...lines,
    '};',
    '',
  ].join('\n');
}
