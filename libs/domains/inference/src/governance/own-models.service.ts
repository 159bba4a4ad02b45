import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { ModelCatalogEntry } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { advisoryLock, Database, Table, type Tx } from '@aps/platform/database';
import { CatalogWriter, type ModelView } from './catalog-writer';
import { changesTo, renames, type ModelInput, type NewModel } from './catalog.policy';
import type { ModelRow } from './governance.repository';
import { ModelNames } from './model-names.service';

/** Held by whoever adds, changes or removes models of an organization's own, or their routes. */
export const lockOwnModels = (tx: Tx, scope: OrgScope): Promise<void> => advisoryLock(tx, `cap:max_custom_models:${scope.orgId}`);

/** Models of an organization's own, on routes of its own. */
@Injectable()
export class OwnModelsService {
  private readonly models = new Table(ModelCatalogEntry, 'Model');

  constructor(
    private readonly db: Database,
    private readonly entitlements: Entitlements,
    private readonly names: ModelNames,
    private readonly writer: CatalogWriter,
  ) {}

  /**
   * @throws DomainError 403 `entitlement_required`, `entitlement_exceeded`; 409 `model_conflict`; 422 `unknown_reference`,
   *   `kind_not_served`, `replacement_cycle`
   */
  async create(scope: OrgScope, input: NewModel): Promise<ModelView> {
    await this.entitlements.require(scope.orgId, 'byo_keys');
    return this.db.transaction(scope, async (tx) => {
      await lockOwnModels(tx, scope);
      const current = await this.models.count(tx, { owner_org_id: scope.orgId });
      await this.entitlements.requireRoom(scope.orgId, 'max_custom_models', current, tx);
      return this.view(tx, scope, await this.writer.add(tx, scope, scope.orgId, input));
    });
  }

  /**
   * @throws DomainError `not_found`; 403 `entitlement_required`; 409 `model_conflict`, `model_in_use` where the key or the kind changes
   *   while something names it; 422 `unknown_reference`, `kind_not_served`, `replacement_cycle`
   */
  async update(scope: OrgScope, id: string, input: ModelInput): Promise<ModelView> {
    await this.models.get(this.db, { id, owner_org_id: scope.orgId });
    await this.entitlements.require(scope.orgId, 'byo_keys');
    return this.db.transaction(scope, async (tx) => {
      const model = await this.lock(tx, scope, id);
      const changes = changesTo(model, input);
      if (!Object.keys(changes).length) return this.view(tx, scope, model);
      if (renames(changes)) await this.names.assertUnnamedWithin(tx, scope, model.key);
      return this.view(tx, scope, await this.writer.save(tx, scope, model, changes));
    });
  }

  /** @throws DomainError `not_found`; 409 `model_in_use` while something names its key, or it replaces another model */
  async delete(scope: OrgScope, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const model = await this.lock(tx, scope, id);
      await this.names.assertUnnamedWithin(tx, scope, model.key);
      await this.writer.remove(tx, scope, model);
    });
  }

  /** Locked so that nobody begins to name it. */
  private async lock(tx: Tx, scope: OrgScope, id: string): Promise<ModelRow> {
    await lockOwnModels(tx, scope);
    return this.models.get(tx, { id, owner_org_id: scope.orgId }, 'for update');
  }

  private async view(tx: Tx, scope: OrgScope, model: ModelRow): Promise<ModelView> {
    return this.writer.view(tx, model, (await this.names.usersWithin(tx, scope, model.key)).length > 0);
  }
}
