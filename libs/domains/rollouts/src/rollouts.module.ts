import { Module } from '@nestjs/common';
import { AgentsModule } from '@aps/agents';
import { InferenceModule } from '@aps/inference';
import { ArmChecks } from './arm-checks';
import { ExperimentsService } from './experiments.service';

@Module({
  imports: [AgentsModule, InferenceModule],
  providers: [ArmChecks, ExperimentsService],
  exports: [AgentsModule, ExperimentsService],
})
export class RolloutsModule {}
