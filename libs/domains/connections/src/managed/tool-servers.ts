import { Injectable } from '@nestjs/common';
import { McpToolServers } from '../mcp/mcp-tool-servers';
import { ToolServers, type ListedResource, type ResourceContent, type ServerAddress, type ServerCall, type ServerListing, type ServerResult } from '../mcp/tool-server'; // prettier-ignore
import { ManagedApps } from './managed-apps';

/** Whatever has tools: an account at the provider of managed apps, or a server of the Model Context Protocol. */
@Injectable()
export class AllToolServers extends ToolServers {
  constructor(
    private readonly mcp: McpToolServers,
    private readonly managed: ManagedApps,
  ) {
    super();
  }

  list(server: ServerAddress, signal: AbortSignal): Promise<ServerListing> {
    return this.of(server).list(server, signal);
  }

  call(server: ServerAddress, call: ServerCall): Promise<ServerResult> {
    return this.of(server).call(server, call);
  }

  resources(server: ServerAddress, signal: AbortSignal): Promise<ListedResource[]> {
    return this.of(server).resources(server, signal);
  }

  read(server: ServerAddress, uri: string, signal: AbortSignal): Promise<ResourceContent> {
    return this.of(server).read(server, uri, signal);
  }

  private of({ account }: ServerAddress): ToolServers {
    return account ? this.managed : this.mcp;
  }
}
