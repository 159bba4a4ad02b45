import { Injectable } from '@nestjs/common';
import { chatTopic, type TopicEvent } from '@aps/contracts';
import type { Tx } from '@aps/platform/database';
import { RealtimePublisher } from '@aps/platform/realtime';
import { numbered, type NewEvent } from './chat.types';
import { ChatLogRepository } from './chat-log.repository';

/** Writes down what happens in chats, and tells their readers. */
@Injectable()
export class ChatLog {
  constructor(
    private readonly repository: ChatLogRepository,
    private readonly realtime: RealtimePublisher,
  ) {}

  /** Writes events of a locked chat, and tells its readers after the commit. */
  async tell(tx: Tx, chatId: string, events: NewEvent[], at: Date): Promise<void> {
    await this.tellEach(tx, [{ chat_id: chatId, events }], at);
  }

  /** The same for several locked chats, with one statement. */
  async tellEach(tx: Tx, of: { chat_id: string; events: NewEvent[] }[], at: Date): Promise<void> {
    const told = of.filter((o) => o.events.length > 0);
    if (told.length === 0) return;
    const before = await this.repository.append(tx, told, at);
    tx.afterCommit(() => {
      for (const { chat_id, events } of told) this.realtime.publish(chatTopic(chat_id), numbered(events, before.get(chat_id)!, at));
    });
  }

  /** Writes events of a locked chat, for who tells them to its readers together with more. @returns them with their numbers */
  async append(tx: Tx, chatId: string, events: NewEvent[], at: Date): Promise<TopicEvent[]> {
    const before = await this.repository.append(tx, [{ chat_id: chatId, events }], at);
    return numbered(events, before.get(chatId)!, at);
  }
}
