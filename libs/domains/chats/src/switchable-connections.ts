import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';

/** A connection as a chat's composer shows it. */
export interface SwitchableConnection {
  connection_id: string;
  /** Names its tools' scope, `con:<slug>`. */
  slug: string;
  label: string;
}

/**
 * The connections that a chat can switch. Chats ask this port and nothing else; which domain keeps connections is the binding's business.
 * It must name every active connection that the caller may know of and whose tools stand behind `con:<slug>`: what it leaves out cannot be
 * switched on again in a chat that has chosen. What an agent is granted, chats find out themselves.
 */
export abstract class SwitchableConnections {
  /** In the order in which they are shown. */
  abstract of(scope: OrgScope, agentId: string): Promise<SwitchableConnection[]>;
}

/** No organization has connections. */
@Injectable()
export class NoConnections extends SwitchableConnections {
  of(): Promise<SwitchableConnection[]> {
    return Promise.resolve([]);
  }
}
