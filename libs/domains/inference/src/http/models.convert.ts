import type { ModelConfigResponse, ModelModeItem, ModelResponse, OrgModelResponse } from '@aps/dtos';
import type { ModelMode } from '../inference.types';
import type { ListedModel, ModelConfig, ModelModeView, OrgModel } from '../model.queries';
import { plain } from '../pricing';

export function toModel({ entry: e, route, showPrices }: ListedModel): ModelResponse {
  const price = (value: string | null) => (showPrices ? plain(value) : null);
  return {
    id: e.id,
    key: e.key,
    label: e.label,
    provider: e.provider,
    kind: e.kind,
    route: { id: route.id, slug: route.slug },
    owner_org_id: e.owner_org_id,
    deprecated: e.deprecated,
    sort_order: e.sort_order,
    context_window: e.context_window,
    max_output_tokens: e.max_output_tokens,
    allowed_efforts: e.allowed_efforts as ModelResponse['allowed_efforts'],
    cost_tier: e.cost_tier,
    supports_reasoning: e.supports_reasoning,
    supports_vision: e.supports_vision,
    input_price_per_1m: price(e.input_price_per_1m),
    output_price_per_1m: price(e.output_price_per_1m),
    cached_input_price_per_1m: price(e.cached_input_price_per_1m),
    cache_write_price_per_1m: price(e.cache_write_price_per_1m),
  };
}

export function toOrgModel(model: OrgModel): OrgModelResponse {
  return { ...toModel(model), available: model.available, scopes: model.scopes as OrgModelResponse['scopes'] };
}

const MODES: Record<ModelMode, { label: string; description: string }> = {
  trivial: { label: 'Trivial', description: 'Quick and cheap, for simple requests.' },
  normal: { label: 'Normal', description: 'The everyday balance of quality and cost.' },
  high_effort: { label: 'High effort', description: 'Thinks longer, for demanding work.' },
  x_high: { label: 'Extra high', description: 'The best there is, for the hardest problems.' },
};

export const toModelMode = (view: ModelModeView): ModelModeItem => ({
  mode: view.mode,
  ...MODES[view.mode],
  credit_ratio: view.credit_ratio,
  available: view.available,
});

export const toModelConfig = ({ scopes, disabled_providers, model_routes }: ModelConfig): ModelConfigResponse => ({
  scopes,
  disabled_providers,
  model_routes,
});
