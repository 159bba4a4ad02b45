import { Module } from '@nestjs/common';
import { KnowledgeModule } from '../knowledge.module';
import { KnowledgeBasesController } from './bases.controller';
import { KnowledgeDocumentsController } from './documents.controller';
import { KnowledgeSearchController } from './search.controller';
import { KnowledgeSourcesController } from './sources.controller';

@Module({
  imports: [KnowledgeModule],
  controllers: [KnowledgeSearchController, KnowledgeBasesController, KnowledgeSourcesController, KnowledgeDocumentsController],
})
export class KnowledgeHttpModule {}
