import { Body, Controller, Get, Patch, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  ModePresetPreviewResponse,
  OrgRuntimeSettingsResponse,
  PlatformAISettingsResponse,
  PreviewModesRequest,
  UpdateOrgRuntimeRequest,
  UpdatePlatformAISettingsRequest,
} from '@aps/dtos';
import { type ActingUser, CurrentOperator, OperatedOrg, OrgScope, PlatformAdmin } from '@aps/guards';
import { OrgRuntimeService, PlatformSettingsService } from '@aps/inference';
import { answer, Operation } from '@aps/platform/http';
import { OrgOverviewQueries } from '../org-overview.queries';

@ApiTags('Administration: AI')
@Controller('/api/admin/ai-settings')
@PlatformAdmin()
export class AdminAiSettingsController {
  constructor(private readonly settings: PlatformSettingsService) {}

  @Get()
  @Operation({
    summary: 'Get the AI settings of the platform',
    description: 'As stored, and with the environment behind what is null.',
    answers: PlatformAISettingsResponse,
  })
  async get() {
    return answer(PlatformAISettingsResponse, await this.settings.get());
  }

  @Patch()
  @Operation({
    summary: 'Set the AI settings of the platform',
    description:
      'Turns that start afterwards follow them. Of `feature_models` only what is listed changes, and null removes it. A key that names no model is refused with those that do.',
    answers: PlatformAISettingsResponse,
    refuses: ['model_unknown'],
  })
  async update(@CurrentOperator() operator: ActingUser, @Body() body: UpdatePlatformAISettingsRequest) {
    return answer(PlatformAISettingsResponse, await this.settings.update(operator, body));
  }

  @Post('preview-modes')
  @Operation({
    summary: 'Compare what the modes would cost',
    description: 'With the presets that are sent, and those that are stored for the other modes. Nothing is saved.',
    status: 200,
    answers: ModePresetPreviewResponse,
    refuses: ['model_unknown'],
  })
  preview(@Body() body: PreviewModesRequest) {
    return this.settings.preview(body);
  }
}

@ApiTags('Administration: AI')
@Controller('/api/admin/orgs/:org_id/ai-settings')
@PlatformAdmin()
export class AdminOrgAiSettingsController {
  constructor(
    private readonly organizations: OrgOverviewQueries,
    private readonly runtime: OrgRuntimeService,
  ) {}

  @Get()
  @Operation({
    summary: 'Get how an organization’s turns run',
    description: 'What it overrides, and the platform’s values behind what is null.',
    answers: OrgRuntimeSettingsResponse,
  })
  async get(@OperatedOrg() scope: OrgScope) {
    await this.organizations.assertThere(scope);
    return answer(OrgRuntimeSettingsResponse, await this.runtime.get(scope));
  }

  @Patch()
  @Operation({
    summary: 'Set how an organization’s turns run',
    description: 'The same settings as on its own page; its plan does not bind operators.',
    answers: OrgRuntimeSettingsResponse,
  })
  async update(@CurrentOperator() operator: ActingUser, @OperatedOrg() scope: OrgScope, @Body() body: UpdateOrgRuntimeRequest) {
    await this.organizations.assertThere(scope);
    return answer(OrgRuntimeSettingsResponse, await this.runtime.operate(operator, scope, body));
  }
}
