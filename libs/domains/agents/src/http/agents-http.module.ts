import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents.module';
import { AgentsController } from './agents.controller';
import { InstructionController } from './instruction.controller';
import { MemoriesController } from './memories.controller';
import { RevisionsController } from './revisions.controller';
import { RolloutsController } from './rollouts.controller';
import { SkillsController } from './skills.controller';

@Module({
  imports: [AgentsModule],
  controllers: [AgentsController, InstructionController, RevisionsController, RolloutsController, SkillsController, MemoriesController],
})
export class AgentsHttpModule {}
