import { Module } from '@nestjs/common';
import { EgressModule } from '@aps/platform/egress';
import { ToolsModule } from '@aps/tools';
import { Catalog } from './catalog/catalog';
import { ConnectionCredentials } from './connection-credentials';
import { ConnectionSecrets } from './connection-secrets';
import { ConnectionsQueries } from './connections.queries';
import { ConnectionsRepository } from './connections.repository';
import { ConnectionsService } from './connections.service';
import { AccessTokens } from './consents/access-tokens';
import { ConnectionConsents } from './consents/connection-consents';
import { ConsentsRepository } from './consents/consents.repository';
import { ConnectionDependents } from './dependents';
import { ConnectionListings } from './listing/connection-listings';
import { Composio } from './managed/composio';
import { ManagedAccounts } from './managed/managed-accounts';
import { ManagedApps } from './managed/managed-apps';
import { AllToolServers } from './managed/tool-servers';
import { McpToolServers } from './mcp/mcp-tool-servers';
import { ToolServers } from './mcp/tool-server';
import { OAuthClient } from './oauth/oauth-client';
import { ConnectionOwnersModule } from './owners-who-left';
import { ConnectionCalls } from './tools/connection-calls';
import { ConnectionTools } from './tools/connection-tools';
import { ToolRefresh } from './tools/tool-refresh';

const services = [
  Catalog,
  ConnectionCalls,
  ConnectionConsents,
  ConnectionCredentials,
  ConnectionListings,
  ConnectionTools,
  ConnectionsService,
  ManagedAccounts,
  ToolRefresh,
];

const kept = [AccessTokens, ConnectionSecrets, ConnectionsRepository, ConsentsRepository];
const read = [ConnectionDependents, ConnectionsQueries];

/** What is connected, for domains whose things name it. */
@Module({ providers: read, exports: read })
export class ConnectionReadsModule {}

/** What an organization has connected, and its tools. */
@Module({
  imports: [ConnectionOwnersModule, ConnectionReadsModule, EgressModule, ToolsModule],
  providers: [
    ...[...services, ...kept, McpToolServers, OAuthClient],
    { provide: ManagedApps, useClass: Composio },
    { provide: ToolServers, useClass: AllToolServers },
  ],
  exports: [ConnectionReadsModule, ...services, AccessTokens, ToolServers],
})
export class ConnectionsModule {}
