export { KnowledgeModule, KnowledgeToolsModule } from './knowledge.module';
export { GrantedBases, type NamedBase } from './tools/granted-bases.queries';
export { readsBase, writesBase } from './tools/grants.policy';
