import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents.module';
import { AgentsController } from './agents.controller';
import { AgentInstructionController } from './instruction.controller';
import { AgentMemoriesController } from './memories.controller';
import { AgentRevisionsController } from './revisions.controller';
import { RolloutsController } from './rollouts.controller';
import { SkillsController } from './skills.controller';

@Module({
  imports: [AgentsModule],
  controllers: [
    AgentsController,
    AgentInstructionController,
    AgentRevisionsController,
    RolloutsController,
    SkillsController,
    AgentMemoriesController,
  ],
})
export class AgentsHttpModule {}
