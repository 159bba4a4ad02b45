import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { Database } from '@aps/platform/database';
import type { CatalogView } from '../choice/catalog-view';
import { environmentKeys } from '../inference.config';
import { InferenceError, type InferenceErrorCode } from '../inference.errors';
import { InferenceSettings } from '../inference.settings';
import { MODEL_SCOPES, type ChooseRequest } from '../inference.types';
import { ModelResolver } from '../choice/model-resolver.service';
import { ModelUsers } from './model-users';
import { SECRET_SETTINGS } from './provider-settings.policy';
import { chooseModel } from '../choice/resolution.policy';
import type { StoredKey } from '../choice/route-access.policy';

/** Users of models that are looked at to find which models an organization's things name. */
const USERS_AT_MOST = 1_000;

/** A model that cannot be called now. */
export interface ModelFault {
  code: InferenceErrorCode;
  /** Its key; or the use for which none can be found. */
  ref: string;
  /** Fit for a user. */
  message: string;
}

/** Whether an organization's calls can be made. Calls nothing. */
@Injectable()
export class ModelHealthQueries {
  constructor(
    private readonly db: Database,
    private readonly settings: InferenceSettings,
    private readonly resolver: ModelResolver,
    private readonly users: ModelUsers,
    private readonly entitlements: Entitlements,
  ) {}

  /** What keeps its default models, and those that its agents, prompt templates and inboxes name, from being called. */
  async faults(orgId: string): Promise<ModelFault[]> {
    const [view, rules] = [await this.settings.view(orgId), await this.resolver.rules(orgId)];
    const faults = new Map<string, ModelFault>();
    const inCredits = await this.entitlements.has(orgId, 'enforces_credits');
    const unpriced = (key: string) => {
      const message = `The model ${key} has no price, so chats that take it are archived before its first call.`;
      faults.set(message, { code: 'model_unavailable', ref: key, message });
    };
    const attempt = (ref: string, request: ChooseRequest) => {
      try {
        const { entry, priced } = chooseModel(view, request, rules);
        if (!priced && inCredits) unpriced(entry.key);
      } catch (error) {
        if (!(error instanceof InferenceError)) throw error;
        // One model that is the default of many uses is one fault.
        if (!faults.has(error.message)) faults.set(error.message, { code: error.code, ref, message: error.message });
      }
    };
    const keys = [...new Set([...view.platform.entries, ...view.org.entries].map(({ key }) => key))];
    const named = new Set((await this.users.naming(this.db, keys, USERS_AT_MOST, orgId)).map(({ model_key }) => model_key));
    for (const key of named) attempt(key, { scope: 'agent', requested: { agentModel: key } });
    for (const scope of MODEL_SCOPES) attempt(scope, { scope });
    return [...faults.values()];
  }

  /** Stored keys that would be spent and cannot be opened any more: the organization's, by route or setting, and those of the platform's routes. */
  async unreadableKeys(orgId: string): Promise<{ owner: 'organization' | 'platform'; ref: string }[]> {
    const [view, { byoKeys }] = [await this.settings.view(orgId), await this.resolver.rules(orgId)];
    const unreadable: { owner: 'organization' | 'platform'; ref: string }[] = [];
    for (const { key, ref } of [...(byoKeys ? ownKeys(view) : []), ...platformKeys(view)])
      if ((await this.settings.key(view, key)) === null)
        unreadable.push({ owner: key.from === 'platform' ? 'platform' : 'organization', ref });
    return unreadable;
  }
}

const slugOf = (view: CatalogView, routeId: string) => view.route(routeId)?.slug ?? routeId;

function* ownKeys(view: CatalogView): Generator<{ key: StoredKey; ref: string }> {
  for (const { route_id: routeId, api_key: sealed } of view.org.routeSettings.values())
    if (sealed !== null) yield { key: { from: 'organization', routeId, sealed }, ref: slugOf(view, routeId) };
  for (const setting of SECRET_SETTINGS) {
    const sealed = view.org.settings[setting];
    if (sealed !== null) yield { key: { from: 'settings', setting, sealed }, ref: setting };
  }
}

/** Behind one that cannot be opened that of the environment is spent, where there is one. */
function* platformKeys(view: CatalogView): Generator<{ key: StoredKey; ref: string }> {
  for (const [routeId, sealed] of view.platform.keys) {
    const ref = slugOf(view, routeId);
    if (!environmentKeys(ref).length) yield { key: { from: 'platform', routeId, sealed }, ref };
  }
}
