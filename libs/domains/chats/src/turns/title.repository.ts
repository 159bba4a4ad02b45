import { Injectable } from '@nestjs/common';
import { statement, type Db, type Tx } from '@aps/platform/database';
import type { ClaimedTurn } from './turn.repository';

/** So many characters of the first message name a chat. */
const MAX_OPENING = 4_000;

const OPENING = statement<UntitledChat>(`
  SELECT c.org_id, c.agent_id, c.agent_revision_id, c.model_mode_override AS chat_mode, t.model, t.model_mode_override,
         (SELECT left(m.content, ${MAX_OPENING}) FROM messages m WHERE m.chat_id = c.id AND m.role = 'user' ORDER BY m.seq LIMIT 1) AS opening
  FROM chats c JOIN organizations org ON org.id = c.org_id AND org.suspended_at IS NULL CROSS JOIN LATERAL (SELECT o.model, o.model_mode_override FROM turns o WHERE o.chat_id = c.id ORDER BY o.seq LIMIT 1) t
  WHERE c.id = $1 AND c.title IS NULL AND c.deleted_at IS NULL`);
const LOCK = statement<{ title: string | null }>('SELECT title FROM chats WHERE id = $1 FOR NO KEY UPDATE');

/** A chat without a title, and what it began with: its first message, and the model and the mode of its first turn. */
export interface UntitledChat extends Pick<
  ClaimedTurn,
  'org_id' | 'agent_id' | 'agent_revision_id' | 'model' | 'model_mode_override' | 'chat_mode'
> {
  opening: string | null;
}

@Injectable()
export class TitleRepository {
  /** Null for a chat that has a title, or is gone, or whose organization is suspended: a later turn may ask again. */
  async opening(db: Db, chatId: string): Promise<UntitledChat | null> {
    return (await db.query(OPENING, [chatId]))[0] ?? null;
  }

  /** Locks the chat. @returns whether it still has no title */
  async lockUntitled(tx: Tx, chatId: string): Promise<boolean> {
    const [chat] = await tx.query(LOCK, [chatId]);
    return chat !== undefined && chat.title === null;
  }
}
