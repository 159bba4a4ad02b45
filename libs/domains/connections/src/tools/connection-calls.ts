import { Injectable, Logger } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { Mailer } from '@aps/platform/mail';
import { CALL_LIMITS, Deadline, NotSent } from '@aps/tools';
import { refusedMail } from '../connection.mails';
import { ConnectionCredentials } from '../connection-credentials';
import { ConnectionsRepository } from '../connections.repository';
import {
  ServerFailed,
  ToolServers,
  Unauthorized,
  type ListedResource,
  type ResourceContent,
  type ServerAddress,
  type ServerCall,
  type ServerResult,
} from '../mcp/tool-server';

/** Whose connection calls, and which. */
export interface Calling {
  orgId: string;
  connectionId: string;
  /** On whose behalf; null: on nobody's, so by no private connection. */
  principalId: string | null;
}

const UNUSABLE = 'The connection is gone or switched off, or is somebody else’s alone.';

/** Asks the servers of connections, with the credentials that these have at that moment. Not within a transaction. */
@Injectable()
export class ConnectionCalls {
  private readonly logger = new Logger('ConnectionCalls');

  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsRepository,
    private readonly credentials: ConnectionCredentials,
    private readonly servers: ToolServers,
    private readonly mailer: Mailer,
  ) {}

  /**
   * Calls a tool, which has as long as any call that goes out.
   *
   * @throws NotSent for what surely never got there; ServerFailed and TookTooLong, after which the call may have had its effect
   */
  async call(calling: Calling, call: ServerCall): Promise<ServerResult> {
    const deadline = new Deadline(CALL_LIMITS, call.signal);
    const progressed = () => {
      deadline.extend();
      call.progressed();
    };
    let mayBeDone = false;
    try {
      return await this.ask(calling, async (server) => {
        mayBeDone = true;
        return this.servers.call(server, { ...call, signal: deadline.signal, progressed }).catch((error: unknown) => {
          // It is asked once more with another token, if there is one.
          mayBeDone = !(error instanceof Unauthorized);
          throw error;
        });
      });
    } catch (error) {
      if (error instanceof NotSent) throw error;
      if (mayBeDone) throw deadline.isOver ? deadline.signal.reason : error;
      const isTold = error instanceof ServerFailed || error instanceof Unauthorized || error instanceof DomainError;
      throw new NotSent(isTold ? error.message : 'Its server could not be asked.', { cause: error });
    } finally {
      deadline.clear();
    }
  }

  /** All that its server has to read. @throws ServerFailed, Unauthorized */
  resources(calling: Calling, signal: AbortSignal): Promise<ListedResource[]> {
    return this.ask(calling, (server) => this.servers.resources(server, signal));
  }

  /** @throws ServerRefused for this one; ServerFailed, Unauthorized */
  read(calling: Calling, uri: string, signal: AbortSignal): Promise<ResourceContent> {
    return this.ask(calling, (server) => this.servers.read(server, uri, signal));
  }

  private async ask<T>({ orgId, connectionId, principalId }: Calling, ask: (server: ServerAddress) => Promise<T>): Promise<T> {
    const scope = OrgScope.system(orgId, 'connection');
    const connection = await this.connections.use(this.db, scope, connectionId, principalId);
    if (!connection) throw new ServerFailed(UNUSABLE);
    let askedWith = connection.token_version;
    try {
      return await this.credentials.asking(connection, (server, version) => {
        askedWith = version;
        return ask(server);
      });
    } catch (error) {
      if (error instanceof Unauthorized) {
        this.logger.warn({ msg: 'A tool server refuses its credentials', org_id: orgId, connection_id: connectionId });
        await this.refused(scope, connectionId, askedWith, error.message);
      }
      throw error;
    }
  }

  /** Nobody looks at a connection that agents use: its owner is told. */
  private async refused(scope: OrgScope, id: string, version: number, error: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const refused = await this.connections.refused(tx, scope, id, version, error);
      const to = refused?.owner_user_id && (await this.connections.emailOf(tx, refused.owner_user_id));
      if (to) await this.mailer.send(tx, { to, ...refusedMail(refused) });
    });
  }
}
