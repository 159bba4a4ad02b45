import { Module } from '@nestjs/common';
import { GatewayAuthenticator, InternalCallerModule, OrgUsageHttpModule, QueuePageSessionModule } from '@aps/administration/http';
import { AgentsHttpModule } from '@aps/agents/http';
import { BillingModule, OrgPlans } from '@aps/billing';
import { BillingHttpModule } from '@aps/billing/http';
import { ChatsHttpModule } from '@aps/chats/http';
import { ConnectionsHttpModule } from '@aps/connections/http';
import { DecisionsHttpModule } from '@aps/decisions/http';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { EnvironmentsHttpModule } from '@aps/environments/http';
import { FilesHttpModule } from '@aps/files/http';
import { GuardsModule } from '@aps/guards';
import { IdentityHttpModule } from '@aps/identity/http';
import { AnsweringModule } from '@aps/inboxes';
import { InboxesHttpModule } from '@aps/inboxes/http';
import { InferenceModule } from '@aps/inference';
import { InferenceHttpModule } from '@aps/inference/http';
import { KnowledgeHttpModule } from '@aps/knowledge/http';
import { OrgsModule } from '@aps/orgs';
import { OrgsHttpModule } from '@aps/orgs/http';
import { ApiDocsModule } from '@aps/platform/http';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MailModule } from '@aps/platform/mail';
import { PlatformModule } from '@aps/platform/runtime';
import { ProcessesHttpModule } from '@aps/processes/http';
import { ProjectsHttpModule } from '@aps/projects/http';
import { ReplaysHttpModule } from '@aps/replays/http';
import { RolloutsHttpModule } from '@aps/rollouts/http';
import { PromptsHttpModule } from '@aps/prompts/http';
import { ProxyModule } from './proxy';

/** The public HTTP face. */
@Module({
  imports: [
    PlatformModule.forRoot('api-gateway', { entities: ENTITIES, migrations: MIGRATIONS }),
    InternalCallerModule,
    GuardsModule.forRoot(GatewayAuthenticator),
    IdempotencyModule,
    MailModule,
    BillingModule,
    InferenceModule,
    OrgsModule.forRoot(OrgPlans),
    // Routes are tried in the order in which they are registered: the busiest come first.
    ChatsHttpModule,
    IdentityHttpModule,
    InferenceHttpModule,
    OrgsHttpModule,
    AgentsHttpModule,
    ProjectsHttpModule,
    RolloutsHttpModule,
    ReplaysHttpModule,
    PromptsHttpModule,
    ConnectionsHttpModule,
    KnowledgeHttpModule,
    ProcessesHttpModule,
    EnvironmentsHttpModule,
    FilesHttpModule,
    InboxesHttpModule,
    AnsweringModule,
    DecisionsHttpModule,
    BillingHttpModule,
    OrgUsageHttpModule,
    QueuePageSessionModule,
    ProxyModule,
    ApiDocsModule,
  ],
})
export class AppModule {}
