import { RateCardsModule } from '@aps/billing';
import { Module } from '@nestjs/common';
import { EgressModule } from '@aps/platform/egress';
import { InferenceModule } from '../inference.module';
import { CatalogWriter } from './catalog-writer';
import { GovernanceRepository } from './governance.repository';
import { ModelHealthQueries } from './model-health.queries';
import { ModelNames } from './model-names.service';
import { OrgLimitsService } from './org-limits.service';
import { OrgProvidersService } from './org-providers.service';
import { OrgRoutesService } from './org-routes.service';
import { OwnModelsService } from './own-models.service';
import { OwnRoutesRepository } from './own-routes.repository';
import { OwnRoutesService } from './own-routes.service';
import { PlatformModelsService } from './platform-models.service';
import { PlatformRoutesService } from './platform-routes.service';
import { PlatformSettingsService } from './platform-settings.service';
import { RepointService } from './repoint.service';
import { RouteKeysService } from './route-keys.service';
import { RoutePinsQueries } from './route-pins.queries';

const services = [
  ModelHealthQueries,
  OrgLimitsService,
  OrgProvidersService,
  OrgRoutesService,
  OwnModelsService,
  OwnRoutesService,
  PlatformModelsService,
  PlatformRoutesService,
  PlatformSettingsService,
  RepointService,
  RouteKeysService,
  RoutePinsQueries,
];

/** Settings, routes, keys and models, for those who set them: people of organizations, and operators. Who only calls models does not need it. */
@Module({
  imports: [EgressModule, InferenceModule, RateCardsModule],
  providers: [CatalogWriter, GovernanceRepository, ModelNames, OwnRoutesRepository, ...services],
  exports: services,
})
export class GovernanceModule {}
