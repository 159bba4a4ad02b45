import { Module } from '@nestjs/common';
import { AdministrationModule } from '../administration.module';
import { UsageModule } from '../usage/usage.module';
import { AdminMembersController } from './admin-members.controller';
import { AdminAiSettingsController, AdminOrgAiSettingsController } from './ai-settings.controller';
import { AdminOrgsController } from './admin-orgs.controller';
import { AllowedEmailsController } from './allowed-emails.controller';
import { AdminAuditController } from './audit.controller';
import { AdminModelsController } from './models.controller';
import { OrgUsageController } from './org-usage.controller';
import { PlatformAdminsController } from './platform-admins.controller';
import { QueuePageController } from './queue-page.controller';
import { AdminRouteKeysController, AdminRoutesController } from './routes.controller';
import { AdminSubscriptionsController } from './subscriptions.controller';
import { AdminUsersController } from './users.controller';
import { AdminWaitlistController } from './waitlist.controller';
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
