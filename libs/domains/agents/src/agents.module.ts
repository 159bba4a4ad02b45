import { Module } from '@nestjs/common';
import { ConnectionDependents, ConnectionReadsModule } from '@aps/connections';
import { EnvironmentsModule } from '@aps/environments';
import { FilesModule } from '@aps/files';
import { OrgScope } from '@aps/guards';
import { Deletions } from '@aps/platform/database';
import { InferenceModule, ModelUsers } from '@aps/inference';
import { KnowledgeModule } from '@aps/knowledge';
import { PromptsModule } from '@aps/prompts';
import { ToolsModule } from '@aps/tools';
import { AgentReferences } from './agent-references';
import { AGENT_MODELS, AgentsQueries } from './agents.queries';
import { AgentsRepository } from './agents.repository';
import { AgentsService } from './agents.service';
import { AgentDelegates } from './delegates.queries';
import { InstructionsService } from './instructions.service';
import { MemoriesService } from './memories.service';
import { AgentRevisions } from './revisions.queries';
import { RevisionsService } from './revisions.service';
import { RolloutsQueries } from './rollouts.queries';
import { ScopeOwners } from './scope-owners';
import { SharedBlocks } from './sharing/blocks.service';
import { AgentContexts } from './sharing/contexts.queries';
import { TeamsQueries } from './sharing/teams.queries';
import { SkillFiles } from './skill-files';
import { SkillsRepository } from './skills.repository';
import { SkillsService } from './skills.service';
import { ToolSourcesQueries } from './tool-sources/tool-sources.queries';

const exported = [
  AgentsService,
  AgentReferences,
  AgentsRepository,
  AgentContexts,
  AgentDelegates,
  AgentRevisions,
  RevisionsService,
  RolloutsQueries,
  InstructionsService,
  SkillFiles,
  SkillsService,
  MemoriesService,
  ScopeOwners,
  SharedBlocks,
  TeamsQueries,
  ToolSourcesQueries,
];

/** Tells who decides about models which agents name them; all of agents that an application of operators needs. */
@Module({ imports: [InferenceModule], providers: [AgentsQueries], exports: [AgentsQueries] })
export class AgentModelsModule {
  constructor(users: ModelUsers) {
    users.register(AGENT_MODELS);
  }
}

@Module({
  imports: [
    AgentModelsModule,
    ConnectionReadsModule,
    EnvironmentsModule,
    FilesModule,
    InferenceModule,
    KnowledgeModule,
    PromptsModule,
    ToolsModule,
  ],
  providers: [...exported, SkillsRepository],
  exports: [AgentModelsModule, ...exported],
})
export class AgentsModule {
  constructor(dependents: ConnectionDependents, agents: AgentsQueries, deletions: Deletions, revisions: RevisionsService) {
    deletions.listen(async (tx, { kind, orgId, id }) => {
      if (kind === 'environment') await revisions.leaveEnvironment(tx, OrgScope.system(orgId, 'environment deleted'), id);
    });
    dependents.register({
      of: (db, scope, connections) => agents.namingConnections(db, scope, connections),
      wildcards: (db, scope) => agents.grantedEverything(db, scope),
    });
  }
}
