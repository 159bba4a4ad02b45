import { Module } from '@nestjs/common';
import { FilesModule } from '@aps/files';
import { ToolsModule } from '@aps/tools';
import { EgressModule } from '@aps/platform/egress';
import { InferenceModule } from '@aps/inference';
import { RunsModule } from '@aps/platform/runs';
import { KnowledgeBases } from './bases.service';
import { SourceDiagnoses } from './diagnosis/diagnosis.queries';
import { DocumentTree } from './document-tree';
import { DocumentsRepository } from './documents.repository';
import { KnowledgeDocuments } from './documents.service';
import { SourceReader } from './extraction/source-reader';
import { Indexing } from './ingestion/indexing';
import { SourceFetcher } from './ingestion/source-fetcher';
import { SourceKind } from './ingestion/source.kind';
import { KnowledgeQueries } from './knowledge.queries';
import { Embedder } from './search/embedder';
import { Embedding } from './search/embedding.maintenance';
import { SearchQueries } from './search/search.queries';
import { KnowledgeSearch } from './search/search.service';
import { VectorsRepository } from './search/vectors.repository';
import { SourceFiles } from './source-files';
import { SourcesRepository } from './sources.repository';
import { GrantedBases } from './tools/granted-bases.queries';
import { KnowledgeTools } from './tools/knowledge.tools';
import { KnowledgeSources } from './sources.service';

const exported = [
  GrantedBases,
  KnowledgeBases,
  KnowledgeDocuments,
  KnowledgeQueries,
  KnowledgeSearch,
  KnowledgeSources,
  SourceDiagnoses,
  SourcesRepository,
];

@Module({
  imports: [EgressModule, FilesModule, InferenceModule],
  providers: [...exported, DocumentTree, DocumentsRepository, Embedder, SearchQueries, SourceFiles, VectorsRepository],
  exports: [...exported, Embedder, VectorsRepository],
})
export class KnowledgeModule {}

/** What indexes sources, for the application that does so. */
@Module({
  imports: [EgressModule, FilesModule, KnowledgeModule, RunsModule],
  providers: [Embedding, Indexing, SourceFetcher, SourceKind, SourceReader],
  exports: [SourceKind, RunsModule],
})
export class IngestionModule {}

/** The tools by which agents use bases, for gateway and worker. */
@Module({ imports: [KnowledgeModule, ToolsModule], providers: [KnowledgeTools] })
export class KnowledgeToolsModule {}
