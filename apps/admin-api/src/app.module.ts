import { Module } from '@nestjs/common';
import { AgentModelsModule } from '@aps/agents';
import { AdministrationHttpModule, InternalAuthenticator, InternalCallerModule } from '@aps/administration/http';
import { BillingModule, OrgPlans } from '@aps/billing';
import { BillingAdminHttpModule } from '@aps/billing/http';
import { MemberChatsModule } from '@aps/chats';
import { ConnectionOwnersModule } from '@aps/connections';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule } from '@aps/guards';
import { InboxModelsModule } from '@aps/inboxes';
import { InferenceModule } from '@aps/inference';
import { OrgsModule } from '@aps/orgs';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MailModule } from '@aps/platform/mail';
import { PlatformModule } from '@aps/platform/runtime';
import { ProcessModelsModule } from '@aps/processes';
import { PromptModelsModule } from '@aps/prompts';

/** The face of operators. Reached through the gateway only, whose word about the caller it verifies. */
@Module({
  imports: [
    PlatformModule.forRoot('admin-api', { entities: ENTITIES, migrations: MIGRATIONS }),
    IdempotencyModule,
    MailModule,
    InternalCallerModule,
    GuardsModule.forRoot(InternalAuthenticator),
    BillingModule,
    OrgsModule.forRoot(OrgPlans),
    InferenceModule,
    AgentModelsModule,
    PromptModelsModule,
    ProcessModelsModule,
    InboxModelsModule,
    ConnectionOwnersModule,
    MemberChatsModule,
    AdministrationHttpModule,
    BillingAdminHttpModule,
  ],
})
export class AppModule {}
