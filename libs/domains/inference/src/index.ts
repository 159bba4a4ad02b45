export type {
  ChatMessage,
  ChatResult,
  Dialect,
  DocumentPart,
  EmbedResult,
  FinishReason,
  ImagePart,
  ProviderState,
  ResponseFormat,
  StreamEvent,
  StreamOptions,
  TextPart,
  ToolCall,
  ToolDefinition,
  Usage,
  UserContent,
} from './client';
export { InferenceMaintenanceModule } from './holds/hold.maintenance';
export { Holds, type HoldingWork, type Quote, type WorkHold } from './holds/holds.service';
export { ProviderError, sumOf } from './client';
export { InferenceError, type InferenceErrorCode } from './inference.errors';
export { GovernanceModule } from './governance/governance.module';
export * from './inference.module';
export { inferenceConfig, mockRouteEnabled } from './inference.config';
export { InferenceSettings } from './inference.settings';
export * from './inference.types';
export { ModelCatalog } from './model-catalog.service';
export { ModelQueries } from './model.queries';
export { ModelCalls, type EmbedCall, type ModelCall } from './model-calls.service';
export { contentWith, ModelFiles, type ModelFile, type ReadableFile } from './model-files';
export { ModelEndpoint, ModelResolver, type ResolvedModel, type ResolveRequest } from './choice/model-resolver.service';
export { ModelHealthQueries, type ModelFault } from './governance/model-health.queries';
export { ModelUsers, type AgentModel, type ModelUser, type ModelUserReader } from './governance/model-users';
export { OrgRuntimeService, type RuntimeDefaults } from './governance/org-runtime.service';
export { OwnModelsService } from './governance/own-models.service';
export { PlatformModelsService } from './governance/platform-models.service';
export { PlatformRoutesService } from './governance/platform-routes.service';
export { PlatformSettingsService } from './governance/platform-settings.service';
export { isPriced, priceOf, type Price } from './pricing';
export { RepointService } from './governance/repoint.service';
export { RouteKeysService } from './governance/route-keys.service';
export { RoutePinsQueries } from './governance/route-pins.queries';
export { seedInference, type InferenceSeed } from './seed';
export {
  costOf,
  RECEIPT_COLUMNS,
  receiptRow,
  receiptValues,
  ReceiptsRepository,
  type CallCost,
  type ReceiptInput,
  type ReceiptOwner,
  type ReceiptRow,
} from './receipts.repository';
