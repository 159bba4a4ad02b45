import { Module } from '@nestjs/common';
import { AdministrationHttpModule } from '@aps/administration/http';
import { BillingAdminHttpModule, WebhooksHttpModule } from '@aps/billing/http';
import { IntakeModule } from '@aps/inboxes';
import { DoorsModule } from '@aps/inboxes/http';
import { AppModule as Gateway } from '../../apps/api-gateway/src/app.module';

/** Everything that a client reaches through the gateway, wherever it is answered. */
@Module({ imports: [Gateway, AdministrationHttpModule, BillingAdminHttpModule, WebhooksHttpModule, DoorsModule.over(IntakeModule)] })
export class PublicSurface {}
