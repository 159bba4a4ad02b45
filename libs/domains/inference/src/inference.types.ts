import type { InferenceRoute, ModelCatalogEntry, OrgAiSettings, OrgRouteSetting, PlatformAiSettings } from '@aps/entities';
import type { ModelMode, ReasoningEffort } from '@aps/contracts';

export type Route = Omit<InferenceRoute, 'created_at' | 'updated_at'>;
export type CatalogEntry = Omit<ModelCatalogEntry, 'created_at' | 'updated_at'>;
export type PlatformSettings = Omit<PlatformAiSettings, 'id' | 'seeded_routes' | 'updated_at'>;
export type OrgSettings = Omit<OrgAiSettings, 'org_id' | 'updated_at'>;
export type RouteSetting = Pick<OrgRouteSetting, 'route_id' | 'api_key' | 'credential_source' | 'base_url' | 'enabled'>;
export type ModelKind = CatalogEntry['kind'];

/** What a model is chosen for. Each has its own default; the first three also their own allowlist. */
export const MODEL_SCOPES = ['agent', 'chat', 'prompt', 'process', 'intake_classifier', 'tool_router'] as const;
export type ModelScope = (typeof MODEL_SCOPES)[number];

/** Side work that the platform may give to a model of its own choice. */
export const FEATURES = [
  'title',
  'compaction',
  'intake_classifier',
  'tool_router',
  'distill',
  'payload_repair',
  'prompt_default',
  'embedding',
  'rerank',
  'judge',
] as const;
export type InferenceFeature = (typeof FEATURES)[number];

/** What those who may choose have chosen, from the most to the least specific. */
export interface ModelWish {
  messageModel?: string | null;
  /** Of an index that stands, for embeddings alone. */
  embeddingModel?: string | null;
  /** The mode of the message or, without one, of the chat. */
  chatMode?: string | null;
  agentModel?: string | null;
  agentMode?: string | null;
  /** The message's effort. */
  reasoningEffort?: string | null;
  agentReasoningEffort?: string | null;
  /** A cap of the caller; the model's own and the mode's cap hold beside it. */
  maxOutputTokens?: number | null;
}

export interface ChooseRequest {
  scope: ModelScope;
  /** Side work asks the platform's feature model first. */
  feature?: InferenceFeature;
  requested?: ModelWish;
}

/** Who named the model that was taken. */
export type ModelSource =
  'message' | 'chat_mode' | 'agent' | 'agent_mode' | 'org_default' | 'feature' | 'platform_default' | 'environment' | 'automatic';

/**
 * Why the model is what it is: as `requested`; `replaced` by the successor of a disabled one; or another one because the requested
 * was `disabled`, `not_allowed` or `unknown`; `default` when nobody asked for any.
 */
export type ResolveReason = 'requested' | 'replaced' | 'disabled' | 'not_allowed' | 'unknown' | 'default';

/** What was chosen, before any key is looked at. */
export interface ModelChoice {
  entry: CatalogEntry;
  route: Route;
  source: ModelSource;
  reason: ResolveReason;
  /** The key that the most specific chooser named; null when nobody did. */
  requested_model: string | null;
  resolved_model: string;
  /** The mode that said how the call is made, if one did. */
  mode: ModelMode | null;
  /** Null: the model's own default, nothing is sent. */
  reasoning_effort: ReasoningEffort | null;
  requested_reasoning_effort: ReasoningEffort | null;
  /** The effort asked for was not the effort given. */
  effort_clamped: boolean;
  /** Null: no cap is known. */
  max_output_tokens: number | null;
  context_window: number | null;
  /** Whether a call can be paid for: dollar prices or fallback credits are set. */
  priced: boolean;
}
