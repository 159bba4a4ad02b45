import { Module, OnModuleInit } from '@nestjs/common';
import { InferenceModule, ModelUsers } from '@aps/inference';
import { AgentReferences } from './agent-references';
import { AgentsQueries } from './agents.queries';
import { AgentsRepository } from './agents.repository';
import { AgentsService } from './agents.service';
import { AgentDelegates } from './delegates.queries';
import { InstructionsService } from './instructions.service';
import { MemoriesService } from './memories.service';
import { AgentRevisions } from './revisions.queries';
import { RevisionsService } from './revisions.service';
import { RolloutsQueries } from './rollouts.queries';
import { SkillsRepository } from './skills.repository';
import { SkillsService } from './skills.service';

const exported = [
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
  providers: [...exported, AgentReferences, AgentsRepository, SkillsRepository],
  exports: exported,
})
export class AgentsModule implements OnModuleInit {
  constructor(
    private readonly users: ModelUsers,
    private readonly agents: AgentsQueries,
  ) {}

  /** Tells who decides about models which agents name them. */
  onModuleInit(): void {
    this.users.register(this.agents);
  }
}
