import { Global, Module } from '@nestjs/common';
import { EgressModule } from '@aps/platform/egress';
import { InferenceBroadcasts } from './inference.broadcasts';
import { InferenceRepository } from './inference.repository';
import { InferenceSettings } from './inference.settings';
import { ModelCatalog } from './model-catalog.service';
import { ModelCalls } from './model-calls.service';
import { ModelResolver } from './model-resolver.service';
import { ModelUsers } from './model-users';
import { ModelQueries } from './model.queries';
import { OrgLimitsService } from './org-limits.service';
import { OrgRoutesService } from './org-routes.service';
import { OrgRuntimeService } from './org-runtime.service';
import { PlatformSettingsService } from './platform-settings.service';
import { ReceiptsRepository } from './receipts.repository';

const services = [
  InferenceSettings,
  ModelResolver,
  ModelCatalog,
  ModelCalls,
  ModelQueries,
  ModelUsers,
  OrgLimitsService,
  OrgRoutesService,
  OrgRuntimeService,
  PlatformSettingsService,
  ReceiptsRepository,
];

/** Choosing and calling models. */
@Global()
@Module({
  imports: [EgressModule],
  controllers: [InferenceBroadcasts],
  providers: [InferenceRepository, ...services],
  exports: services,
})
export class InferenceModule {}
