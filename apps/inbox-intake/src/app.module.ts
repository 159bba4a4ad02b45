import { Module } from '@nestjs/common';
import { BillingModule } from '@aps/billing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule } from '@aps/guards';
import { IntakeModule } from '@aps/inboxes';
import { DoorsModule } from '@aps/inboxes/http';
import { InboxesJobsModule } from '@aps/inboxes/jobs';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { WorkersModule } from '@aps/platform/queues';
import { PlatformModule } from '@aps/platform/runtime';
import { RunControlModule } from '@aps/processes';

/** Takes mail and webhooks in, and evaluates them. Its HTTP is reached through the gateway only; mail comes to it directly. */
@Module({
  imports: [
    PlatformModule.forRoot('inbox-intake', { entities: ENTITIES, migrations: MIGRATIONS }),
    GuardsModule.forRoot(),
    IdempotencyModule,
    MaintenanceModule,
    BillingModule,
    DoorsModule.over(IntakeModule),
    InboxesJobsModule,
    RunControlModule,
    WorkersModule.forQueues('inbox-messages'),
  ],
})
export class AppModule {}
