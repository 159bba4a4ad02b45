import { Module } from '@nestjs/common';
import { AgentsModule } from '@aps/agents';
import { InferenceModule } from '@aps/inference';
import { ToolsModule } from '@aps/tools';
import { DecisionGate } from './decision-gate';
import { DecisionLog } from './decision-log';
import { DecisionRetention } from './decisions.maintenance';
import { DecisionsQueries } from './decisions.queries';
import { DecisionsRepository } from './decisions.repository';
import { DecisionsService } from './decisions.service';
import { Escalations } from './escalations';
import { RecordDecisionTool } from './record-decision.tool';

/** Decisions as humans review them. */
@Module({
  imports: [AgentsModule],
  providers: [DecisionsRepository, DecisionsQueries, DecisionsService],
  exports: [DecisionsQueries, DecisionsService],
})
export class DecisionsModule {}

/** Decisions as turns make them: whether there is a log, what is written into it, and what may not happen without it. */
@Module({
  imports: [InferenceModule, ToolsModule],
  providers: [DecisionsRepository, DecisionLog, DecisionGate, Escalations, RecordDecisionTool],
  exports: [DecisionLog, DecisionGate, Escalations],
})
export class DecisionMakingModule {}

/** What is done to old decisions, for a worker application. */
@Module({ providers: [DecisionRetention] })
export class DecisionsMaintenanceModule {}
