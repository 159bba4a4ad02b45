import { Module } from '@nestjs/common';
import { EgressModule } from '@aps/platform/egress';
import { Catalog } from './catalog/catalog';
import { ConnectionCredentials } from './connection-credentials';
import { ConnectionsQueries } from './connections.queries';
import { ConnectionsRepository } from './connections.repository';
import { ConnectionsService } from './connections.service';
import { ConnectionDependents } from './dependents';
import { ConnectionListings } from './listing/connection-listings';
import { McpToolServers } from './mcp/mcp-tool-servers';
import { ToolServers } from './mcp/tool-server';
import { ConnectionOwnersModule } from './owners-who-left';
import { ConnectionCalls } from './tools/connection-calls';
import { ConnectionTools } from './tools/connection-tools';
import { ToolRefresh } from './tools/tool-refresh';

const services = [
  Catalog,
  ConnectionCalls,
  ConnectionCredentials,
  ConnectionDependents,
  ConnectionListings,
  ConnectionTools,
  ConnectionsQueries,
  ConnectionsService,
  ToolRefresh,
];

/** What an organization has connected, and its tools. */
@Module({
  imports: [ConnectionOwnersModule, EgressModule],
  providers: [...services, ConnectionsRepository, { provide: ToolServers, useClass: McpToolServers }],
  exports: [...services, ToolServers],
})
export class ConnectionsModule {}
