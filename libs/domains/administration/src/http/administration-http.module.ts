import { Module } from '@nestjs/common';
import { AdministrationModule, UsageModule } from '../administration.module';
import { AdminAiSettingsController, AdminOrgAiSettingsController } from './ai-settings.controller';
import { AdminAuditController } from './audit.controller';
import { AdminModelsController } from './models.controller';
import { AdminMembersController, AdminOrgsController, AdminSubscriptionsController } from './organizations.controller';
import { OrgUsageController } from './org-usage.controller';
import { AdminUsersController, AdminWaitlistController, AllowedEmailsController, PlatformAdminsController } from './people.controller';
import { QueuePageController } from './queue-page.controller';
import { AdminRouteKeysController, AdminRoutesController } from './routes.controller';
import { AdminWorkersController } from './workers.controller';

/** What operators do; served by admin-api. */
@Module({
  imports: [AdministrationModule],
  controllers: [
    PlatformAdminsController,
    AllowedEmailsController,
    AdminUsersController,
    AdminWaitlistController,
    AdminOrgsController,
    AdminMembersController,
    AdminSubscriptionsController,
    AdminAuditController,
    AdminAiSettingsController,
    AdminOrgAiSettingsController,
    AdminRoutesController,
    AdminRouteKeysController,
    AdminModelsController,
    AdminWorkersController,
    QueuePageController,
  ],
})
export class AdministrationHttpModule {}

/** An organization's usage for its own members; served by the gateway. */
@Module({ imports: [UsageModule], controllers: [OrgUsageController] })
export class OrgUsageHttpModule {}
