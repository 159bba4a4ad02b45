import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateOrgInferenceRouteRequest, OrgInferenceRouteResponse, UpdateOrgInferenceRouteRequest } from '@aps/dtos';
import { CurrentOrg, OrgAdmin, OrgScope } from '@aps/guards';
import { answer, Operation, PageOf, PageQuery } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { OwnRoutesService, type OwnRouteView } from '../governance/own-routes.service';
import { pageOf } from './page-of';

const toOwnRoute = (route: OwnRouteView) => answer(OrgInferenceRouteResponse, route);

@ApiTags('Inference routes')
@Controller('api/orgs/:org_id/inference-routes')
@OrgAdmin('settings')
export class OwnRoutesController {
  constructor(private readonly routes: OwnRoutesService) {}

  @Get()
  @Operation({
    summary: 'List the routes of the organization’s own',
    description: 'In display order. Keys are masked.',
    answers: PageOf(OrgInferenceRouteResponse, 'OrgInferenceRouteListResponse'),
  })
  async list(@CurrentOrg() scope: OrgScope, @Query() query: PageQuery) {
    return pageOf(await this.routes.list(scope), query, toOwnRoute);
  }

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Add a route of the organization’s own',
    description: 'Needs `byo_keys`. Its key is set with those of all routes.',
    answers: OrgInferenceRouteResponse,
    refuses: ['entitlement_required', 'limit_reached', 'slug_taken'],
  })
  async create(@CurrentOrg() scope: OrgScope, @Body() body: CreateOrgInferenceRouteRequest) {
    return toOwnRoute(await this.routes.create(scope, body));
  }

  @Patch(':route_id')
  @Operation({
    summary: 'Change a route of the organization’s own',
    description: 'It may be switched off while models are on it; calls of theirs then fail.',
    answers: OrgInferenceRouteResponse,
  })
  async update(@CurrentOrg() scope: OrgScope, @Param('route_id') routeId: string, @Body() body: UpdateOrgInferenceRouteRequest) {
    return toOwnRoute(await this.routes.update(scope, routeId, body));
  }

  @Delete(':route_id')
  @Operation({
    summary: 'Delete a route of the organization’s own',
    description: 'Its key goes with it.',
    refuses: ['route_in_use'],
  })
  async remove(@CurrentOrg() scope: OrgScope, @Param('route_id') routeId: string) {
    await this.routes.delete(scope, routeId);
  }
}
