import { REASONING_EFFORTS } from '@aps/contracts';
import { configSection, flag, integer, setting } from '@aps/platform/config';
import { z } from 'zod';

const key = (env: string, what: string) => setting(env, z.string().trim().min(1).optional(), what, { secret: true });
const optionalFlag = z
  .string()
  .optional()
  .transform((raw, ctx) => {
    if (raw === undefined) return undefined;
    const parsed = flag(false).safeParse(raw);
    if (parsed.success) return parsed.data;
    ctx.addIssue({ code: 'custom', message: 'must be on or off' });
    return z.NEVER;
  });

export const inferenceConfig = configSection('inference', {
  defaultModel: setting(
    'DEFAULT_MODEL',
    z.string().min(1).optional(),
    'Catalog key of the model that answers where nobody chose one. Empty: the first one that works',
  ),
  defaultReasoningEffort: setting(
    'DEFAULT_REASONING_EFFORT',
    z.enum(REASONING_EFFORTS).optional(),
    "Effort where nobody chose one. Empty: the model's own default",
  ),
  maxReasoningEffort: setting('MAX_REASONING_EFFORT', z.enum(REASONING_EFFORTS).optional(), 'Highest effort that anybody gets'),
  thinkingEnabled: setting(
    'THINKING_ENABLED',
    flag(true),
    'Whether models may reason before they answer, where neither platform nor organization says so',
  ),
  compactionEnabled: setting(
    'COMPACTION_ENABLED',
    flag(true),
    'Whether long chats are compacted, where neither platform nor organization says so',
  ),
  compactionThreshold: setting(
    'COMPACTION_THRESHOLD',
    z.coerce.number().min(0.1).max(0.95).default(0.8),
    'Share of the context window at which a chat is compacted',
  ),
  modelCallMaxS: setting(
    'MODEL_CALL_MAX_S',
    integer(600, 1, 86_400),
    'Longest time of one request to a model, in seconds; each retry has it anew',
  ),
  mockRouteEnabled: setting(
    'MOCK_ROUTE_ENABLED',
    optionalFlag,
    'Whether the built-in mock models may be used. Default: on, except with NODE_ENV=production',
  ),
  mockRouteBaseUrl: setting(
    'MOCK_ROUTE_BASE_URL',
    z.url({ protocol: /^https?$/ }).optional(),
    'Where the mock model server listens, version path included: http://127.0.0.1:4010/v1',
  ),
  aiGatewayBaseUrl: setting(
    'AI_GATEWAY_BASE_URL',
    z
      .url({ protocol: /^https?$/ })
      .transform((url) => url.replace(/\/+$/, ''))
      .default('https://gateway.ai.cloudflare.com/v1'),
    'Where AI gateways of organizations answer; account, gateway and provider follow in the path',
  ),
  nodeEnv: setting('NODE_ENV', z.string().default('development'), 'production switches off what only development needs'),
  openaiApiKey: key('OPENAI_API_KEY', 'Key of the route openai, where none is stored. Any other route takes ROUTE_<SLUG>_API_KEY'),
  anthropicApiKey: key('ANTHROPIC_API_KEY', 'Key of the route anthropic, where none is stored'),
  googleApiKey: key('GOOGLE_GENERATIVE_AI_API_KEY', 'Key of the route google, where none is stored'),
  provider1ApiKey: key('PROVIDER_1_API_KEY', 'Older name of OPENAI_API_KEY; wins over it'),
  provider2ApiKey: key('PROVIDER_2_API_KEY', 'Older name of ANTHROPIC_API_KEY; wins over it'),
  provider3ApiKey: key('PROVIDER_3_API_KEY', 'Older name of GOOGLE_GENERATIVE_AI_API_KEY; wins over it'),
});

/** The slug of the built-in mock route. */
export const MOCK_ROUTE = 'mock';

export function mockRouteEnabled(): boolean {
  return inferenceConfig.value.mockRouteEnabled ?? inferenceConfig.value.nodeEnv !== 'production';
}

/** The seeded vendor routes: nobody answers there without a key. */
export const VENDOR_ROUTES = ['openai', 'anthropic', 'google'];

/** `my-vllm` → `ROUTE_MY_VLLM_API_KEY` */
export const routeKeyVariable = (slug: string): string => `ROUTE_${slug.toUpperCase().replaceAll('-', '_')}_API_KEY`;

/** The environment's keys for a platform route, the one to be spent first; `legacy` is one under its older name. */
export function environmentKeySources(slug: string): { source: 'legacy' | 'env'; key: string }[] {
  const c = inferenceConfig.value;
  const declared: Record<string, (string | undefined)[]> = {
    openai: [c.provider1ApiKey, c.openaiApiKey],
    anthropic: [c.provider2ApiKey, c.anthropicApiKey],
    google: [c.provider3ApiKey, c.googleApiKey],
  };
  // Routes are made at run time, so the names of their variables cannot be declared ahead: the one place outside of a section that
  // looks into the environment.
  // eslint-disable-next-line no-restricted-properties
  const [legacy, own] = Object.hasOwn(declared, slug) ? declared[slug] : [undefined, process.env[routeKeyVariable(slug)]?.trim()];
  return [...(legacy ? [{ source: 'legacy' as const, key: legacy }] : []), ...(own ? [{ source: 'env' as const, key: own }] : [])];
}

/** The environment's keys for a platform route, the one to be spent first. */
export const environmentKeys = (slug: string): string[] => environmentKeySources(slug).map(({ key }) => key);
