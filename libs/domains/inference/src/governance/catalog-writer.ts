import { Injectable } from '@nestjs/common';
import { InferenceRoute, ModelCatalogEntry } from '@aps/entities';
import { Audit, type By } from '@aps/platform/audit';
import { Table, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import {
  assertServes,
  assertSuccessor,
  columnsOf,
  refusingModelConflict,
  refuseUnknown,
  type ModelChanges,
  type NewModel,
} from './catalog.policy';
import type { ModelRow } from './governance.repository';
import { InferenceSettings } from '../inference.settings';
import { refuseUsed } from './model-names.service';

/** A model as those see it who govern it. */
export interface ModelView extends ModelRow {
  route: { id: string; slug: string };
  /** Live configuration names its key: it can be neither deleted nor renamed. */
  pinned: boolean;
}

/**
 * Writes models of the platform and of organizations by the same rules. Whoever calls it has seen to it that nobody else writes models of
 * the same owner until the transaction ends, and that nothing names what is renamed or deleted.
 */
@Injectable()
export class CatalogWriter {
  private readonly models = new Table(ModelCatalogEntry, 'Model');
  private readonly routes = new Table(InferenceRoute, 'Route');

  constructor(
    private readonly settings: InferenceSettings,
    private readonly audit: Audit,
  ) {}

  /**
   * @param owner an organization; null: the platform
   * @throws DomainError 409 `model_conflict`; 422 `unknown_reference`, `kind_not_served`, `replacement_cycle`
   */
  async add(tx: Tx, by: By, owner: string | null, input: NewModel): Promise<ModelRow> {
    const sort_order = input.sort_order ?? (await this.lastPlace(tx, owner));
    const wish = { id: uuidv7(), owner_org_id: owner, kind: 'chat' as const, replacement_model_id: null, ...columnsOf(input), sort_order };
    await this.assertPlace(tx, wish, wish);
    const model = await refusingModelConflict(this.models.insert(tx, wish));
    await this.record(tx, by, 'model.created', model, { key: model.key, route_id: model.route_id });
    return model;
  }

  /** @throws DomainError 409 `model_conflict`, `model_in_use` for another kind while it replaces another; 422 `unknown_reference`, `kind_not_served`, `replacement_cycle` */
  async save(tx: Tx, by: By, model: ModelRow, changes: ModelChanges): Promise<ModelRow> {
    if (changes.kind !== undefined) await this.refuseReplacing(tx, model);
    await this.assertPlace(tx, { ...model, ...changes }, changes);
    const after = (await refusingModelConflict(this.models.update(tx, model.id, changes)))!;
    await this.record(tx, by, 'model.updated', model, { changes });
    return after;
  }

  async savePrices(tx: Tx, by: By, model: ModelRow, changes: ModelChanges): Promise<ModelRow> {
    const after = (await this.models.update(tx, model.id, changes))!;
    await this.record(tx, by, 'model.price_synced', model, { changes });
    return after;
  }

  /** @throws DomainError 409 `model_in_use` while it replaces another */
  async remove(tx: Tx, by: By, model: ModelRow): Promise<void> {
    await this.refuseReplacing(tx, model);
    await this.models.delete(tx, model.id);
    await this.record(tx, by, 'model.deleted', model, { key: model.key });
  }

  /** Behind all others: where nobody chose a model the first one that works is taken, which a new one shall not become by itself. */
  private async lastPlace(tx: Tx, owner: string | null): Promise<number> {
    let last = 0;
    for (const owner_org_id of new Set([null, owner])) {
      const [model] = await this.models.list(tx, { owner_org_id }, { sort_order: 'DESC' }, 1);
      last = Math.max(last, model?.sort_order ?? 0);
    }
    return Math.min(last + 10, 2_147_483_647);
  }

  async view(tx: Tx, model: ModelRow, pinned: boolean): Promise<ModelView> {
    const { id, slug } = (await this.routes.find(tx, model.route_id))!;
    return { ...model, route: { id, slug }, pinned };
  }

  /** That its route is its owner's and serves it, and that what would replace it can. */
  private async assertPlace(
    tx: Tx,
    model: Pick<ModelRow, 'id' | 'owner_org_id' | 'key' | 'kind' | 'route_id' | 'replacement_model_id'>,
    changes: ModelChanges,
  ): Promise<void> {
    const { owner_org_id, route_id } = model;
    if (changes.route_id !== undefined || changes.kind !== undefined) {
      const routes = await this.routes.list(tx, { owner_org_id }, { sort_order: 'ASC', slug: 'ASC' });
      const route = routes.find(({ id }) => id === route_id);
      if (!route) throw refuseUnknown('route_id', 'There is no such route here.', routes, ({ slug }) => slug);
      assertServes(route, [model], [changes.kind === undefined ? 'route_id' : 'kind']);
    }
    if (changes.replacement_model_id !== undefined || changes.kind !== undefined)
      assertSuccessor(model, await this.models.list(tx, { owner_org_id }, { sort_order: 'ASC', key: 'ASC' }));
  }

  private async refuseReplacing(tx: Tx, model: ModelRow): Promise<void> {
    const replaced = await this.models.list(tx, { replacement_model_id: model.id }, { key: 'ASC' });
    refuseUsed(replaced.map(({ id, key }) => ({ kind: 'replaced_model', id, name: key })));
  }

  private async record(tx: Tx, by: By, action: string, { id, owner_org_id }: ModelRow, facts: Record<string, unknown>): Promise<void> {
    await this.audit.record(tx, by, action, id, facts);
    this.settings.announce(tx, 'route.changed', owner_org_id);
  }
}
