import { Injectable } from '@nestjs/common';
import { TopicSources, type OrgScope, type TopicQuestion, type TopicSource } from '@aps/guards';
import type { Snapshot } from '@aps/platform/realtime';
import { RunsQueries } from '../reading/runs.queries';

/** Runs as topics: `run:{id}`. Every member may follow them, for as long as their process is there. */
@Injectable()
export class RunTopics implements TopicSource {
  readonly kind = 'run';
  readonly area = 'processes';

  constructor(
    sources: TopicSources,
    private readonly queries: RunsQueries,
  ) {
    sources.register(this);
  }

  async snapshots({ orgId }: OrgScope, ids: string[]): Promise<(Snapshot | undefined)[]> {
    const runs = await this.queries.standings(ids);
    return ids.map((id) => {
      const run = runs.find((each) => each.id === id && each.org_id === orgId);
      if (!run) return undefined;
      const { process_id, state: status, event_seq: newestId } = run;
      return { data: { run_id: id, process_id, status, last_id: String(newestId) }, newestId };
    });
  }

  async visibleAmong(questions: TopicQuestion[]): Promise<boolean[]> {
    const runs = await this.queries.standings(questions.map(({ id }) => id));
    return questions.map(({ id, orgId }) => runs.some((run) => run.id === id && run.org_id === orgId));
  }
}
