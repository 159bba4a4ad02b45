import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { ChatsQueries } from '../reading/chats.queries';
import type { ChatRow } from '../state/chat.types';
import { TopicSources, type OrgScope, type TopicQuestion, type TopicSource } from '@aps/guards';
import type { Snapshot } from '@aps/platform/realtime';
import { toChatSummary } from './chats.convert';
import { withoutDollars } from './dollars';

/** Chats as topics: `chat:{id}`. */
@Injectable()
export class ChatTopics implements TopicSource {
  readonly kind = 'chat';
  readonly area = 'chats';

  constructor(
    sources: TopicSources,
    private readonly queries: ChatsQueries,
    private readonly entitlements: Entitlements,
  ) {
    sources.register(this);
  }

  async snapshots(scope: OrgScope, ids: string[]): Promise<(Snapshot | undefined)[]> {
    const [found, hideDollars] = await Promise.all([this.queries.byIds(scope, ids), this.entitlements.hidesDollars(scope.orgId)]);
    const chats = new Map(found.map((chat) => [chat.id, toSnapshot(chat, hideDollars)]));
    return ids.map((id) => chats.get(id));
  }

  /** @throws DomainError 404 where the agent has no such chat for the caller */
  async snapshotOf(scope: OrgScope, agentId: string, chatId: string): Promise<Snapshot> {
    const [chat, hideDollars] = await Promise.all([this.queries.get(scope, agentId, chatId), this.entitlements.hidesDollars(scope.orgId)]);
    return toSnapshot(chat, hideDollars);
  }

  visibleAmong(questions: TopicQuestion[]): Promise<boolean[]> {
    return this.queries.visibleAmong(questions);
  }

  /** Their plans change while streams are open. */
  async concealing(orgIds: string[]): Promise<Map<string, Snapshot['conceal']>> {
    const entitled = await this.entitlements.ofMany(orgIds);
    return new Map(orgIds.map((id) => [id, entitled.get(id)?.enforces_credits ? withoutDollars : undefined]));
  }
}

const toSnapshot = (chat: ChatRow, hideDollars: boolean): Snapshot => ({
  data: { chat: toChatSummary(chat, hideDollars), last_id: String(chat.event_seq) },
  newestId: chat.event_seq,
  ...(hideDollars && { conceal: withoutDollars }),
});
