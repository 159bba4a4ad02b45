import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { chatTopic } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { RealtimePublisher } from '@aps/platform/realtime';
import { ChatsQueries } from '../reading/chats.queries';
import { PresenceQueries, type Person } from './presence.queries';
import { PresenceStore, type ChatRef, type PresenceState } from './presence.store';

/** How often a gateway looks who has aged out. */
const SWEEP_MS = 5_000;

export interface Viewer extends Person {
  last_seen_at: Date;
}

/**
 * Who has a chat open right now, by what their clients say. Best effort: nothing of it is stored, and while Redis is away nobody views
 * anything. The chat's readers are told when somebody comes or goes, and not of every heartbeat.
 */
@Injectable()
export class PresenceService implements OnApplicationShutdown {
  private readonly logger = new Logger('Presence');
  private readonly timer = setInterval(() => void this.sweep(), SWEEP_MS).unref();
  private failing = false;

  constructor(
    private readonly db: Database,
    private readonly chats: ChatsQueries,
    private readonly store: PresenceStore,
    private readonly queries: PresenceQueries,
    private readonly publisher: RealtimePublisher,
  ) {}

  /**
   * Says that the caller has the chat open.
   *
   * @returns the others
   * @throws DomainError 404 for a chat that is not there or that the caller may not open
   */
  heartbeat(scope: OrgScope, agentId: string, chatId: string): Promise<Viewer[]> {
    return this.change(scope, agentId, chatId, (chat) => this.store.stay(chat, scope.userId));
  }

  /** Says that the caller has it open no more. A second window of the same user comes back with its next heartbeat. As {@link heartbeat}. */
  leave(scope: OrgScope, agentId: string, chatId: string): Promise<Viewer[]> {
    return this.change(scope, agentId, chatId, (chat) => this.store.leave(chat, scope.userId));
  }

  /** Tells the readers of chats in which somebody has aged out. Of all gateways one tells. */
  async sweep(): Promise<void> {
    for (const chat of (await this.bestEffort(() => this.store.takeDue())) ?? []) {
      const state = await this.bestEffort(() => this.store.age(chat));
      if (!state?.changed) continue;
      try {
        this.publish(chat, await this.viewersOf(chat, state));
      } catch {
        // The database is away; whoever comes or goes next is told with everybody.
      }
    }
  }

  private async change(
    scope: OrgScope,
    agentId: string,
    chatId: string,
    act: (chat: ChatRef) => Promise<PresenceState>,
  ): Promise<Viewer[]> {
    await this.chats.get(scope, agentId, chatId);
    const chat = { orgId: scope.orgId, chatId };
    const state = await this.bestEffort(() => act(chat));
    if (!state) return [];
    const viewers = await this.viewersOf(chat, state);
    if (state.changed) this.publish(chat, viewers);
    return viewers.filter((viewer) => viewer.user_id !== scope.userId);
  }

  private async viewersOf({ orgId, chatId }: ChatRef, { seen }: PresenceState): Promise<Viewer[]> {
    const people = await this.queries.people(orgId, chatId, [...seen.keys()]);
    return people.map((person) => ({ ...person, last_seen_at: seen.get(person.user_id)! }));
  }

  private publish({ chatId }: ChatRef, viewers: Viewer[]): void {
    const data = { viewers: viewers.map((viewer) => ({ ...viewer, last_seen_at: viewer.last_seen_at.toISOString() })) };
    this.publisher.publish(chatTopic(chatId), [{ notice: 'presence_changed', at: this.db.now().toISOString(), data }]);
  }

  private async bestEffort<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await ask();
      this.failing = false;
      return answer;
    } catch (error) {
      // Once per outage.
      if (!this.failing) this.logger.warn(`Nobody knows who views which chat: ${(error as Error).message}`);
      this.failing = true;
      return undefined;
    }
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}
