import { Injectable } from '@nestjs/common';
import { refuseField } from '@aps/contracts';
import type { Db } from '@aps/platform/database';
import type { OrgScope } from '@aps/guards';
import { InferenceRepository } from './inference.repository';
import type { ModelScope } from './inference.types';
import { allowlistOf } from './resolution.policy';

/** Checks the models that others are about to store. */
@Injectable()
export class ModelCatalog {
  constructor(private readonly repository: InferenceRepository) {}

  /**
   * Refuses a key that names no chat model, or one that the organization does not allow for this use. Asks the database and not the
   * view in memory, so that it agrees with the transaction that stores the key.
   *
   * @throws DomainError 422 `model_unknown`, `model_not_allowed`
   */
  async assertKnownChatModel(db: Db, scope: OrgScope, key: string, use: ModelScope): Promise<void> {
    if (!(await this.repository.knownChatKeys(db, scope, [key])).has(key))
      throw refuseField('model_unknown', ['model'], 'There is no such model.');
    const allowed = allowlistOf(await this.repository.settings(db, scope), use);
    if (allowed.length && !allowed.includes(key))
      throw refuseField('model_not_allowed', ['model'], 'This organization does not allow this model here.', { allowed: [...allowed] });
  }
}
