import { Module } from '@nestjs/common';
import { DeletedOrganizationsModule } from '@aps/administration';
import { BillingModule } from '@aps/billing';
import { ChatsJobsModule } from '@aps/chats/jobs';
import { ConnectionsJobsModule } from '@aps/connections/jobs';
import { DecisionsMaintenanceModule } from '@aps/decisions';
import { ENTITIES, foldOf, MIGRATIONS, TALLIES } from '@aps/entities';
import { FilesMaintenanceModule } from '@aps/files';
import { IdentityMaintenanceModule } from '@aps/identity';
import { AnsweringModule } from '@aps/inboxes';
import { InferenceMaintenanceModule } from '@aps/inference';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MailJobsModule } from '@aps/platform/mail';
import { MaintenanceModule, TallyFoldingModule } from '@aps/platform/maintenance';
import { PromptsMaintenanceModule } from '@aps/prompts';
import { WorkersModule } from '@aps/platform/queues';
import { PlatformModule } from '@aps/platform/runtime';
import { RunControlModule } from '@aps/processes';
import { ReplaysJobsModule } from '@aps/replays/jobs';

/** Runs agent turns, plays past ones again, names chats and sends mail. */
@Module({
  imports: [
    PlatformModule.forRoot('chat-worker', { entities: ENTITIES, migrations: MIGRATIONS }),
    BillingModule,
    IdempotencyModule,
    MaintenanceModule,
    TallyFoldingModule.of(TALLIES.map((tally) => ({ name: tally.table, fold: foldOf(tally) }))),
    IdentityMaintenanceModule,
    InferenceMaintenanceModule,
    FilesMaintenanceModule,
    DecisionsMaintenanceModule,
    PromptsMaintenanceModule,
    DeletedOrganizationsModule,
    ChatsJobsModule,
    ReplaysJobsModule,
    AnsweringModule,
    RunControlModule,
    MailJobsModule,
    ConnectionsJobsModule,
    WorkersModule.forQueues('turns', 'titles', 'maintenance', 'replays'),
  ],
})
export class AppModule {}
