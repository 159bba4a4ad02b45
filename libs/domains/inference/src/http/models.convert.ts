import type { ModelMode } from '@aps/contracts';
import {
  ModelCatalogEntryResponse,
  ModelConfigResponse,
  ModelModeItem,
  ModelResponse,
  PriceTierResponse,
  type OrgModelResponse,
} from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { ModelView } from '../governance/catalog-writer';
import type { ListedModel, ModelConfig, ModelModeView, OrgModel } from '../model.queries';

export function toModel({ entry, route, showPrices }: ListedModel): ModelResponse {
  return answer(ModelResponse, showPrices ? entry : { ...entry, ...NO_PRICES }, {
    route: { id: route.id, slug: route.slug },
    allowed_efforts: entry.allowed_efforts as ModelResponse['allowed_efforts'],
  });
}

const NO_PRICES = {
  input_price_per_1m: null,
  output_price_per_1m: null,
  cached_input_price_per_1m: null,
  cache_write_price_per_1m: null,
};

export function toOrgModel(model: OrgModel): OrgModelResponse {
  const { available, scopes } = model;
  return { ...toModel(model), enabled: model.entry.enabled, available, scopes: scopes as OrgModelResponse['scopes'] };
}

const MODES: Record<ModelMode, { label: string; description: string }> = {
  trivial: { label: 'Trivial', description: 'Quick and cheap, for simple requests.' },
  normal: { label: 'Normal', description: 'The everyday balance of quality and cost.' },
  high_effort: { label: 'High effort', description: 'Thinks longer, for demanding work.' },
  x_high: { label: 'Extra high', description: 'The best there is, for the hardest problems.' },
};

export const toModelMode = (view: ModelModeView): ModelModeItem => answer(ModelModeItem, view, MODES[view.mode]);

export const toModelConfig = (config: ModelConfig): ModelConfigResponse => answer(ModelConfigResponse, config);

export const toCatalogEntry = (model: ModelView): ModelCatalogEntryResponse =>
  answer(ModelCatalogEntryResponse, model, {
    allowed_efforts: model.allowed_efforts as ModelCatalogEntryResponse['allowed_efforts'],
    price_tiers: model.price_tiers.map((tier) => answer(PriceTierResponse, tier)),
  });

/** @param hideDollars the organization pays in credits: what it has set is charged by, and not shown */
export const toOwnEntry = (model: ModelView, hideDollars: boolean): ModelCatalogEntryResponse =>
  toCatalogEntry(hideDollars ? { ...model, ...NO_PRICES, price_tiers: [] } : model);
