import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { InferenceRoute, ModelCatalogEntry } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Database, Table, type Db, type Tx } from '@aps/platform/database';
import { CatalogWriter, type ModelView } from './catalog-writer';
import { changesTo, renames, type ModelInput, type NewModel } from './catalog.policy';
import type { ModelRow } from './governance.repository';
import { InferenceRepository } from '../inference.repository';
import { ModelNames } from './model-names.service';
import { pricesOf } from './model-prices';
import { organizationOwned } from './platform-routes.service';

/** The platform's models. Each change holds the row of its settings, as changes of routes do. */
@Injectable()
export class PlatformModelsService {
  private readonly models = new Table(ModelCatalogEntry, 'Model');
  private readonly routes = new Table(InferenceRoute, 'Route');

  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly names: ModelNames,
    private readonly writer: CatalogWriter,
  ) {}

  /** Every model, those of organizations too, in display order. */
  async list(): Promise<ModelView[]> {
    const models = await this.models.list(this.db, {}, { sort_order: 'ASC', key: 'ASC', id: 'ASC' });
    const slugs = new Map((await this.routes.list(this.db, {}, {})).map(({ id, slug }) => [id, slug]));
    const pinned = await this.named(this.db);
    // Not by copies: of ten thousand rows those took as long as reading them.
    return models.map((m) => Object.assign(m, { route: { id: m.route_id, slug: slugs.get(m.route_id)! }, pinned: pinned.has(m.key) }));
  }

  /** @throws DomainError 409 `model_conflict`; 422 `unknown_reference`, `kind_not_served`, `replacement_cycle` */
  async create(operator: ActingUser, input: NewModel): Promise<ModelView> {
    return this.db.transaction(operator, async (tx) => {
      await this.repository.lockPlatformSettings(tx);
      return this.view(tx, await this.writer.add(tx, operator, null, input));
    });
  }

  /**
   * @throws DomainError `not_found`; 409 `model_in_use` for another key or kind, `model_conflict`; 422 `unknown_reference`,
   *   `kind_not_served`, `replacement_cycle`, `organization_owned`
   */
  async update(operator: ActingUser, id: string, input: ModelInput): Promise<ModelView> {
    return this.db.transaction(operator, async (tx) => {
      const platform = await this.repository.lockPlatformSettings(tx);
      const model = await this.lock(tx, id);
      const changes = changesTo(model, input);
      if (!Object.keys(changes).length) return this.view(tx, model);
      if (renames(changes)) await this.names.assertUnnamed(tx, platform, model.key);
      return this.view(tx, await this.writer.save(tx, operator, model, changes));
    });
  }

  /** @throws DomainError `not_found`; 409 `model_in_use`; 422 `organization_owned` */
  async delete(operator: ActingUser, id: string): Promise<void> {
    await this.db.transaction(operator, async (tx) => {
      const platform = await this.repository.lockPlatformSettings(tx);
      const model = await this.lock(tx, id);
      await this.names.assertUnnamed(tx, platform, model.key);
      await this.writer.remove(tx, operator, model);
    });
  }

  /**
   * Takes over what the price list says of the model. A price that it does not know, or has as zero, stays.
   *
   * @throws DomainError `not_found`, `price_not_found`; 422 `organization_owned`
   */
  async syncPrice(operator: ActingUser, id: string): Promise<ModelView> {
    return this.db.transaction(operator, async (tx) => {
      await this.repository.lockPlatformSettings(tx);
      const model = await this.lock(tx, id);
      const prices = pricesOf(model);
      if (!prices) throw new DomainError('price_not_found', `The price list does not know ${model.remote_model_id ?? model.key}.`);
      const changes = changesTo(model, prices);
      return this.view(tx, Object.keys(changes).length ? await this.writer.savePrices(tx, operator, model, changes) : model);
    });
  }

  /** Locked so that nobody begins to name it. */
  private async lock(tx: Tx, id: string): Promise<ModelRow> {
    const model = await this.models.get(tx, id, 'for update');
    if (model.owner_org_id !== null) throw organizationOwned();
    return model;
  }

  private async view(tx: Tx, model: ModelRow): Promise<ModelView> {
    return this.writer.view(tx, model, (await this.named(tx, [model.key])).has(model.key));
  }

  private async named(db: Db, keys?: string[]): Promise<Set<string>> {
    return this.names.among(db, await this.repository.readPlatformSettings(db), keys);
  }
}
