import { Injectable } from '@nestjs/common';
import { notFound, refuseField } from '@aps/contracts';
import { InferenceRoute, ModelCatalogEntry } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, Table } from '@aps/platform/database';
import { In } from 'typeorm';
import { assertServes } from './catalog.policy';
import { GovernanceRepository, type ModelRow, type RouteRow } from './governance.repository';
import { InferenceRepository } from '../inference.repository';
import { InferenceSettings } from '../inference.settings';
import { ModelUsers } from './model-users';
import { assertReplacement } from '../choice/replacement.policy';
import { pinnedBy } from './route-pins.queries';

export interface Repointed {
  /** How many of each are on the target now; all but the models name their keys, and go with them. */
  moved: { catalog: number; prompt_templates: number; mode_presets: number; feature_models: number };
  /** Keys that the target had already: its models stay, and those of the source are gone. */
  merged: { key: string; id: string }[];
  /** Models of organizations, which stay on the source. */
  left: { org_offerings: number };
}

/** Moves what is on one route to another. */
@Injectable()
export class RepointService {
  private readonly routes = new Table(InferenceRoute, 'Route');
  private readonly models = new Table(ModelCatalogEntry, 'Model');

  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly governance: GovernanceRepository,
    private readonly users: ModelUsers,
    private readonly settings: InferenceSettings,
    private readonly audit: Audit,
  ) {}

  /**
   * All of it or nothing. What names a model names its key, and so needs no write of its own. Where the target has the key, its model
   * takes the place of the source's: it is enabled if that was, and replaces what that replaced.
   *
   * @throws DomainError 404 for either route; 422 `repoint_target`, `kind_not_served`, `replacement_cycle`
   */
  async repoint(operator: ActingUser, sourceId: string, targetId: string): Promise<Repointed> {
    return this.db.transaction(operator, async (tx) => {
      const platform = await this.repository.lockPlatformSettings(tx);
      const routes = await this.routes.list(tx, { id: In([sourceId, targetId]) }, { slug: 'ASC' });
      const [source, target] = [sourceId, targetId.toLowerCase()].map((id) => routes.find((route) => route.id === id));
      if (!source) throw notFound('Route');
      if (!target) throw notFound('Target route');
      assertTarget(source, target);
      const locked = await this.governance.lockModelsOn(tx, [source.id, target.id]);
      const leaving = locked.filter((m) => m.route_id === source.id && m.owner_org_id === null);
      assertServes(target, leaving, ['target_route_id']);

      const there = new Map(locked.filter((m) => m.route_id === target.id).map((m) => [m.key, m]));
      const merges = leaving.some(({ key }) => there.has(key));
      const all = merges ? await this.models.list(tx, {}, { sort_order: 'ASC', key: 'ASC', id: 'ASC' }) : [];
      const { moving, merged, replacements } = plan(leaving, there, all);
      if (replacements.size) await this.governance.replace(tx, replacements);
      await this.models.delete(tx, among(merged.map(({ from }) => from)));
      await this.models.update(tx, among(merged.filter(({ from, to }) => from.enabled && !to.enabled).map(({ to }) => to)), {
        enabled: true,
      });
      await this.models.update(tx, among(moving), { route_id: target.id });

      const keys = leaving.filter((m) => m.enabled).map(({ key }) => key);
      const { mode_presets, feature_models } = pinnedBy(platform, keys);
      const templates = await this.users.templatesCounted(tx, keys);
      const result: Repointed = {
        moved: {
          catalog: moving.length,
          prompt_templates: [...templates.values()].reduce((sum, n) => sum + n, 0),
          mode_presets: mode_presets.length,
          feature_models: feature_models.length,
        },
        merged: merged.map(({ to }) => ({ key: to.key, id: to.id })),
        left: { org_offerings: locked.filter((m) => m.route_id === source.id && m.owner_org_id !== null).length },
      };
      if (leaving.length) {
        const facts = { target_route_id: target.id, ...result };
        await this.audit.record(tx, operator, 'inference_route.repointed', source.id, facts);
        this.settings.announce(tx, 'route.changed', null);
      }
      return result;
    });
  }
}

/** What moves, what is merged into which, and what each model is followed by then. @param all the models that are to be looked at for that, where any is merged */
function plan(leaving: ModelRow[], there: ReadonlyMap<string, ModelRow>, all: ModelRow[]) {
  const merged = leaving.flatMap((from) => {
    const to = there.get(from.key);
    return to ? [{ from, to }] : [];
  });
  const instead = new Map(merged.map(({ from, to }) => [from.id, to.id]));
  // What the target's model followed was the source's: it goes on to what that one was followed by.
  const successor = new Map(
    merged.map(({ from, to }) => [to.id, to.replacement_model_id === from.id ? from.replacement_model_id : to.replacement_model_id]),
  );
  const after = new Map(
    all
      .filter(({ id }) => !instead.has(id))
      .map(({ id, replacement_model_id }) => {
        const next = successor.has(id) ? successor.get(id)! : replacement_model_id;
        return [id, { id, replacement_model_id: next && (instead.get(next) ?? next) }];
      }),
  );
  const changed = all.filter(
    ({ id, replacement_model_id }) => after.has(id) && after.get(id)!.replacement_model_id !== replacement_model_id,
  );
  for (const { id } of changed) assertReplacement(id, after.get(id)!.replacement_model_id, [...after.values()]);
  return {
    merged,
    moving: leaving.filter(({ id }) => !instead.has(id)),
    replacements: new Map(changed.map(({ id }) => [id, after.get(id)!.replacement_model_id])),
  };
}

const among = (models: ModelRow[]) => ({ id: In(models.map(({ id }) => id)) });

function assertTarget(source: RouteRow, target: RouteRow): void {
  const refuse = (msg: string) => refuseField('repoint_target', ['target_route_id'], msg);
  if (target.id === source.id) throw refuse('The target is the route itself.');
  if (target.owner_org_id !== null) throw refuse('The target belongs to an organization.');
  if (!target.enabled) throw refuse('The target is disabled.');
}
