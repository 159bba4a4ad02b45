import { Injectable } from '@nestjs/common';
import { refuseField } from '@aps/contracts';
import type { Db } from '@aps/platform/database';
import { OrgScope } from '@aps/guards';
import { InferenceRepository } from './inference.repository';
import type { ModelScope } from './inference.types';
import { allowlistOf } from './resolution.policy';

/** Checks the models that others are about to store. */
@Injectable()
export class ModelCatalog {
  constructor(private readonly repository: InferenceRepository) {}

  /**
   * Refuses a key that names no chat model, or one that the organization does not allow for the scope. Asks the database and not the
   * view in memory, so that it agrees with the transaction that stores the key.
   *
   * @param field where the key stands in the body
   * @throws DomainError 422 `model_unknown`, `model_not_allowed`
   */
  async assertKnownChatModel(db: Db, orgId: string, key: string, scope: ModelScope, field: (string | number)[] = ['model']): Promise<void> {
    if (!(await this.repository.knownChatKeys(db, orgId, [key])).has(key))
      throw refuseField('model_unknown', field, 'There is no such model.');
    const settings = await this.repository.settings(OrgScope.system(orgId, 'check a model'), db);
    const allowed = allowlistOf(settings, scope);
    if (allowed.length && !allowed.includes(key))
      throw refuseField('model_not_allowed', field, 'This organization does not allow this model here.', { allowed: [...allowed] });
  }
}
