import { Module } from '@nestjs/common';
import { KnowledgeModule } from '../knowledge.module';
import { KnowledgeBasesController } from './bases.controller';
import { KnowledgeDocumentsController } from './documents.controller';
import { KnowledgeSearchController } from './search.controller';
import { KnowledgeSourcesController } from './sources.controller';
import { KnowledgeSyncsController } from './syncs.controller';

@Module({
  imports: [KnowledgeModule],
  controllers: [
    KnowledgeSearchController,
    KnowledgeSyncsController,
    KnowledgeBasesController,
    KnowledgeSourcesController,
    KnowledgeDocumentsController,
  ],
})
export class KnowledgeHttpModule {}
