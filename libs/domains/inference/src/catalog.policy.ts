import { DomainError } from '@aps/contracts';
import { isUniqueViolation } from '@aps/platform/database';
import type { CatalogEntry, ModelKind, Route } from './inference.types';

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
