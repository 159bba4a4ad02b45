import { Injectable } from '@nestjs/common';
import type { Connection } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, now, storable } from '@aps/platform/database';
import { ConnectionCredentials } from '../connection-credentials';
import { ConnectionsRepository } from '../connections.repository';
import { ServerFailed, ToolServers, Unauthorized, type ServerListing } from '../mcp/tool-server';
import { areTooMany, relist, type ToolChange } from './terms.policy';

/** How long a server has to list its tools, milliseconds. */
const DIAL_MS = 10_000;

/** Of a sentence that may be the server's, characters. */
const MAX_ERROR = 500;

/** Names that scopes of tools can have. A tool of another name could be granted with all others, and not be denied: it is passed over. */
const NAMEABLE = /^[A-Za-z0-9_./-]{1,128}$/;

export interface RefreshOptions {
  /** Somebody who may change the connection accepts what its server says now. */
  acceptChanges?: boolean;
  /** One that is switched off is switched on by this. */
  enable?: boolean;
}

/** What came of asking a server for its tools. The sentence may be shown to who may see the connection. */
export type Refreshed = { ok: true; tool_count: number; changed: ToolChange[] } | { ok: false; error: string };

/** What a server answered, or why it did not; `version` is that of the credentials that it was asked with last, if it was asked. */
export type Dialed = { listing: ServerListing } | { error: string; refused: boolean; version?: number };

const TOO_MANY: Dialed = { error: 'The server has had too many other tools within a month.', refused: false };

/** Asks servers for their tools, and keeps what they answer. Not within a transaction. */
@Injectable()
export class ConnectionListings {
  private readonly listeners: ((orgId: string) => Promise<void>)[] = [];

  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsRepository,
    private readonly credentials: ConnectionCredentials,
    private readonly servers: ToolServers,
  ) {}

  /**
   * Lists the tools of a connection anew. One that answers is active again; of one that does not, the last good list is kept, and it becomes
   * `error` only where its server refuses its credentials, or it has never answered. A failure is a result, and not thrown.
   *
   * @throws DomainError `not_found` where it was deleted meanwhile
   */
  async refresh(
    scope: OrgScope,
    connection: Connection,
    { acceptChanges = false, enable = false }: RefreshOptions = {},
  ): Promise<Refreshed> {
    const dialed = await this.dial(connection);
    const refreshed = await this.keep(scope, connection, dialed, { acceptChanges, enable });
    if (refreshed.ok) for (const listener of this.listeners) await listener(scope.orgId);
    return refreshed;
  }

  /** For domains above that look at tools by themselves: called after tools of an organization were listed. */
  onListed(listener: (orgId: string) => Promise<void>): void {
    this.listeners.push(listener);
  }

  private keep(
    scope: OrgScope,
    connection: Connection,
    dialed: Dialed,
    { acceptChanges, enable }: Required<RefreshOptions>,
  ): Promise<Refreshed> {
    return this.db.transaction(scope, async (tx): Promise<Refreshed> => {
      const current = await this.connections.lock(tx, scope, connection.id);
      const { id, status } = current;
      const known = 'listing' in dialed ? await this.connections.tools(tx, scope, id) : [];
      if ('listing' in dialed && areTooMany(known, dialed.listing.tools)) dialed = TOO_MANY;
      if ('error' in dialed) {
        // It was asked with what has been replaced since, or others have asked it since, who were answered.
        const isOld = dialed.version !== undefined && dialed.version !== current.token_version;
        const isAnswered = current.tools_listed_at?.getTime() !== connection.tools_listed_at?.getTime();
        if (isOld || isAnswered) return { ok: false, error: dialed.error };
        const fails = status === 'active' && (dialed.refused || !current.tools_listed_at);
        await this.connections.update(tx, scope, id, {
          last_error: dialed.error,
          stale_since: current.stale_since ?? now,
          ...(fails && { status: 'error' }),
        });
        return { ok: false, error: dialed.error };
      }
      const { tools, changed } = relist(known, dialed.listing.tools, acceptChanges);
      await this.connections.setTools(tx, scope, id, tools);
      await this.connections.update(tx, scope, id, {
        status: status === 'disabled' && !enable ? status : 'active',
        knowledge_capable: dialed.listing.hasResources,
        tools_listed_at: now,
        last_error: null,
        stale_since: null,
      });
      return { ok: true, tool_count: tools.length, changed };
    });
  }

  /** Asks the server, and keeps nothing. */
  async dial(connection: Connection): Promise<Dialed> {
    let version: number | undefined;
    try {
      const { tools, hasResources } = await this.credentials.asking(connection, (server, used) => {
        version = used;
        return this.servers.list(server, AbortSignal.timeout(DIAL_MS));
      });
      return { listing: { tools: tools.filter(({ name }) => NAMEABLE.test(name)), hasResources } };
    } catch (error) {
      if (error instanceof Unauthorized) return { error: error.message, refused: true, version };
      if (error instanceof ServerFailed) return { error: storable(error.message.slice(0, MAX_ERROR)), refused: false, version };
      throw error;
    }
  }
}
