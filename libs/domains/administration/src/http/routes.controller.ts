import { Body, Controller, Delete, Get, Param, Patch, Post, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  CreateRouteRequest,
  InferenceRouteResponse,
  PinnedModel,
  PinnedOffering,
  PlatformRouteKeysResponse,
  PutRouteKeyRequest,
  RepointRouteRequest,
  RepointRouteResponse,
  RoutePinsResponse,
  UpdateRouteRequest,
} from '@aps/dtos';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { PlatformRoutesService, RepointService, RouteKeysService, RoutePinsQueries } from '@aps/inference';
import { answer, Operation } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';

@ApiTags('Administration: AI')
@Controller('/api/admin/ai/routes')
@PlatformAdmin()
export class AdminRoutesController {
  constructor(
    private readonly routes: PlatformRoutesService,
    private readonly pinned: RoutePinsQueries,
    private readonly repoints: RepointService,
  ) {}

  @Get()
  @Operation({
    summary: 'List the routes',
    description: 'In display order, those of organizations too.',
    answers: [InferenceRouteResponse],
  })
  async list() {
    return (await this.routes.list()).map((route) => answer(InferenceRouteResponse, route));
  }

  @Post()
  @Idempotent()
  @Operation({
    summary: 'Add a route',
    answers: InferenceRouteResponse,
    refuses: ['slug_taken', 'unknown_reference', 'borrowing_chain'],
  })
  async create(@CurrentOperator() operator: ActingUser, @Body() body: CreateRouteRequest) {
    return answer(InferenceRouteResponse, await this.routes.create(operator, body));
  }

  @Get(':route_id')
  @Operation({ summary: 'Get a route', answers: InferenceRouteResponse })
  async get(@Param('route_id') routeId: string) {
    return answer(InferenceRouteResponse, await this.routes.get(routeId));
  }

  @Patch(':route_id')
  @Operation({
    summary: 'Change a route',
    description:
      'Turns that start afterwards follow it. It cannot be disabled while anything is pinned to it. An organization’s route can only be switched here, whatever is on it.',
    answers: InferenceRouteResponse,
    refuses: ['route_pinned', 'kind_not_served', 'unknown_reference', 'borrowing_chain', 'organization_owned'],
  })
  async update(@CurrentOperator() operator: ActingUser, @Param('route_id') routeId: string, @Body() body: UpdateRouteRequest) {
    return answer(InferenceRouteResponse, await this.routes.update(operator, routeId, body));
  }

  @Delete(':route_id')
  @Operation({
    summary: 'Delete a route',
    description: 'With its keys, those of organizations too. No model may be on it, and no other route spend its key.',
    refuses: ['route_lends_key', 'route_in_use', 'organization_owned'],
  })
  async remove(@CurrentOperator() operator: ActingUser, @Param('route_id') routeId: string) {
    await this.routes.delete(operator, routeId);
  }

  @Get(':route_id/pins')
  @Operation({ summary: 'See what is pinned to a route', description: 'Nothing is changed.', answers: RoutePinsResponse })
  async pins(@Param('route_id') routeId: string) {
    const { catalog, org_offerings, ...pins } = await this.pinned.of(routeId);
    return answer(RoutePinsResponse, pins, {
      catalog: catalog.map((model) => answer(PinnedModel, model)),
      org_offerings: org_offerings.map((model) => answer(PinnedOffering, model, { owner_org_id: model.owner_org_id! })),
    });
  }

  @Post(':route_id/repoint')
  @Idempotent()
  @Operation({
    summary: 'Move what is on a route to another',
    description:
      'Models move, and with them what names their keys; those of organizations stay. Where the target has a key already, its model takes the place of the other.',
    status: 200,
    answers: RepointRouteResponse,
    refuses: ['repoint_target', 'kind_not_served', 'replacement_cycle'],
  })
  repoint(@CurrentOperator() operator: ActingUser, @Param('route_id') routeId: string, @Body() body: RepointRouteRequest) {
    return this.repoints.repoint(operator, routeId, body.target_route_id);
  }
}

@ApiTags('Administration: AI')
@Controller('/api/admin/ai/route-keys')
@PlatformAdmin()
export class AdminRouteKeysController {
  constructor(private readonly keys: RouteKeysService) {}

  @Get()
  @Operation({
    summary: 'See which keys routes spend',
    description: 'Masked. A stored key that cannot be read any more is still set, and another one is spent.',
    answers: PlatformRouteKeysResponse,
  })
  async list() {
    return { items: await this.keys.list() };
  }

  @Put(':route_id')
  @Operation({
    summary: 'Store or clear the key of a route',
    description: 'Calls that start afterwards spend it. Without a stored key, that of the environment is spent.',
    answers: PlatformRouteKeysResponse,
    refuses: ['masked_secret', 'route_borrows_key'],
  })
  async put(@CurrentOperator() operator: ActingUser, @Param('route_id') routeId: string, @Body() { api_key }: PutRouteKeyRequest) {
    return { items: await this.keys.put(operator, routeId, api_key || null) };
  }
}
