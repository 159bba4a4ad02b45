import { Injectable } from '@nestjs/common';
import { refuseField } from '@aps/contracts';
import type { Db, Tx } from '@aps/platform/database';
import type { OrgScope } from '@aps/guards';
import { InferenceRepository } from './inference.repository';
import type { ModelScope } from './inference.types';
import { allowlistOf } from './choice/resolution.policy';

/** Checks the models that others are about to store. */
@Injectable()
export class ModelCatalog {
  constructor(private readonly repository: InferenceRepository) {}

  /**
   * Refuses a key that names no chat model, or one that the organization does not allow for this use. Asks the database and not the
   * view in memory, which may be older than what the caller has seen.
   *
   * @param field of the body that names it
   * @throws DomainError 422 `model_unknown`, `model_not_allowed`
   */
  async assertKnownChatModel(db: Db, scope: OrgScope, key: string, use: ModelScope, field = 'model'): Promise<void> {
    await this.assertUsable(db, scope, key, use, await this.repository.knownChatKeys(db, scope, [key]), field);
  }

  /** The same for what is stored: until the transaction ends nobody deletes or renames the model. */
  async holdChatModel(tx: Tx, scope: OrgScope, key: string, use: ModelScope): Promise<void> {
    await this.assertUsable(tx, scope, key, use, await this.repository.holdChatKeys(tx, scope, [key]));
  }

  /** Those of the keys that may be stored for this use; until the transaction ends nobody deletes or renames them. */
  async holdUsable(tx: Tx, scope: OrgScope, keys: readonly string[], use: ModelScope): Promise<Set<string>> {
    const known = await this.repository.holdChatKeys(tx, scope, keys);
    const allowed = allowlistOf(await this.repository.settings(tx, scope), use);
    return new Set([...known].filter((key) => !allowed.length || allowed.includes(key)));
  }

  /** Whether there is such a chat model, allowed or not; until the transaction ends nobody deletes or renames it. */
  async holdKnown(tx: Tx, scope: OrgScope, key: string): Promise<boolean> {
    return (await this.repository.holdChatKeys(tx, scope, [key])).has(key);
  }

  private async assertUsable(
    db: Db,
    scope: OrgScope,
    key: string,
    use: ModelScope,
    known: ReadonlySet<string>,
    field = 'model',
  ): Promise<void> {
    if (!known.has(key)) throw refuseField('model_unknown', [field], 'There is no such model.');
    const allowed = allowlistOf(await this.repository.settings(db, scope), use);
    if (allowed.length && !allowed.includes(key))
      throw refuseField('model_not_allowed', [field], 'This organization does not allow this model here.', { allowed: [...allowed] });
  }
}
