import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { DomainError } from '@aps/contracts';
import { CatalogView, NO_ORG_SETTINGS } from './catalog-view';
import type { Endpoint } from '../client';
import { inferenceConfig } from '../inference.config';
import { InferenceError, requireCallable } from '../inference.errors';
import { InferenceSettings } from '../inference.settings';
import type { CatalogEntry, ChooseRequest, InferenceFeature, ModelChoice } from '../inference.types';
import { isPriced, withoutPrice } from '../pricing';
import { followReplacement } from './replacement.policy';
import { chooseModel, kindOf, type ResolutionRules } from './resolution.policy';
import { accessTo, type KeySource } from './route-access.policy';

export interface ResolveRequest extends ChooseRequest {
  orgId: string;
}

/** What opens a model: the provider's key, or headers for the gateway before it. */
export type Credential = Pick<Endpoint, 'apiKey' | 'headers'>;

/** Where a model answers. The credential is in no property that printing, copying or JSON would find. */
export class ModelEndpoint implements Endpoint {
  readonly #credential: Credential;

  constructor(
    readonly dialect: Endpoint['dialect'],
    readonly baseUrl: string,
    credential: Credential,
    /** An organization chose the address: calls go through the guard. */
    readonly tenantAddress: boolean,
  ) {
    this.#credential = credential;
  }

  get apiKey(): string | undefined {
    return this.#credential.apiKey;
  }

  get headers(): Record<string, string> | undefined {
    return this.#credential.headers;
  }
}

/** A model that can be called. */
export interface ResolvedModel extends ModelChoice {
  endpoint: ModelEndpoint;
  /** The provider's name of the model. */
  remote_model_id: string;
  /** The organization pays for it: its own key is spent, or what its gateway holds, or the route is its own, which may need no key. */
  byo_key: boolean;
}

const NO_ORG = { orgId: '', settings: NO_ORG_SETTINGS, routeSettings: new Map(), routes: new Map(), entries: [] };

/** Finds the model for a piece of work, and the key to call it with. */
@Injectable()
export class ModelResolver {
  constructor(
    private readonly settings: InferenceSettings,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * Nothing is called and nothing is written; in the common case no database is asked.
   *
   * @throws InferenceError `route_disabled`, `model_unavailable`, `provider_auth`
   */
  async resolve({ orgId, ...request }: ResolveRequest): Promise<ResolvedModel> {
    const [view, rules] = await Promise.all([this.settings.view(orgId), this.rules(orgId)]);
    const { choice, access, key } = await this.callable(view, request, rules);
    const credential =
      access.gateway && key ? { headers: gatewayHeaders(key.value, view.org.settings.ai_gateway_log_payloads) } : { apiKey: key?.value };
    return {
      ...choice,
      endpoint: new ModelEndpoint(choice.route.dialect, access.baseUrl, credential, access.tenantAddress),
      remote_model_id: choice.entry.remote_model_id ?? choice.entry.key,
      byo_key: key?.from === 'organization' || key?.from === 'settings' || choice.route.owner_org_id !== null,
    };
  }

  /** The same for somebody who can be told. @throws DomainError 422 `model_not_callable`, `model_not_priced` */
  async requireCallable(request: ResolveRequest): Promise<ResolvedModel> {
    const model = await requireCallable(this.resolve(request));
    const because = await this.unpricedBecause(request.orgId, model);
    if (because) throw new DomainError('model_not_priced', because);
    return model;
  }

  /** Why a model without a price may not be called for a person who can be told, whoever pays for it; null where that is no matter. */
  async unpricedBecause(orgId: string, { entry }: ResolvedModel): Promise<string | null> {
    return !isPriced(entry) && (await this.entitlements.has(orgId, 'enforces_credits')) ? withoutPrice(entry) : null;
  }

  /** What the name that the platform gives a feature stands for, for all organizations without models of their own; null where it is nothing that is on. */
  async platformModel(feature: InferenceFeature): Promise<CatalogEntry | null> {
    const platform = await this.settings.platformData();
    const view = new CatalogView(platform, NO_ORG);
    const row = view.named(platform.settings.feature_models[feature] ?? '', kindOf(feature));
    return (row && followReplacement(row, (id) => view.entry(id))) ?? null;
  }

  /** Where nobody chose, a model whose stored key cannot be read makes room for the next one. */
  private async callable(view: CatalogView, request: ChooseRequest, rules: ResolutionRules) {
    const without = new Set<string>();
    for (let unreadable: unknown; ;) {
      let choice: ModelChoice;
      try {
        choice = chooseModel(view, request, { ...rules, without });
      } catch (error) {
        throw unreadable ?? error;
      }
      const access = accessTo(view, choice.route, rules.byoKeys);
      try {
        return { choice, access, key: await this.firstKey(view, access.keys, choice.entry.key) };
      } catch (error) {
        if (choice.source !== 'automatic' || !(error instanceof InferenceError)) throw error;
        unreadable ??= error;
        without.add(choice.route.id);
      }
    }
  }

  /** What environment and plan say about choosing, for those who show the choice without making it. */
  async rules(orgId: string): Promise<ResolutionRules> {
    const { byo_keys } = await this.entitlements.of(orgId);
    const c = inferenceConfig.value;
    return {
      byoKeys: byo_keys,
      defaultModel: c.defaultModel ?? null,
      defaultEffort: c.defaultReasoningEffort ?? null,
      maxEffort: c.maxReasoningEffort ?? null,
      thinking: c.thinkingEnabled,
    };
  }

  private async firstKey(
    view: CatalogView,
    sources: KeySource[],
    model: string,
  ): Promise<{ from: KeySource['from']; value: string } | undefined> {
    for (const source of sources) {
      const value = await this.settings.key(view, source);
      if (value !== null) return { from: source.from, value };
    }
    if (sources.length)
      throw new InferenceError(
        'model_unavailable',
        `The model ${model} cannot be called: the stored key of its route cannot be read. Store it again.`,
      );
    return undefined;
  }
}

/** @param log null leaves it to what is set up at the gateway */
const gatewayHeaders = (token: string, log: 'true' | 'false' | null): Record<string, string> => ({
  'cf-aig-authorization': `Bearer ${token}`,
  ...(log && { 'cf-aig-collect-log': log }),
});
