import type { ReasoningEffort } from '@aps/contracts';
import type { CatalogEntry, Route } from './inference.types';

export type SeedRoute = Pick<Route, 'slug' | 'label' | 'dialect' | 'base_url' | 'sort_order'> &
  Partial<Pick<Route, 'gateway_provider_slug'>>;
export type SeedModel = Pick<CatalogEntry, 'key' | 'label' | 'provider' | 'sort_order'> &
  Partial<
    Pick<
      CatalogEntry,
      | 'kind'
      | 'context_window'
      | 'max_output_tokens'
      | 'cost_tier'
      | 'supports_reasoning'
      | 'supports_vision'
      | 'input_price_per_1m'
      | 'output_price_per_1m'
      | 'cached_input_price_per_1m'
      | 'cache_write_price_per_1m'
    >
  > & { allowed_efforts?: ReasoningEffort[] };

/** Input, output, cached input and cache write, in US dollars per million tokens. */
const prices = (input: string, output: string, cached: string | null = null, write: string | null = null) => ({
  input_price_per_1m: input,
  output_price_per_1m: output,
  cached_input_price_per_1m: cached,
  cache_write_price_per_1m: write,
});

const reasons = (...allowed_efforts: ReasoningEffort[]) => ({ supports_reasoning: true, supports_vision: true, allowed_efforts });

/**
 * The routes of the vendors and a starter catalog, with the vendors' list prices of November 2026 for prompts of ordinary length.
 * Operators edit it; the seed never comes back to it.
 */
export const VENDOR_SEED: { route: SeedRoute; models: SeedModel[] }[] = [
  {
    route: {
      slug: 'anthropic',
      label: 'Anthropic',
      dialect: 'dialect_2',
      base_url: 'https://api.anthropic.com/v1',
      sort_order: 10,
      gateway_provider_slug: 'anthropic/v1',
    },
    models: [
      {
        key: 'claude-sonnet-5-5',
        label: 'Claude Sonnet 5.5',
        provider: 'anthropic',
        sort_order: 10,
        cost_tier: 'medium',
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        ...reasons('low', 'medium', 'high', 'xhigh'),
        ...prices('2', '10', '0.2', '2.5'),
      },
      {
        key: 'claude-opus-5-5',
        label: 'Claude Opus 5.5',
        provider: 'anthropic',
        sort_order: 20,
        cost_tier: 'high',
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        ...reasons('low', 'medium', 'high', 'xhigh'),
        ...prices('4', '20', '0.2', '5'),
      },
      {
        key: 'claude-haiku-4-5',
        label: 'Claude Haiku 4.5',
        provider: 'anthropic',
        sort_order: 30,
        cost_tier: 'low',
        context_window: 200_000,
        max_output_tokens: 64_000,
        ...reasons('none', 'low', 'medium', 'high'),
        ...prices('1', '5', '0.1', '1.25'),
      },
    ],
  },
  {
    route: { slug: 'openai', label: 'OpenAI', dialect: 'dialect_1', base_url: 'https://api.openai.com/v1', sort_order: 20 },
    models: [
      // By Chat Completions the vendor lets these models call tools only when they do not reason.
      {
        key: 'gpt-6-sol',
        label: 'GPT-6 Sol',
        provider: 'openai',
        sort_order: 40,
        cost_tier: 'medium',
        context_window: 1_050_000,
        max_output_tokens: 128_000,
        ...reasons('none'),
        ...prices('2', '10', '0.2', '2.5'),
      },
      {
        key: 'gpt-5.6-luna',
        label: 'GPT-5.6 Luna',
        provider: 'openai',
        sort_order: 50,
        cost_tier: 'low',
        context_window: 1_050_000,
        max_output_tokens: 128_000,
        ...reasons('none'),
        ...prices('0.2', '1.2', '0.02', '0.25'),
      },
      {
        key: 'text-embedding-3-small',
        label: 'Text Embedding 3 Small',
        provider: 'openai',
        kind: 'embedding',
        sort_order: 200,
        cost_tier: 'low',
        context_window: 8_191,
        ...prices('0.02', '0'),
      },
    ],
  },
  {
    route: {
      slug: 'google',
      label: 'Google',
      dialect: 'dialect_3',
      base_url: 'https://generativelanguage.googleapis.com/v1beta',
      sort_order: 30,
      gateway_provider_slug: 'google-ai-studio/v1beta',
    },
    models: [
      {
        key: 'gemini-3.5-flash',
        label: 'Gemini 3.5 Flash',
        provider: 'google',
        sort_order: 60,
        cost_tier: 'medium',
        context_window: 1_048_576,
        max_output_tokens: 65_536,
        ...reasons('minimal', 'low', 'medium', 'high'),
        ...prices('1.5', '9', '0.15'),
      },
      {
        key: 'gemini-3.1-flash-lite',
        label: 'Gemini 3.1 Flash-Lite',
        provider: 'google',
        sort_order: 70,
        cost_tier: 'low',
        context_window: 1_048_576,
        max_output_tokens: 65_536,
        ...reasons('minimal', 'low', 'medium', 'high'),
        ...prices('0.25', '1.5', '0.025'),
      },
      {
        key: 'gemini-embedding-001',
        label: 'Gemini Embedding',
        provider: 'google',
        kind: 'embedding',
        sort_order: 210,
        cost_tier: 'low',
        context_window: 2_048,
        ...prices('0.15', '0'),
      },
    ],
  },
];

export const MOCK_SEED: { route: Omit<SeedRoute, 'base_url'>; models: SeedModel[] } = {
  route: { slug: 'mock', label: 'Mock', dialect: 'dialect_1', sort_order: 1_000 },
  models: [
    {
      key: 'mock',
      label: 'Mock',
      provider: 'mock',
      sort_order: 1_000,
      cost_tier: 'free',
      context_window: 128_000,
      supports_reasoning: true,
      ...prices('1', '2'),
    },
    {
      key: 'mock-vision',
      label: 'Mock with vision',
      provider: 'mock',
      sort_order: 1_010,
      cost_tier: 'free',
      context_window: 128_000,
      supports_reasoning: true,
      supports_vision: true,
      ...prices('1', '2'),
    },
    {
      key: 'mock-unpriced',
      label: 'Mock without a price',
      provider: 'mock',
      sort_order: 1_020,
      context_window: 128_000,
      supports_reasoning: true,
    },
    {
      key: 'mock-embedding',
      label: 'Mock embedding',
      provider: 'mock',
      kind: 'embedding',
      sort_order: 1_030,
      cost_tier: 'free',
      context_window: 8_192,
      ...prices('0.1', '0'),
    },
  ],
};
