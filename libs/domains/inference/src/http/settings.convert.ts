import { OrgLimitsResponse, OrgLimitsUsageResponse, OrgRouteSetting, OrgRuntimeSettingsResponse } from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { OrgLimitsView, OrgSpend } from '../governance/org-limits.service';
import type { RouteSettingView } from '../governance/org-routes.service';
import type { RuntimeView } from '../governance/org-runtime.service';

export function toOrgLimits(view: OrgLimitsView): OrgLimitsResponse {
  return answer(OrgLimitsResponse, view, {
    affected_agents: view.affected_agents.map(({ id, name, model }) => ({ id, name, model })),
  });
}

export function toOrgSpend(spend: OrgSpend): OrgLimitsUsageResponse {
  return answer(OrgLimitsUsageResponse, spend);
}

export function toOrgRuntime(view: RuntimeView): OrgRuntimeSettingsResponse {
  return answer(OrgRuntimeSettingsResponse, view);
}

export function toRouteSetting({ route, setting, ...view }: RouteSettingView): OrgRouteSetting {
  const { enabled, credential_source, base_url } = setting;
  return answer(
    OrgRouteSetting,
    { ...route, ...view, enabled, credential_source, base_url },
    { route_id: route.id, owned: route.owner_org_id !== null },
  );
}
