import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { statement, type Db } from '@aps/platform/database';
import { VISIBLE_CHAT } from './state/visible-chats.sql';

const GET = statement<ChatScopes>(`SELECT c.agent_revision_id, c.enabled_scopes FROM chats c WHERE ${VISIBLE_CHAT}`);
const LOCK = statement<ChatScopes>(`SELECT c.agent_revision_id, c.enabled_scopes FROM chats c WHERE ${VISIBLE_CHAT} FOR NO KEY UPDATE`);

export interface ChatScopes {
  agent_revision_id: string;
  /** Null = all. */
  enabled_scopes: string[] | null;
}

/** What chats have switched on. */
@Injectable()
export class TogglesRepository {
  /** Null when there is no such chat for the caller. */
  async get(db: Db, scope: OrgScope, agentId: string, chatId: string): Promise<ChatScopes | null> {
    return (await db.query(GET, [scope.orgId, scope.actor.userId, agentId, chatId]))[0] ?? null;
  }

  /** The same, locked for the rest of the transaction. */
  async lock(tx: Db, scope: OrgScope, agentId: string, chatId: string): Promise<ChatScopes | null> {
    return (await tx.query(LOCK, [scope.orgId, scope.actor.userId, agentId, chatId]))[0] ?? null;
  }
}
