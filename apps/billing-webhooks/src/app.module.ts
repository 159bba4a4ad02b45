import { Module } from '@nestjs/common';
import { BillingModule } from '@aps/billing';
import { WebhooksHttpModule } from '@aps/billing/http';
import { BillingJobsModule } from '@aps/billing/jobs';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule } from '@aps/guards';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { WorkersModule } from '@aps/platform/queues';
import { PlatformModule } from '@aps/platform/runtime';

/** Takes the deliveries of the payment provider in, and applies them. Reached through the gateway only. */
@Module({
  imports: [
    PlatformModule.forRoot('billing-webhooks', { entities: ENTITIES, migrations: MIGRATIONS }),
    GuardsModule.forRoot(),
    IdempotencyModule,
    MaintenanceModule,
    BillingModule,
    WebhooksHttpModule,
    BillingJobsModule,
    WorkersModule.forQueues('billing'),
  ],
})
export class AppModule {}
