import { Injectable } from '@nestjs/common';
import { chatTopic, DomainError } from '@aps/contracts';
import { requireScope, TopicSources, type AuthenticatedRequest, type OrgScope } from '@aps/guards';
import { OpenStreams } from '@aps/platform/rate-limit';
import { resumePoint, SseStreams, type Snapshot, type StreamTopic } from '@aps/platform/realtime';
import type { Response } from 'express';
import { ChatTopics } from './topic-sources';
import { parseTopics } from './topics';

/** Opens the event streams that the API has: of one chat, and of many topics. */
@Injectable()
export class EventStreams {
  constructor(
    private readonly streams: SseStreams,
    private readonly sources: TopicSources,
    private readonly chats: ChatTopics,
    private readonly openStreams: OpenStreams,
  ) {}

  /** @throws DomainError 404 for a chat that the caller may not open; 429 when the user has too many streams open */
  ofChat(scope: OrgScope, agentId: string, chatId: string, request: AuthenticatedRequest, response: Response): Promise<void> {
    const topic = chatTopic(chatId);
    return this.serve(scope, request, response, {
      topics: [{ topic, name: topic }],
      snapshots: async () => [await this.chats.snapshotOf(scope, agentId, chatId)],
    });
  }

  /** @throws DomainError 422 for what is no topic; 403 `insufficient_scope`; 404 `not_found` that names the topics which are none for the caller; 429 */
  async ofTopics(scope: OrgScope, text: string | undefined, request: AuthenticatedRequest, response: Response): Promise<void> {
    const topics = parseTopics(text, scope.orgId);
    const kinds = new Set(topics.map(({ topic }) => kindOf(topic)));
    for (const kind of kinds) {
      const area = this.sources.of(kind)?.area;
      if (area) requireScope(request.principal!, area, 'read');
    }
    return this.serve(scope, request, response, { topics, multiplexed: true, snapshots: () => this.snapshots(scope, topics, kinds) });
  }

  /** The whole request is refused when one topic is: a client that asks for five and gets four would have to find out which. */
  private async snapshots(scope: OrgScope, topics: StreamTopic[], kinds: Set<string>): Promise<Snapshot[]> {
    const found = new Map<string, Snapshot | undefined>();
    await Promise.all(
      [...kinds].map(async (kind) => {
        const asked = topics.filter(({ topic }) => kindOf(topic) === kind);
        const snapshots = await this.sources.of(kind)?.snapshots(
          scope,
          asked.map(({ topic }) => topic.slice(kind.length + 1)),
        );
        asked.forEach(({ topic }, i) => found.set(topic, snapshots?.[i]));
      }),
    );
    const missing = topics.filter(({ topic }) => !found.get(topic)).map(({ name }) => name);
    if (missing.length) throw new DomainError('not_found', 'Topic not found.', { context: { topics: missing } });
    return topics.map(({ topic }) => found.get(topic)!);
  }

  private async serve(
    scope: OrgScope,
    request: AuthenticatedRequest,
    response: Response,
    about: { topics: StreamTopic[]; multiplexed?: boolean; snapshots: () => Promise<Snapshot[]> },
  ): Promise<void> {
    await this.openStreams.admit(scope.userId, response);
    const reader = this.sources.readerOf(request.principal!, scope);
    return this.streams.serve(response, {
      ...about,
      orgId: scope.orgId,
      after: resumePoint(request),
      reader,
      audience: this.sources.audience,
    });
  }
}

const kindOf = (topic: string): string => topic.slice(0, topic.indexOf(':'));
