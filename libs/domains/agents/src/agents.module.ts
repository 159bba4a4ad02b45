import { Module } from '@nestjs/common';
import { InferenceModule } from '@aps/inference';
import { AgentModels } from './agent-models';
import { AgentReferences } from './agent-references';
import { AgentsQueries } from './agents.queries';
import { AgentsRepository } from './agents.repository';
import { AgentsService } from './agents.service';
import { AgentDelegates } from './delegates.queries';
import { InstructionsRepository } from './instructions.repository';
import { InstructionsService } from './instructions.service';
import { MemoriesService } from './memories.service';
import { AgentRevisions } from './revisions.queries';
import { RevisionsRepository } from './revisions.repository';
import { RevisionsService } from './revisions.service';
import { RolloutsQueries } from './rollouts.queries';
import { RolloutsRepository } from './rollouts.repository';
import { SkillsRepository } from './skills.repository';
import { SkillsService } from './skills.service';

const face = [
  AgentsService,
  AgentsQueries,
  AgentDelegates,
  AgentRevisions,
  RevisionsService,
  RolloutsQueries,
  InstructionsService,
  SkillsService,
  MemoriesService,
];

@Module({
  imports: [InferenceModule],
  providers: [
    ...face,
    AgentModels,
    AgentReferences,
    AgentsRepository,
    RevisionsRepository,
    RolloutsRepository,
    InstructionsRepository,
    SkillsRepository,
  ],
  exports: face,
})
export class AgentsModule {}
