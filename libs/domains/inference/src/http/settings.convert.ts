import { OrgLimitsResponse, type OrgLimitsUsageResponse, type OrgRouteSetting, OrgRuntimeSettingsResponse } from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { OrgLimitsView, OrgSpend } from '../org-limits.service';
import type { RouteSettingView } from '../org-routes.service';
import type { RuntimeView } from '../org-runtime.service';
import { plain } from '../pricing';

export function toOrgLimits(view: OrgLimitsView): OrgLimitsResponse {
  return answer(OrgLimitsResponse, view, {
    affected_agents: view.affected_agents.map(({ id, name, model }) => ({ id, name, model })),
  });
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
  return answer(OrgRuntimeSettingsResponse, view);
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
