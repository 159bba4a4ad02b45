import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents.module';
import { AgentsController } from './agents.controller';
import { AgentInstructionController } from './instruction.controller';
import { AgentContextController } from './context.controller';
import { AgentMemoriesController, ProjectMemoriesController, TeamMemoriesController } from './memories.controller';
import { AgentRevisionsController } from './revisions.controller';
import { RolloutsController } from './rollouts.controller';
import { SkillsController } from './skills.controller';
import { TeamsController } from './teams.controller';

@Module({
  imports: [AgentsModule],
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
  ],
})
export class AgentsHttpModule {}
