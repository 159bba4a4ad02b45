import { Module } from '@nestjs/common';
import { ProcessesModule } from '../processes.module';
import { SchedulesModule } from '../schedules/schedules.module';
import { ProcessCallsController } from './calls.controller';
import { ProcessesController } from './processes.controller';
import { ProcessRevisionsController } from './revisions.controller';
import { RunTopics } from './run-topics';
import { ProcessRunsController } from './runs.controller';
import { SchedulesController } from './schedules.controller';

@Module({
  imports: [ProcessesModule, SchedulesModule],
  providers: [RunTopics],
  controllers: [ProcessesController, ProcessRevisionsController, ProcessRunsController, ProcessCallsController, SchedulesController],
})
export class ProcessesHttpModule {}
