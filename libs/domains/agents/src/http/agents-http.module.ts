import { Module } from '@nestjs/common';
import { ConnectionsModule } from '@aps/connections';
import { AgentsModule } from '../agents.module';
import { AgentContextController, AgentsController } from './agents.controller';
import { AgentInstructionController } from './instruction.controller';
import { AgentMemoriesController, ProjectMemoriesController, TeamMemoriesController } from './memories.controller';
import { AgentRevisionsController } from './revisions.controller';
import { RolloutsController } from './rollouts.controller';
import { SkillsController } from './skills.controller';
import { TeamsController } from './teams.controller';
import { ToolSourcesController } from './tool-sources.controller';

@Module({
  imports: [AgentsModule, ConnectionsModule],
  controllers: [
    AgentsController,
    AgentInstructionController,
    AgentRevisionsController,
    RolloutsController,
    SkillsController,
    AgentMemoriesController,
    AgentContextController,
    TeamsController,
    TeamMemoriesController,
    ProjectMemoriesController,
    ToolSourcesController,
  ],
})
export class AgentsHttpModule {}
