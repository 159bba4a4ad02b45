import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Entitlements } from '@aps/billing';
import {
  CreateModelRequest,
  ModelCatalogEntryResponse,
  ModelConfigResponse,
  ModelModesResponse,
  ModelResponse,
  OrgModelResponse,
  OrgModelsQuery,
  UpdateModelRequest,
} from '@aps/dtos';
import { CurrentOrg, CurrentPrincipal, OrgAdmin, OrgMember, OrgScope, SignedIn, type Principal } from '@aps/guards';
import { Operation, PageOf, PageQuery } from '@aps/platform/http';
import { Idempotent } from '@aps/platform/idempotency';
import { ModelQueries } from '../model.queries';
import { OwnModelsService } from '../governance/own-models.service';
import { ModelDirectory } from './model-directory';
import { toOwnEntry, toModel, toModelConfig, toModelMode, toOrgModel } from './models.convert';
import { pageOf } from './page-of';

@ApiTags('Models')
@Controller('api')
export class ModelsController {
  constructor(
    private readonly directory: ModelDirectory,
    private readonly queries: ModelQueries,
    private readonly own: OwnModelsService,
    private readonly entitlements: Entitlements,
  ) {}

  @Get('models')
  @SignedIn()
  @Operation({
    summary: 'List the models of the platform',
    description: 'Those that are on, in display order. Prices are null when every organization of the caller pays in credits.',
    answers: PageOf(ModelResponse),
  })
  async catalog(@CurrentPrincipal() principal: Principal, @Query() query: PageQuery) {
    return pageOf(await this.directory.catalogFor(principal), query, toModel);
  }

  @Get('orgs/:org_id/models')
  @OrgMember('settings')
  @Operation({
    summary: 'List the models that an organization may choose',
    description: 'Those of the platform that its allowlists permit, and its own; with `scope` what may be chosen there.',
    answers: PageOf(OrgModelResponse),
  })
  async models(@CurrentOrg() scope: OrgScope, @Query() query: OrgModelsQuery) {
    return pageOf(await this.queries.ofOrg(scope, query.scope), query, toOrgModel);
  }

  @Post('orgs/:org_id/models')
  @OrgAdmin('settings')
  @Idempotent()
  @Operation({
    summary: 'Add a model of the organization’s own',
    description: 'On a route of its own. Needs `byo_keys`. It hides the platform’s model of the same key.',
    answers: ModelCatalogEntryResponse,
    refuses: [
      'entitlement_exceeded',
      'entitlement_required',
      'kind_not_served',
      'model_conflict',
      'replacement_cycle',
      'unknown_reference',
    ],
  })
  async add(@CurrentOrg() scope: OrgScope, @Body() body: CreateModelRequest) {
    return toOwnEntry(await this.own.create(scope, body), await this.entitlements.hidesDollars(scope.orgId));
  }

  @Patch('orgs/:org_id/models/:entry_id')
  @OrgAdmin('settings')
  @Operation({
    summary: 'Change a model of the organization’s own',
    description: 'Key and kind stay while settings name it.',
    answers: ModelCatalogEntryResponse,
    refuses: ['entitlement_required', 'kind_not_served', 'model_conflict', 'model_in_use', 'replacement_cycle', 'unknown_reference'],
  })
  async change(@CurrentOrg() scope: OrgScope, @Param('entry_id') entryId: string, @Body() body: UpdateModelRequest) {
    return toOwnEntry(await this.own.update(scope, entryId, body), await this.entitlements.hidesDollars(scope.orgId));
  }

  @Delete('orgs/:org_id/models/:entry_id')
  @OrgAdmin('settings')
  @Operation({
    summary: 'Delete a model of the organization’s own',
    description: 'Not while settings name it, or it replaces another; to disable it and say what replaces it is always possible.',
    refuses: ['model_in_use'],
  })
  async remove(@CurrentOrg() scope: OrgScope, @Param('entry_id') entryId: string) {
    await this.own.delete(scope, entryId);
  }

  @Get('orgs/:org_id/model-modes')
  @OrgMember('settings')
  @Operation({
    summary: 'List the model modes',
    description: 'What an organization without direct model choice chooses from.',
    answers: ModelModesResponse,
  })
  async modes(@CurrentOrg() scope: OrgScope): Promise<ModelModesResponse> {
    return { items: (await this.queries.modes(scope)).map(toModelMode), default: 'normal' };
  }

  @Get('orgs/:org_id/model-config')
  @OrgMember('settings')
  @Operation({
    summary: 'Get what model pickers offer',
    description: 'Allowlist, default and models of each scope.',
    answers: ModelConfigResponse,
  })
  async config(@CurrentOrg() scope: OrgScope) {
    return toModelConfig(await this.queries.config(scope));
  }
}
