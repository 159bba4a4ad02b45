import { Global, Module } from '@nestjs/common';
import { Blockers } from '@aps/billing';
import { EgressModule } from '@aps/platform/egress';
import { BudgetRepository } from './budget.repository';
import { Budgets } from './budgets.service';
import { CatalogWriter } from './catalog-writer';
import { GovernanceRepository } from './governance.repository';
import { InferenceBroadcasts } from './inference.broadcasts';
import { InferenceRepository } from './inference.repository';
import { InferenceSettings } from './inference.settings';
import { ModelCatalog } from './model-catalog.service';
import { ModelCalls } from './model-calls.service';
import { ModelResolver } from './model-resolver.service';
import { ModelHealthQueries } from './model-health.queries';
import { ModelNames } from './model-names.service';
import { ModelUsers } from './model-users';
import { ModelQueries } from './model.queries';
import { OrgLimitsService } from './org-limits.service';
import { OrgProvidersService } from './org-providers.service';
import { OrgRoutesService } from './org-routes.service';
import { OrgRuntimeService } from './org-runtime.service';
import { OwnModelsService } from './own-models.service';
import { OwnRoutesRepository } from './own-routes.repository';
import { OwnRoutesService } from './own-routes.service';
import { PlatformModelsService } from './platform-models.service';
import { PlatformRoutesService } from './platform-routes.service';
import { PlatformSettingsService } from './platform-settings.service';
import { ReceiptsRepository } from './receipts.repository';
import { RepointService } from './repoint.service';
import { RouteKeysService } from './route-keys.service';
import { RoutePinsQueries } from './route-pins.queries';

const services = [
  Budgets,
  InferenceSettings,
  ModelResolver,
  ModelCatalog,
  ModelCalls,
  ModelHealthQueries,
  ModelQueries,
  ModelUsers,
  OrgLimitsService,
  OrgProvidersService,
  OrgRoutesService,
  OrgRuntimeService,
  OwnModelsService,
  OwnRoutesService,
  PlatformModelsService,
  PlatformRoutesService,
  PlatformSettingsService,
  ReceiptsRepository,
  RepointService,
  RouteKeysService,
  RoutePinsQueries,
];

/** Choosing and calling models. */
@Global()
@Module({
  imports: [EgressModule],
  controllers: [InferenceBroadcasts],
  providers: [
    BudgetRepository,
    CatalogWriter,
    GovernanceRepository,
    InferenceRepository,
    ModelNames,
    OwnRoutesRepository,
    ...services,
    { provide: Blockers, useExisting: Budgets },
  ],
  exports: [...services, Blockers],
})
export class InferenceModule {}
