import { StreamReader, type ChatsTestApp, type Frame, type TestOrg } from './chats-test-app';

/** Opens streams of many topics, and by tickets; closes what is still open with {@link close}. */
export class EventStreamsClient {
  private readonly open = new Set<AbortController>();

  constructor(private readonly app: ChatsTestApp) {}

  /** @param as null sends no bearer token */
  events(org: TestOrg, query: Record<string, string>, options: { as?: string | null; lastEventId?: string } = {}): Promise<StreamReader> {
    return this.follow(`/api/orgs/${org.id}/events?${new URLSearchParams(query).toString()}`, { as: org.owner, ...options });
  }

  async follow(path: string, { as, lastEventId }: { as?: string | null; lastEventId?: string }): Promise<StreamReader> {
    const controller = new AbortController();
    this.open.add(controller);
    const headers = { ...(as && { Authorization: `Bearer ${as}` }), ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) };
    return new StreamReader(await fetch(this.app.url + path, { headers, signal: controller.signal }), controller);
  }

  close(): void {
    for (const controller of this.open) controller.abort();
  }
}

/** The numbers of a topic's events among frames, snapshots left out. */
export const numbersOf = (frames: Frame[], topic: string): number[] =>
  frames
    .filter(({ event, id, data }) => id !== undefined && event !== 'snapshot' && data.topic === topic)
    .map(({ data }) => Number(data.id));

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
