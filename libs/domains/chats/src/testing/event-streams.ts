import type { Bearer } from '@aps/platform/testing';
import { StreamReader, type ChatsService, type Frame, type TestOrg } from './chats';

/** Opens streams of many topics, and by tickets; what is still open ends with the service. */
export class EventStreamsClient {
  constructor(private readonly app: ChatsService) {}

  /** @param as null sends no bearer token */
  events(org: TestOrg, query: Record<string, string>, options: { as?: Bearer | null; lastEventId?: string } = {}): Promise<StreamReader> {
    return this.follow(`/api/orgs/${org.id}/events?${new URLSearchParams(query).toString()}`, { as: org.owner, ...options });
  }

  async follow(path: string, { as, lastEventId }: { as?: Bearer | null; lastEventId?: string }): Promise<StreamReader> {
    const controller = new AbortController();
    this.app.streams.add(controller);
    const headers = {
      ...(as && { Authorization: `Bearer ${as.token}` }),
      ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
    };
    return new StreamReader(await fetch(this.app.url + path, { headers, signal: controller.signal }), controller);
  }
}

/** The numbers of a topic's events among frames, snapshots left out. */
export const numbersOf = (frames: Frame[], topic: string): number[] =>
  frames
    .filter(({ event, id, data }) => id !== undefined && event !== 'snapshot' && data.topic === topic)
    .map(({ data }) => Number(data.id));

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
