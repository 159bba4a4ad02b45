import { Module } from '@nestjs/common';
import { AgentsModule } from '@aps/agents';
import { InferenceModule } from '@aps/inference';
import { ArmChecks } from './arm-checks';
import { ExperimentsService } from './experiments.service';
import { RolloutResultsService } from './results.service';

@Module({
  imports: [AgentsModule, InferenceModule],
  providers: [ArmChecks, ExperimentsService, RolloutResultsService],
  exports: [AgentsModule, ExperimentsService, RolloutResultsService],
})
export class RolloutsModule {}
