import { Injectable } from '@nestjs/common';
import { TopicSources, type OrgScope, type TopicQuestion, type TopicSource } from '@aps/guards';
import type { Snapshot } from '@aps/platform/realtime';
import { EnvironmentsQueries } from '../environments.queries';

/** Environments as topics: `env:{id}`. Every member may follow them. */
@Injectable()
export class EnvironmentTopics implements TopicSource {
  readonly kind = 'env';
  readonly area = 'environments';

  constructor(
    sources: TopicSources,
    private readonly queries: EnvironmentsQueries,
  ) {
    sources.register(this);
  }

  async snapshots({ orgId }: OrgScope, ids: string[]): Promise<(Snapshot | undefined)[]> {
    const environments = await this.queries.states(ids);
    return ids.map((id) => {
      const environment = environments.find((each) => each.id === id && each.org_id === orgId);
      if (!environment) return undefined;
      const { status, event_seq: newestId } = environment;
      return { data: { environment_id: id, status, connected: status === 'online', last_id: String(newestId) }, newestId };
    });
  }

  async visibleAmong(questions: TopicQuestion[]): Promise<boolean[]> {
    const environments = await this.queries.states(questions.map(({ id }) => id));
    return questions.map(({ id, orgId }) => environments.some((each) => each.id === id && each.org_id === orgId));
  }
}
