import { DomainError, refuseField } from '@aps/contracts';
import type { ModelCatalogEntry, PriceTier } from '@aps/entities';
import { changesOf, isUniqueViolation } from '@aps/platform/database';
import type { CatalogEntry, ModelKind, Route } from '../inference.types';
import { DOLLAR_PRICES, plain } from '../pricing';
import { assertReplacement } from '../choice/replacement.policy';

type Price = (typeof DOLLAR_PRICES)[number] | 'fallback_credits_per_1k_tokens';
type TierInput = Pick<PriceTier, 'above_tokens'> & Partial<PriceTier>;

/** What is said of a model; a field that is absent stays, or takes its default. A price that is null is not known. */
export type ModelInput = Partial<
  Omit<ModelCatalogEntry, 'id' | 'owner_org_id' | 'created_at' | 'updated_at' | 'price_tiers'> & { price_tiers: TierInput[] }
>;
export type NewModel = ModelInput & Pick<ModelCatalogEntry, 'key' | 'label' | 'provider' | 'route_id'>;

/** The kinds of models that can be asked in each dialect. */
const SERVES: Record<Route['dialect'], readonly ModelKind[]> = {
  dialect_1: ['chat', 'embedding', 'rerank', 'image'],
  dialect_2: ['chat'],
  dialect_3: ['chat', 'embedding', 'image'],
};

/**
 * @param path the field that asks for it
 * @throws DomainError 422 `kind_not_served`, naming the models
 */
export function assertServes(
  { dialect }: Pick<Route, 'dialect'>,
  models: Pick<CatalogEntry, 'key' | 'kind'>[],
  path: readonly string[],
): void {
  const unserved = models.filter(({ kind }) => !SERVES[dialect].includes(kind));
  if (!unserved.length) return;
  const named = unserved.map(({ key, kind }) => `${key} (${kind})`).join(', ');
  const msg = `${dialect} cannot serve ${named}. It serves: ${SERVES[dialect].join(', ')}.`;
  throw new DomainError('kind_not_served', msg, {
    context: { models: unserved.map(({ key, kind }) => ({ key, kind })) },
    problems: [{ loc: ['body', ...path], msg, type: 'semantic.kind_not_served' }],
  });
}

/** @throws DomainError 409 `model_conflict` where the write would put a key on a route twice, or leave it with two enabled models */
export const refusingModelConflict = <T>(write: Promise<T>): Promise<T> =>
  write.catch((error: unknown) => {
    if (isUniqueViolation(error, 'model_catalog_key_route')) throw new DomainError('model_conflict', 'The route has a model of this key.');
    if (isUniqueViolation(error, 'model_catalog_enabled_key'))
      throw new DomainError('model_conflict', 'An enabled model on another route has this key. Disable that one first.');
    throw error;
  });

/** What is said, in the form in which it is compared and stored: a column has all the digits of its scale. */
export function columnsOf<M extends ModelInput>({ price_tiers, ...input }: M) {
  const prices = [...DOLLAR_PRICES, 'fallback_credits_per_1k_tokens'] as Price[];
  const given = prices.filter((price) => input[price] !== undefined).map((price) => [price, plain(input[price]!)]);
  return {
    ...input,
    ...(Object.fromEntries(given) as { [P in Price]?: string | null }),
    ...(price_tiers && { price_tiers: price_tiers.map(tierOf).sort((a, b) => a.above_tokens - b.above_tokens) }),
  };
}

const tierOf = (tier: TierInput): PriceTier => {
  const prices = DOLLAR_PRICES.map((price) => [price, plain(tier[price] ?? null)]);
  return { above_tokens: tier.above_tokens, ...(Object.fromEntries(prices) as Omit<PriceTier, 'above_tokens'>) };
};

export type ModelChanges = ReturnType<typeof columnsOf<ModelInput>>;

/** What of a model would be another then. */
export const changesTo = (model: ModelCatalogEntry, input: ModelInput): ModelChanges => changesOf(columnsOf(model), columnsOf(input));

/** Whether what names the model by its key would find none of its kind any more. */
export const renames = ({ key, kind }: ModelInput): boolean => key !== undefined || kind !== undefined;

/**
 * Checks the successor of a model before it is saved.
 *
 * @param all the models that it may be one of
 * @throws DomainError 422 `unknown_reference`, `replacement_cycle`
 */
export function assertSuccessor(
  model: Pick<ModelCatalogEntry, 'id' | 'kind' | 'replacement_model_id'>,
  all: readonly Pick<ModelCatalogEntry, 'id' | 'key' | 'kind' | 'replacement_model_id'>[],
): void {
  if (model.replacement_model_id === null) return;
  const valid = all.filter(({ id, kind }) => kind === model.kind && id !== model.id);
  if (model.replacement_model_id !== model.id && !valid.some(({ id }) => id === model.replacement_model_id))
    throw refuseUnknown('replacement_model_id', `There is no such ${model.kind} model here.`, valid, ({ key }) => key);
  assertReplacement(model.id, model.replacement_model_id, all);
}

/** As many are named of what would be valid. */
const NAMED_AT_MOST = 20;

/** A 422 `unknown_reference` that tells what there is. */
export function refuseUnknown<V extends { id: string }>(
  field: string,
  what: string,
  valid: readonly V[],
  nameOf: (v: V) => string,
): DomainError {
  const named = valid.slice(0, NAMED_AT_MOST).map((v) => `${nameOf(v)} (${v.id})`);
  const others = valid.length > NAMED_AT_MOST ? ' and others' : '';
  return refuseField('unknown_reference', [field], `${what} There are: ${named.join(', ') || 'none'}${others}.`, {
    valid: valid.slice(0, NAMED_AT_MOST).map(({ id }) => id),
  });
}
