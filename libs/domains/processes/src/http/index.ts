import { Module } from '@nestjs/common';
import { ProcessesModule } from '../processes.module';
import { ProcessCallsController } from './calls.controller';
import { ProcessesController } from './processes.controller';
import { ProcessRevisionsController } from './revisions.controller';
import { RunTopics } from './run-topics';
import { ProcessRunsController } from './runs.controller';

@Module({
  imports: [ProcessesModule],
  providers: [RunTopics],
  controllers: [ProcessesController, ProcessRevisionsController, ProcessRunsController, ProcessCallsController],
})
export class ProcessesHttpModule {}
