import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import {
  OrgLimitsResponse,
  OrgLimitsUsageResponse,
  OrgRouteSettingsResponse,
  OrgRuntimeSettingsResponse,
  UpdateOrgLimitsRequest,
  UpdateOrgRoutesRequest,
  UpdateOrgRuntimeRequest,
} from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgScope } from '@aps/guards';
import { OrgLimitsService } from '../org-limits.service';
import { OrgRoutesService } from '../org-routes.service';
import { OrgRuntimeService } from '../org-runtime.service';
import { toOrgLimits, toOrgRuntime, toOrgSpend, toRouteSetting } from './settings.convert';

@ApiTags('Organization AI settings')
@ApiParam({ name: 'org_id', description: 'The organization.' })
@Controller('api/orgs/:org_id/settings')
export class InferenceSettingsController {
  constructor(
    private readonly routes: OrgRoutesService,
    private readonly limits: OrgLimitsService,
    private readonly runtime: OrgRuntimeService,
  ) {}

  @Get('ai/routes')
  @OrgAdmin('settings')
  @ApiOperation({ summary: 'Get the settings of all routes', description: 'Keys are masked.' })
  @ApiOkResponse({ type: OrgRouteSettingsResponse })
  async getRoutes(@CurrentOrg() scope: OrgScope): Promise<OrgRouteSettingsResponse> {
    return { items: (await this.routes.list(scope)).map(toRouteSetting) };
  }

  @Patch('ai/routes')
  @OrgAdmin('settings')
  @ApiOperation({ summary: 'Set keys, addresses and switches of routes', description: 'Changes all that is listed, or nothing.' })
  @ApiOkResponse({ type: OrgRouteSettingsResponse })
  async updateRoutes(@CurrentOrg() scope: OrgScope, @Body() body: UpdateOrgRoutesRequest): Promise<OrgRouteSettingsResponse> {
    return { items: (await this.routes.update(scope, body.routes)).map(toRouteSetting) };
  }

  @Get('limits')
  @OrgAdmin('settings')
  @ApiOperation({
    summary: 'Get default models, allowlists and the budget',
    description: 'As stored, even where the plan would refuse it now.',
  })
  @ApiOkResponse({ type: OrgLimitsResponse })
  async getLimits(@CurrentOrg() scope: OrgScope): Promise<OrgLimitsResponse> {
    return toOrgLimits(await this.limits.get(scope));
  }

  @Patch('limits')
  @OrgAdmin('settings')
  @ApiOperation({
    summary: 'Set default models, allowlists and the budget',
    description:
      'Setting models needs `direct_model_choice`; a budget needs a plan that does not pay in credits. Clearing is always allowed.',
  })
  @ApiOkResponse({ type: OrgLimitsResponse })
  async updateLimits(@CurrentOrg() scope: OrgScope, @Body() body: UpdateOrgLimitsRequest): Promise<OrgLimitsResponse> {
    return toOrgLimits(await this.limits.update(scope, body));
  }

  @Get('limits/usage')
  @OrgAdmin('settings')
  @ApiOperation({ summary: 'Get what was spent this month' })
  @ApiOkResponse({ type: OrgLimitsUsageResponse })
  async getUsage(@CurrentOrg() scope: OrgScope): Promise<OrgLimitsUsageResponse> {
    return toOrgSpend(await this.limits.spend(scope));
  }

  @Get('runtime')
  @OrgAdmin('settings')
  @ApiOperation({ summary: 'Get how turns run' })
  @ApiOkResponse({ type: OrgRuntimeSettingsResponse })
  async getRuntime(@CurrentOrg() scope: OrgScope): Promise<OrgRuntimeSettingsResponse> {
    return toOrgRuntime(await this.runtime.get(scope));
  }

  @Patch('runtime')
  @OrgAdmin('settings')
  @ApiOperation({ summary: 'Set how turns run', description: 'Holds from the start of the next turn.' })
  @ApiOkResponse({ type: OrgRuntimeSettingsResponse })
  async updateRuntime(@CurrentOrg() scope: OrgScope, @Body() body: UpdateOrgRuntimeRequest): Promise<OrgRuntimeSettingsResponse> {
    return toOrgRuntime(await this.runtime.update(scope, body));
  }
}
