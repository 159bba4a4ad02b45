export { SourceKind } from './ingestion/source.kind';
export * from './knowledge.module';
export { KnowledgeQueries } from './knowledge.queries';
export { SyncKind } from './syncs/sync.kind';
export { GrantedBases, type NamedBase } from './tools/granted-bases.queries';
export { readsBase, writesBase } from './tools/grants.policy';
