import { Module } from '@nestjs/common';
import { memberTopics, TopicSources } from '@aps/guards';
import { ProcessesModule } from '../processes.module';
import { RunsQueries } from '../reading/runs.queries';
import { SchedulesModule } from '../schedules/schedules.module';
import { ProcessCallsController } from './calls.controller';
import { ProcessesController } from './processes.controller';
import { ProcessRevisionsController } from './revisions.controller';
import { ProcessRunsController } from './runs.controller';
import { SchedulesController } from './schedules.controller';

@Module({
  imports: [ProcessesModule, SchedulesModule],
  controllers: [ProcessesController, ProcessRevisionsController, ProcessRunsController, ProcessCallsController, SchedulesController],
})
export class ProcessesHttpModule {
  /** Runs as topics: `run:{id}`, for as long as their process is there. */
  constructor(sources: TopicSources, runs: RunsQueries) {
    const standings = (ids: string[]) => runs.standings(ids);
    sources.register(
      memberTopics('run', 'processes', standings, ({ id, process_id, state }) => ({ run_id: id, process_id, status: state })),
    );
  }
}
