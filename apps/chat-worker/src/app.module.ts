import { Module } from '@nestjs/common';
import { BillingModule } from '@aps/billing';
import { ChatsJobsModule } from '@aps/chats/jobs';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MailJobsModule } from '@aps/platform/mail';
import { WorkersModule } from '@aps/platform/queues';
import { PlatformModule } from '@aps/platform/runtime';

/** Runs agent turns, names chats and sends mail. */
@Module({
  imports: [
    PlatformModule.forRoot('chat-worker', { entities: ENTITIES, migrations: MIGRATIONS }),
    BillingModule,
    IdempotencyModule,
    ChatsJobsModule,
    MailJobsModule,
    WorkersModule.forQueues('turns', 'titles', 'maintenance'),
  ],
})
export class AppModule {}
