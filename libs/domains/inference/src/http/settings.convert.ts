import type { OrgLimitsResponse, OrgLimitsUsageResponse, OrgRouteSetting, OrgRuntimeSettingsResponse } from '@aps/dtos';
import type { OrgLimitsView, OrgSpend } from '../org-limits.service';
import type { RouteSettingView } from '../org-routes.service';
import type { RuntimeView } from '../org-runtime.service';
import { plain } from '../pricing';

export function toOrgLimits(view: OrgLimitsView): OrgLimitsResponse {
  return {
    agent_default_model: view.agent_default_model,
    agent_model_allowlist: view.agent_model_allowlist,
    budget_limit_usd: plain(view.budget_limit_usd),
    chat_default_model: view.chat_default_model,
    chat_model_allowlist: view.chat_model_allowlist,
    intake_classifier_default_model: view.intake_classifier_default_model,
    process_default_model: view.process_default_model,
    prompt_model_allowlist: view.prompt_model_allowlist,
    tool_router_default_model: view.tool_router_default_model,
    affected_agents: view.affected_agents.map(({ id, name, model }) => ({ id, name, model })),
  };
}

export function toOrgSpend(spend: OrgSpend): OrgLimitsUsageResponse {
  return {
    ...spend,
    budget_limit_usd: plain(spend.budget_limit_usd),
    period_start: spend.period_start.toISOString(),
    period_end: spend.period_end.toISOString(),
  };
}

export function toOrgRuntime(view: RuntimeView): OrgRuntimeSettingsResponse {
  return {
    compaction_enabled: view.compaction_enabled,
    compaction_threshold: view.compaction_threshold,
    decision_log_enabled: view.decision_log_enabled,
    thinking_enabled: view.thinking_enabled,
    platform_defaults: view.platform_defaults,
  };
}

export function toRouteSetting({ route, setting, ...view }: RouteSettingView): OrgRouteSetting {
  return {
    slug: route.slug,
    route_id: route.id,
    label: route.label,
    dialect: route.dialect,
    platform_enabled: view.platform_enabled,
    enabled: setting.enabled,
    credential_source: setting.credential_source,
    api_key: view.api_key,
    is_set: view.is_set,
    base_url: setting.base_url,
    borrows_from: view.borrows_from,
    owned: route.owner_org_id !== null,
  };
}
