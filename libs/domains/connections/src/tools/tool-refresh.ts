import { Injectable, Logger } from '@nestjs/common';
import { connectionId, DomainError } from '@aps/contracts';
import type { Connection } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, isConnectionLoss } from '@aps/platform/database';
import { ConnectionsRepository } from '../connections.repository';
import { ConnectionListings, type Refreshed } from '../listing/connection-listings';
import type { LookedAt } from '../listing/terms.policy';
import { toolSlug } from './tool-names.policy';

const SERVERS_AT_ONCE = 8;

/** What servers have answered. */
export interface RefreshedTools {
  refreshed: { connection_id: string; server: string; slug: string; tool_count: number }[];
  failed: { connection_id: string; server: string; error: string }[];
  tools_total: number;
  changed: { slug: string; was: LookedAt; now: LookedAt; accepted: boolean }[];
}

/** Asks all servers for their tools that somebody sees. */
@Injectable()
export class ToolRefresh {
  private readonly logger = new Logger('ToolRefresh');
  /** By connection: whoever asks while it is being asked gets the same answer. */
  private readonly asked = new Map<string, Promise<Refreshed | null>>();

  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsRepository,
    private readonly listings: ConnectionListings,
  ) {}

  /**
   * Whatever is known of their health, but for those that are switched off or wait for a consent. One that fails stands in the answer and
   * holds up no other.
   *
   * @param acceptChanges what servers say otherwise than before holds from now on
   */
  async refresh(scope: OrgScope, acceptChanges: boolean): Promise<RefreshedTools> {
    const waiting = await this.connections.dialable(this.db, scope);
    const answers: [Connection, Refreshed][] = [];
    const ask = async (): Promise<void> => {
      for (let connection = waiting.shift(); connection; connection = waiting.shift()) {
        const answer = await this.once(scope, connection, acceptChanges);
        if (answer) answers.push([connection, answer]);
      }
    };
    await Promise.all(Array.from({ length: SERVERS_AT_ONCE }, ask));
    return inWords(answers.sort(([a], [b]) => (a.slug < b.slug ? -1 : 1)));
  }

  /**
   * One answer for all who ask at the same time. What was refused to whoever asks first is no answer to the others, who may be allowed more: the
   * next of them asks then. Once that is refused, too, each asks by himself, so that they do not wait for one another.
   *
   * @returns null for one that was deleted meanwhile
   */
  private async once(scope: OrgScope, connection: Connection, acceptChanges: boolean): Promise<Refreshed | null> {
    const key = `${connection.id}/${acceptChanges}`;
    for (let refusals = 0; refusals < 2; refusals++) {
      const others = this.asked.get(key);
      if (!others) break;
      const answer = await others.catch((error: unknown) => {
        if (!(error instanceof DomainError)) throw error;
      });
      if (answer !== undefined) return answer;
    }
    const asking = this.ask(scope, connection, acceptChanges).finally(() => {
      if (this.asked.get(key) === asking) this.asked.delete(key);
    });
    this.asked.set(key, asking);
    return asking;
  }

  private async ask(scope: OrgScope, connection: Connection, acceptChanges: boolean): Promise<Refreshed | null> {
    try {
      return await this.listings.refresh(scope, connection, { acceptChanges });
    } catch (error) {
      // That of the connection, and not of who asks.
      if (error instanceof DomainError && error.code === 'not_found') return null;
      if (error instanceof DomainError || isConnectionLoss(error)) throw error;
      const { id: connection_id, org_id } = connection;
      this.logger.error({ msg: 'Tools could not be listed', org_id, connection_id, error: (error as Error)?.stack ?? String(error) });
      return { ok: false, error: 'What the server says could not be kept.' };
    }
  }
}

function inWords(answers: readonly [Connection, Refreshed][]): RefreshedTools {
  const told: RefreshedTools = { refreshed: [], failed: [], tools_total: 0, changed: [] };
  for (const [{ id, label: server, slug }, answer] of answers) {
    const connection_id = connectionId(id);
    if (!answer.ok) {
      told.failed.push({ connection_id, server, error: answer.error });
      continue;
    }
    told.refreshed.push({ connection_id, server, slug, tool_count: answer.tool_count });
    told.tools_total += answer.tool_count;
    told.changed.push(...answer.changed.map(({ name, ...change }) => ({ slug: toolSlug(slug, name), ...change })));
  }
  return told;
}
