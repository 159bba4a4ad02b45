import { Injectable } from '@nestjs/common';
import { statement, type Db, type Tx } from '@aps/platform/database';

/** So many characters of the first message name a chat. */
const MAX_OPENING = 4_000;

const OPENING = statement<UntitledChat>(`
  SELECT c.org_id, c.agent_id, (SELECT left(m.content, ${MAX_OPENING}) FROM messages m WHERE m.chat_id = c.id AND m.role = 'user' ORDER BY m.seq LIMIT 1) AS opening
  FROM chats c WHERE c.id = $1 AND c.title IS NULL AND c.deleted_at IS NULL`);
const LOCK = statement<{ title: string | null }>('SELECT title FROM chats WHERE id = $1 FOR NO KEY UPDATE');

/** A chat without a title, and what it began with. */
export interface UntitledChat {
  org_id: string;
  agent_id: string;
  opening: string | null;
}

@Injectable()
export class TitleRepository {
  /** Null for a chat that has a title, or is gone. */
  async opening(db: Db, chatId: string): Promise<UntitledChat | null> {
    return (await db.query(OPENING, [chatId]))[0] ?? null;
  }

  /** Locks the chat. @returns whether it still has no title */
  async lockUntitled(tx: Tx, chatId: string): Promise<boolean> {
    const [chat] = await tx.query(LOCK, [chatId]);
    return chat !== undefined && chat.title === null;
  }
}
