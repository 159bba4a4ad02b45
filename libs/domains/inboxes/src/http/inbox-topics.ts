import { Injectable } from '@nestjs/common';
import { TopicSources, type OrgScope, type TopicQuestion, type TopicSource } from '@aps/guards';
import type { Snapshot } from '@aps/platform/realtime';
import { InboxesQueries } from '../inboxes.queries';

/** Inboxes as topics: `inbox:{id}`. Every member may follow them. */
@Injectable()
export class InboxTopics implements TopicSource {
  readonly kind = 'inbox';
  readonly area = 'inboxes';

  constructor(
    sources: TopicSources,
    private readonly queries: InboxesQueries,
  ) {
    sources.register(this);
  }

  async snapshots({ orgId }: OrgScope, ids: string[]): Promise<(Snapshot | undefined)[]> {
    const inboxes = await this.queries.states(ids);
    return ids.map((id) => {
      const inbox = inboxes.find((each) => each.id === id && each.org_id === orgId);
      return inbox && { data: { inbox_id: id, status: inbox.status, last_id: String(inbox.event_seq) }, newestId: Number(inbox.event_seq) };
    });
  }

  async visibleAmong(questions: TopicQuestion[]): Promise<boolean[]> {
    const inboxes = await this.queries.states(questions.map(({ id }) => id));
    return questions.map(({ id, orgId }) => inboxes.some((inbox) => inbox.id === id && inbox.org_id === orgId));
  }
}
