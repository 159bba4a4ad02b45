import { Injectable } from '@nestjs/common';
import { DomainError, refuseField } from '@aps/contracts';
import { InferenceRoute, ModelCatalogEntry, type PriceTier } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, Table, type Db, type Tx } from '@aps/platform/database';
import { assertServes, refusingModelConflict } from './catalog.policy';
import { changesOf } from './changes';
import { GovernanceRepository, type ModelRow } from './governance.repository';
import { InferenceRepository } from './inference.repository';
import { InferenceSettings } from './inference.settings';
import { ModelNames, refuseUsed } from './model-names.service';
import { pricesOf } from './model-prices';
import { organizationOwned } from './platform-routes.service';
import { DOLLAR_PRICES, plain } from './pricing';
import { assertReplacement } from './replacement.policy';

type Price = (typeof DOLLAR_PRICES)[number] | 'fallback_credits_per_1k_tokens';

/** What operators say of a model; a field that is absent stays, a price that is null is not known. */
export type ModelInput = Partial<
  Omit<ModelRow, 'id' | 'owner_org_id' | 'created_at' | 'updated_at' | 'price_tiers'> & {
    price_tiers: (Pick<PriceTier, 'above_tokens'> & Partial<PriceTier>)[] | null;
  }
>;
export type NewModel = ModelInput & Pick<ModelRow, 'key' | 'label' | 'provider' | 'route_id'>;

export interface ModelView extends ModelRow {
  route: { id: string; slug: string };
  /** Live configuration names its key: it can be neither deleted nor renamed. */
  pinned: boolean;
}

/** The platform's models. Each change holds the row of its settings, as changes of routes do. */
@Injectable()
export class PlatformModelsService {
  private readonly models = new Table(ModelCatalogEntry, 'Model');
  private readonly routes = new Table(InferenceRoute, 'Route');

  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly governance: GovernanceRepository,
    private readonly names: ModelNames,
    private readonly settings: InferenceSettings,
    private readonly audit: Audit,
  ) {}

  /** Every model, those of organizations too, in display order. */
  async list(): Promise<ModelView[]> {
    const models = await this.governance.models(this.db);
    const slugs = new Map((await this.governance.routes(this.db)).map(({ id, slug }) => [id, slug]));
    const pinned = await this.named(this.db, [...new Set(models.map(({ key }) => key))]);
    return models.map((m) => ({ ...m, route: { id: m.route_id, slug: slugs.get(m.route_id)! }, pinned: pinned.has(m.key) }));
  }

  /** @throws DomainError 409 `model_conflict`; 422 `unknown_reference`, `kind_not_served`, `replacement_cycle` */
  async create(operator: ActingUser, input: NewModel): Promise<ModelView> {
    return this.db.transaction(operator, async (tx) => {
      await this.repository.lockPlatformSettings(tx);
      const columns = columnsOf(input);
      await this.assertPlace(tx, { kind: 'chat', ...columns, ...input }, columns);
      const model = await refusingModelConflict(this.models.insert(tx, { ...columns, owner_org_id: null }));
      await this.record(tx, operator, 'model.created', model, { ...columns });
      return this.view(tx, model);
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
      const changes = changesOf(columnsOf(model), columnsOf(input));
      if (!Object.keys(changes).length) return this.view(tx, model);
      if (changes.key !== undefined || changes.kind !== undefined) await this.names.assertUnnamed(tx, platform, model.key);
      await this.assertPlace(tx, { ...model, ...changes }, changes, id);
      const after = (await refusingModelConflict(this.models.update(tx, id, changes)))!;
      await this.record(tx, operator, 'model.updated', after, { changes });
      return this.view(tx, after);
    });
  }

  /** @throws DomainError `not_found`; 409 `model_in_use`; 422 `organization_owned` */
  async delete(operator: ActingUser, id: string): Promise<void> {
    await this.db.transaction(operator, async (tx) => {
      const platform = await this.repository.lockPlatformSettings(tx);
      const model = await this.lock(tx, id);
      await this.names.assertUnnamed(tx, platform, model.key);
      const replaced = await this.models.list(tx, { replacement_model_id: id }, { key: 'ASC' });
      refuseUsed(replaced.map(({ id, key }) => ({ kind: 'replaced_model', id, name: key })));
      await this.models.delete(tx, id);
      await this.record(tx, operator, 'model.deleted', model, { key: model.key });
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
      const changes = changesOf(columnsOf(model), columnsOf(prices));
      if (!Object.keys(changes).length) return this.view(tx, model);
      const after = (await this.models.update(tx, id, changes))!;
      await this.record(tx, operator, 'model.price_synced', after, { changes });
      return this.view(tx, after);
    });
  }

  /** Locked so that nobody begins to name it. */
  private async lock(tx: Tx, id: string): Promise<ModelRow> {
    const model = await this.models.get(tx, id, 'for update');
    if (model.owner_org_id !== null) throw organizationOwned();
    return model;
  }

  /** That its route is there and serves it, and that what would replace it can. */
  private async assertPlace(tx: Tx, model: Pick<ModelRow, 'key' | 'kind' | 'route_id'>, changes: ModelInput, id?: string): Promise<void> {
    if (changes.route_id !== undefined || changes.kind !== undefined) {
      const route = await this.routes.find(tx, model.route_id);
      if (!route || route.owner_org_id !== null)
        throw refuseField('unknown_reference', ['route_id'], 'There is no such route of the platform.');
      assertServes(route, [model], [changes.kind === undefined ? 'route_id' : 'kind']);
    }
    const { replacement_model_id: replacementId } = changes;
    if (!replacementId) return;
    const models = new Map((await this.repository.platformEntries(tx)).map((m) => [m.id, m]));
    if (models.get(replacementId)?.kind !== model.kind)
      throw refuseField('unknown_reference', ['replacement_model_id'], `There is no such ${model.kind} model of the platform.`);
    if (id) assertReplacement(id, replacementId, (next) => models.get(next));
  }

  private async record(tx: Tx, operator: ActingUser, action: string, { id }: ModelRow, facts: Record<string, unknown>): Promise<void> {
    await this.audit.record(tx, operator, action, { kind: 'model', id }, facts);
    this.settings.announce(tx, 'settings.changed', null);
  }

  private async view(tx: Tx, model: ModelRow): Promise<ModelView> {
    const { id, slug } = (await this.routes.find(tx, model.route_id))!;
    return { ...model, route: { id, slug }, pinned: (await this.named(tx, [model.key])).has(model.key) };
  }

  private async named(db: Db, keys: string[]): Promise<Set<string>> {
    return this.names.among(db, await this.repository.readPlatformSettings(db), keys);
  }
}

/** What is said, in the form in which it is compared and stored. */
function columnsOf<M extends ModelInput>({ price_tiers, ...input }: M) {
  const prices = [...DOLLAR_PRICES, 'fallback_credits_per_1k_tokens'] as Price[];
  const given = prices.filter((price) => input[price] !== undefined).map((price) => [price, plain(input[price]!)]);
  return {
    ...input,
    ...(Object.fromEntries(given) as { [P in Price]?: string | null }),
    ...(price_tiers !== undefined && { price_tiers: (price_tiers ?? []).map(tierOf).sort((a, b) => a.above_tokens - b.above_tokens) }),
  };
}

const tierOf = (tier: Pick<PriceTier, 'above_tokens'> & Partial<PriceTier>): PriceTier => {
  const prices = DOLLAR_PRICES.map((price) => [price, plain(tier[price] ?? null)]);
  return { above_tokens: tier.above_tokens, ...(Object.fromEntries(prices) as Omit<PriceTier, 'above_tokens'>) };
};
