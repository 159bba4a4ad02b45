import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  AIProviderSettingsResponse,
  OrgLimitsResponse,
  OrgLimitsUsageResponse,
  OrgRouteSettingsResponse,
  OrgRuntimeSettingsResponse,
  UpdateAIProviderSettingsRequest,
  UpdateOrgLimitsRequest,
  UpdateOrgRoutesRequest,
  UpdateOrgRuntimeRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgScope } from '@aps/guards';
import { answer, Operation } from '@aps/platform/http';
import { OrgLimitsService } from '../governance/org-limits.service';
import { OrgProvidersService } from '../governance/org-providers.service';
import { OrgRoutesService } from '../governance/org-routes.service';
import { OrgRuntimeService } from '../governance/org-runtime.service';
import { toOrgLimits, toOrgRuntime, toOrgSpend, toRouteSetting } from './settings.convert';

@ApiTags('Organization AI settings')
@Controller('api/orgs/:org_id/settings')
@OrgAdmin('settings')
export class InferenceSettingsController {
  constructor(
    private readonly providers: OrgProvidersService,
    private readonly routes: OrgRoutesService,
    private readonly limits: OrgLimitsService,
    private readonly runtime: OrgRuntimeService,
  ) {}

  @Get('ai')
  @Operation({
    summary: 'Get the settings of providers and the AI gateway',
    description: 'Secrets are masked.',
    answers: AIProviderSettingsResponse,
  })
  async getProviders(@CurrentOrg() scope: OrgScope) {
    return answer(AIProviderSettingsResponse, await this.providers.get(scope));
  }

  @Patch('ai')
  @Operation({
    summary: 'Set own keys of providers and the AI gateway',
    description:
      'Holds from the next call on. Setting needs `byo_keys`; clearing does not, nor does switching a provider on and off. The mode `custom` is judged by what is set afterwards.',
    answers: AIProviderSettingsResponse,
    refuses: ['entitlement_required', 'base_url_needs_own_key', 'gateway_incomplete', 'masked_secret'],
  })
  async updateProviders(@CurrentOrg() scope: OrgScope, @Body() body: UpdateAIProviderSettingsRequest) {
    return answer(AIProviderSettingsResponse, await this.providers.update(scope, body));
  }

  @Get('ai/routes')
  @Operation({ summary: 'Get the settings of all routes', description: 'Keys are masked.', answers: OrgRouteSettingsResponse })
  async getRoutes(@CurrentOrg() scope: OrgScope): Promise<OrgRouteSettingsResponse> {
    return { items: (await this.routes.list(scope)).map(toRouteSetting) };
  }

  @Patch('ai/routes')
  @Operation({
    summary: 'Set keys, addresses and switches of routes',
    description: 'Changes all that is listed, or nothing.',
    answers: OrgRouteSettingsResponse,
    refuses: ['entitlement_required', 'base_url_needs_own_key', 'masked_secret', 'route_borrows_key', 'unknown_reference'],
  })
  async updateRoutes(@CurrentOrg() scope: OrgScope, @Body() body: UpdateOrgRoutesRequest): Promise<OrgRouteSettingsResponse> {
    return { items: (await this.routes.update(scope, body.routes)).map(toRouteSetting) };
  }

  @Get('limits')
  @Operation({
    summary: 'Get default models, allowlists and the budget',
    description: 'As stored, even where the plan would refuse it now.',
    answers: OrgLimitsResponse,
  })
  async getLimits(@CurrentOrg() scope: OrgScope) {
    return toOrgLimits(await this.limits.get(scope));
  }

  @Patch('limits')
  @Operation({
    summary: 'Set default models, allowlists and the budget',
    description:
      'Setting models needs `direct_model_choice`; a budget needs a plan that does not pay in credits. Clearing is always allowed.',
    answers: OrgLimitsResponse,
    refuses: ['entitlement_required', 'allowlist_needs_default', 'model_unknown'],
  })
  async updateLimits(@CurrentOrg() scope: OrgScope, @Body() body: UpdateOrgLimitsRequest) {
    return toOrgLimits(await this.limits.update(scope, body));
  }

  @Get('limits/usage')
  @Operation({ summary: 'Get what was spent this month', answers: OrgLimitsUsageResponse })
  async getUsage(@CurrentOrg() scope: OrgScope) {
    return toOrgSpend(await this.limits.spend(scope));
  }

  @Get('runtime')
  @Operation({ summary: 'Get how turns run', answers: OrgRuntimeSettingsResponse })
  async getRuntime(@CurrentOrg() scope: OrgScope) {
    return toOrgRuntime(await this.runtime.get(scope));
  }

  @Patch('runtime')
  @Operation({
    summary: 'Set how turns run',
    description: 'Holds from the start of the next turn.',
    answers: OrgRuntimeSettingsResponse,
    refuses: ['entitlement_required'],
  })
  async updateRuntime(@CurrentOrg() scope: OrgScope, @Body() body: UpdateOrgRuntimeRequest) {
    return toOrgRuntime(await this.runtime.update(scope, body));
  }
}
