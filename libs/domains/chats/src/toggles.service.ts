import { Injectable } from '@nestjs/common';
import { AgentContexts } from '@aps/agents';
import { ConnectionsQueries } from '@aps/connections';
import { connectionId, notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { ChatState } from './state/chat-state.repository';
import {
  enabledAfter,
  reachesConnection,
  requireOneChange,
  sameScopes,
  WEB_TOGGLE,
  type Toggle,
  type ToggleChange,
  type Unswitchable,
} from './toggles.policy';

export interface ChatToggles {
  toggles: (Toggle & { enabled: boolean })[];
  /** As stored, of what the caller sees; null = all on. */
  enabled_scopes: string[] | null;
}

/**
 * What a chat lets its agent reach, of what the agent is granted. Whoever may open a chat may switch; turns that begin afterwards heed it.
 * A chat that is closed can be switched, too: it may be continued.
 */
@Injectable()
export class TogglesService {
  constructor(
    private readonly db: Database,
    private readonly chats: ChatState,
    private readonly contexts: AgentContexts,
    private readonly connections: ConnectionsQueries,
  ) {}

  /** @throws DomainError 404 */
  async get(scope: OrgScope, agentId: string, chatId: string): Promise<ChatToggles> {
    const chat = await this.chats.find(this.db, scope, agentId, chatId);
    if (!chat) throw notFound('Chat');
    return view(await this.known(scope, agentId, chat.agent_revision_id), chat.enabled_scopes);
  }

  /**
   * A change that changes nothing writes nothing.
   *
   * @throws DomainError 404; 422 `validation_error`, `unknown_reference`
   */
  async change(scope: OrgScope, agentId: string, chatId: string, change: ToggleChange): Promise<ChatToggles> {
    requireOneChange(change);
    const chat = await this.chats.find(this.db, scope, agentId, chatId);
    if (!chat) throw notFound('Chat');
    const known = await this.known(scope, agentId, chat.agent_revision_id);
    return this.db.transaction(scope, async (tx) => {
      // Two members may switch at once: each merges into what the other has left.
      const locked = await this.chats.lock(tx, scope, agentId, chatId);
      if (!locked) throw notFound('Chat');
      const wanted = enabledAfter(known.toggles, known.others, locked.enabled_scopes, change);
      if (sameScopes(wanted, locked.enabled_scopes)) return view(known, locked.enabled_scopes);
      await this.chats.setScopes(tx, chatId, wanted, this.db.now());
      return view(known, wanted);
    });
  }

  private async known(scope: OrgScope, agentId: string, revisionId: string): Promise<Known> {
    const [grants, connections] = await Promise.all([this.contexts.of(scope, agentId, revisionId), this.connections.every(this.db, scope)]);
    const known: Known = { toggles: [WEB_TOGGLE], others: [] };
    for (const { id, slug, label, is_active, is_seen: isSeen } of connections) {
      const toggle = `con:${slug}`;
      if (!reachesConnection(grants, toggle)) continue;
      if (isSeen && is_active) known.toggles.push({ scope: toggle, label, kind: 'connection', connection_id: connectionId(id) });
      else known.others.push({ scope: toggle, isSeen });
    }
    return known;
  }
}

/** What the agent of a chat reaches. */
interface Known {
  toggles: Toggle[];
  others: Unswitchable[];
}

function view({ toggles, others }: Known, enabled: string[] | null): ChatToggles {
  const seen = new Set([...toggles, ...others.filter((o) => o.isSeen)].map((o) => o.scope));
  return {
    toggles: toggles.map((t) => ({ ...t, enabled: enabled === null || enabled.includes(t.scope) })),
    enabled_scopes: enabled && enabled.filter((s) => seen.has(s)),
  };
}
