import { Injectable, Logger } from '@nestjs/common';
import { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { NotSent } from '@aps/tools';
import { ConnectionCredentials } from '../connection-credentials';
import { ConnectionsRepository } from '../connections.repository';
import { ServerFailed, ToolServers, Unauthorized, type ServerCall, type ServerResult } from '../mcp/tool-server';

/** Whose connection calls, and which. */
export interface Calling {
  orgId: string;
  connectionId: string;
  /** On whose behalf; null: on nobody's, so by no private connection. */
  principalId: string | null;
}

const UNUSABLE = 'The connection behind this tool is gone or switched off, or is somebody else’s alone.';

/** Calls tools of connections, with the credentials that these have at that moment. Not within a transaction. */
@Injectable()
export class ConnectionCalls {
  private readonly logger = new Logger('ConnectionCalls');

  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsRepository,
    private readonly credentials: ConnectionCredentials,
    private readonly servers: ToolServers,
  ) {}

  /** @throws NotSent for what surely never got there; ServerFailed after which the call may have had its effect */
  async call({ orgId, connectionId, principalId }: Calling, call: ServerCall): Promise<ServerResult> {
    const scope = OrgScope.system(orgId, 'tool of a connection');
    const connection = await this.connections.use(this.db, scope, connectionId, principalId);
    if (!connection) throw new NotSent(UNUSABLE);
    let isAsked = false;
    try {
      return await this.credentials.asking(connection, (server) => {
        isAsked = true;
        return this.servers.call(server, call);
      });
    } catch (error) {
      if (error instanceof Unauthorized) {
        this.logger.warn({ msg: 'A tool server refuses its credentials', org_id: orgId, connection_id: connectionId });
        await this.connections.refused(this.db, scope, connection, error.message);
        throw new NotSent(error.message, { cause: error });
      }
      throw error instanceof ServerFailed && !isAsked ? new NotSent(error.message, { cause: error }) : error;
    }
  }
}
