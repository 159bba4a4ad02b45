import { Module } from '@nestjs/common';
import { BillingModule } from '@aps/billing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { EnvironmentsJobsModule } from '@aps/environments/jobs';
import { AnsweringModule } from '@aps/inboxes';
import { KnowledgeJobsModule } from '@aps/knowledge/jobs';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { WorkersModule } from '@aps/platform/queues';
import { PlatformModule } from '@aps/platform/runtime';
import { ProcessesMaintenanceModule, ScheduleFiringModule } from '@aps/processes';
import { ProcessesJobsModule } from '@aps/processes/jobs';

/** Runs processes, indexes what knowledge bases are made of, and runs commands in sandboxes. */
@Module({
  imports: [
    PlatformModule.forRoot('process-engine', { entities: ENTITIES, migrations: MIGRATIONS }),
    BillingModule,
    IdempotencyModule,
    MaintenanceModule,
    AnsweringModule,
    ProcessesMaintenanceModule,
    ProcessesJobsModule,
    ScheduleFiringModule,
    KnowledgeJobsModule,
    EnvironmentsJobsModule,
    WorkersModule.forQueues('process-runs', 'knowledge', 'environments'),
  ],
})
export class AppModule {}
