import { Module } from '@nestjs/common';
import { ConnectionDependents, ConnectionsModule } from '@aps/connections';
import { FilesModule } from '@aps/files';
import { ToolsModule } from '@aps/tools';
import { EgressModule } from '@aps/platform/egress';
import { InferenceModule } from '@aps/inference';
import { RunsModule } from '@aps/platform/runs';
import { KnowledgeBases } from './bases.service';
import { SourceDiagnoses } from './diagnosis/diagnosis.queries';
import { DeletedBases } from './deleted-bases';
import { DocumentTree } from './document-tree';
import { DocumentsRepository } from './documents.repository';
import { KnowledgeDocuments } from './documents.service';
import { Indexing } from './ingestion/indexing';
import { SourceFetcher } from './ingestion/source-fetcher';
import { SourceKind } from './ingestion/source.kind';
import { SourceReader } from './ingestion/source-reader';
import { KnowledgeQueries } from './knowledge.queries';
import { Embedder } from './search/embedder';
import { Embedding } from './search/embedding.maintenance';
import { OwnModels } from './search/own-models.repository';
import { Reranker } from './search/reranker';
import { SearchCalls } from './search/search-calls';
import { SearchQueries } from './search/search.queries';
import { Searching } from './search/searching';
import { KnowledgeSearch } from './search/search.service';
import { VectorsRepository } from './search/vectors.repository';
import { SourceFiles } from './source-files';
import { SourcesRepository } from './sources.repository';
import { SyncKind } from './syncs/sync.kind';
import { Syncing } from './syncs/syncing';
import { SyncsMaintenance } from './syncs/syncs.maintenance';
import { SyncsQueries } from './syncs/syncs.queries';
import { SyncsRepository } from './syncs/syncs.repository';
import { KnowledgeSyncs } from './syncs/syncs.service';
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
  KnowledgeSyncs,
  SourceDiagnoses,
  SourcesRepository,
  SyncsQueries,
  SyncsRepository,
];

@Module({
  imports: [ConnectionsModule, EgressModule, FilesModule, InferenceModule],
  providers: [
    ...exported,
    DocumentTree,
    DocumentsRepository,
    Embedder,
    OwnModels,
    Reranker,
    SearchCalls,
    SearchQueries,
    Searching,
    SourceFiles,
    VectorsRepository,
  ],
  exports: [...exported, Embedder, OwnModels, SourceFiles, VectorsRepository],
})
export class KnowledgeModule {
  constructor(dependents: ConnectionDependents, syncs: SyncsQueries) {
    dependents.register({ of: (db, scope, connections) => syncs.ofConnections(db, scope, connections) });
  }
}

/** What indexes sources and keeps them up with collections, for the application that does so. */
@Module({
  imports: [ConnectionsModule, EgressModule, FilesModule, KnowledgeModule, RunsModule],
  providers: [DeletedBases, Embedding, Indexing, SourceFetcher, SourceKind, SourceReader, SyncKind, Syncing, SyncsMaintenance],
  exports: [SourceKind, SyncKind, RunsModule],
})
export class IngestionModule {}

/** The tools by which agents use bases, for gateway and worker. */
@Module({ imports: [KnowledgeModule, ToolsModule], providers: [KnowledgeTools] })
export class KnowledgeToolsModule {}
