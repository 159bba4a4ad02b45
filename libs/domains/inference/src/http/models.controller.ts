import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ModelConfigResponse, ModelModesResponse, ModelResponse, OrgModelResponse, OrgModelsQuery } from '@aps/dtos';
import { CurrentOrg, CurrentPrincipal, OrgMember, OrgScope, SignedIn, type Principal } from '@aps/guards';
import { Operation, PageOf, PageQuery } from '@aps/platform/http';
import { ModelQueries } from '../model.queries';
import { ModelDirectory } from './model-directory';
import { toModel, toModelConfig, toModelMode, toOrgModel } from './models.convert';
import { pageOf } from './page-of';

@ApiTags('Models')
@Controller('api')
export class ModelsController {
  constructor(
    private readonly directory: ModelDirectory,
    private readonly queries: ModelQueries,
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
    description: 'Filtered by its allowlists.',
    answers: PageOf(OrgModelResponse),
  })
  async models(@CurrentOrg() scope: OrgScope, @Query() query: OrgModelsQuery) {
    return pageOf(await this.queries.ofOrg(scope, query.scope), query, toOrgModel);
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
