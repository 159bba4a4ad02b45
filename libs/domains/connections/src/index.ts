export { Catalog, type Card, type RankedMethod } from './catalog/catalog';
export { ConnectionCredentials, type Meant } from './connection-credentials';
export * from './connections.module';
export { ConnectionConsents, type Asked, type ComeBack, type Landed } from './consents/connection-consents';
export {
  ConnectionsQueries,
  type ConnectionOutline,
  type ConnectionRow,
  type ConnectionView,
  type ConnectionWithTools,
  type StewardedConnection,
} from './connections.queries';
export { ConnectionsService, type Connected, type ConnectionChange, type NewConnection, type Reconnected } from './connections.service';
export { ConnectionDependents, type ConnectionUsers, type Dependents, type NamedConnection } from './dependents';
export { ConnectionListings, type RefreshOptions, type Refreshed } from './listing/connection-listings';
export { levelOf, type LookedAt, type ToolChange } from './listing/terms.policy';
export { nests } from './mcp/answers';
export * from './mcp/tool-server';
export { ConnectionOwnersModule } from './owners-who-left';
export { ConnectionCalls, type Calling } from './tools/connection-calls';
export { checkable, ConnectionTools } from './tools/connection-tools';
export { ToolRefresh, type RefreshedTools } from './tools/tool-refresh';
export { toolName, toolSlug } from './tools/tool-names.policy';
