import { type ReasoningEffort, type ModelMode, MODEL_MODES } from '@aps/contracts';
import type { ModePreset } from '@aps/entities';
import type { CatalogView } from './catalog-view';
import { asEffort, clampEffort, MODE_EFFORT } from './effort.policy';
import { InferenceError } from '../inference.errors';
import {
  type CatalogEntry,
  type ChooseRequest,
  type InferenceFeature,
  type ModelChoice,
  type ModelKind,
  type ModelScope,
  type ModelSource,
  type OrgSettings,
  type ResolveReason,
} from '../inference.types';
import { isPriced } from '../pricing';
import { followReplacement } from './replacement.policy';
import { accessTo, automaticRank, isRouteOn } from './route-access.policy';

/** What the environment says, and what the organization's plan allows. */
export interface ResolutionRules {
  byoKeys: boolean;
  defaultModel: string | null;
  defaultEffort: ReasoningEffort | null;
  maxEffort: ReasoningEffort | null;
  thinking: boolean;
  /** Routes that the automatic choice leaves out. */
  without?: ReadonlySet<string>;
  /** Default: the process's environment. */
  environmentKeys?: (slug: string) => string[];
}

interface Candidate {
  source: ModelSource;
  key: string;
  /** Whose allowlist it must be on. */
  scope: ModelScope;
  preset?: ModePreset;
}

type Miss = Extract<ResolveReason, 'disabled' | 'not_allowed' | 'unknown'>;

const KIND_OF: Partial<Record<InferenceFeature, ModelKind>> = { embedding: 'embedding', rerank: 'rerank' };
/** The kind of model that side work needs. */
export const kindOf = (feature: InferenceFeature): ModelKind => KIND_OF[feature] ?? 'chat';
/** Scopes whose work the platform may also give to a feature model; an organization's own default comes first. */
const FEATURE_OF: Partial<Record<ModelScope, InferenceFeature>> = {
  intake_classifier: 'intake_classifier',
  tool_router: 'tool_router',
  prompt: 'prompt_default',
};

/** The models that a scope allows; empty = all. */
export function allowlistOf(settings: OrgSettings, scope: ModelScope): readonly string[] {
  if (scope === 'chat') return settings.chat_model_allowlist;
  if (scope === 'agent') return settings.agent_model_allowlist;
  return scope === 'prompt' ? settings.prompt_model_allowlist : [];
}

/** The model that an organization named for a scope. */
export function defaultOf(settings: OrgSettings, scope: ModelScope): string | null {
  return scope === 'prompt' ? null : settings[`${scope}_default_model`];
}

export const presetOf = (view: CatalogView, mode: ModelMode): ModePreset | null => view.platform.settings[`mode_${mode}`];

const asMode = (value: string | null | undefined): ModelMode | null => MODEL_MODES.find((m) => m === value) ?? null;

/**
 * Chooses the model of one piece of work: message, chat mode, agent revision, the organization's default, the platform's default,
 * and at last the first model that works. The first that is enabled and allowed is taken, whatever it costs; a disabled one is
 * followed to its successor. A chosen model on a route that is off, or without a key, fails: nobody's choice is changed silently
 * because of it.
 *
 * @throws InferenceError `route_disabled`, `model_unavailable`, `provider_auth`
 */
export function chooseModel(view: CatalogView, request: ChooseRequest, rules: ResolutionRules): ModelChoice {
  const kind = request.feature ? kindOf(request.feature) : 'chat';
  const wanted = wantedKey(view, request, kind);
  let firstMiss: Miss | null = null;
  for (const candidate of candidates(view, request, rules, kind)) {
    const found = find(view, candidate, kind);
    if (typeof found === 'string') {
      if (candidate.key === wanted) firstMiss ??= found;
      continue;
    }
    const { entry, replaced } = found;
    const route = view.route(entry.route_id);
    if (!route || !isRouteOn(view, route, rules.byoKeys))
      throw new InferenceError('route_disabled', `The route of the model ${entry.key} is disabled.`);
    const access = accessTo(view, route, rules.byoKeys, rules.environmentKeys);
    if (!access.usable) {
      throw access.gateway
        ? new InferenceError(
            'provider_auth',
            `The model ${entry.key} cannot be called: its route takes its key from an AI gateway, and none is set.`,
            { isOfOrganization: true },
          )
        : new InferenceError('model_unavailable', `The model ${entry.key} cannot be called: there is no key for its route.`);
    }
    const reason =
      wanted === null ? 'default' : candidate.key === wanted ? (replaced ? 'replaced' : 'requested') : (firstMiss ?? 'requested');
    return complete(view, request, rules, {
      entry,
      route,
      source: candidate.source,
      reason,
      requested_model: wanted,
      preset: candidate.preset,
    });
  }
  const entry = automatic(view, request.scope, kind, rules);
  if (!entry) throw new InferenceError('model_unavailable', `There is no ${kind} model that this organization can use.`);
  return complete(view, request, rules, {
    entry,
    route: view.route(entry.route_id)!,
    source: 'automatic',
    reason: wanted === null ? 'default' : (firstMiss ?? 'unknown'),
    requested_model: wanted,
  });
}

/** The key that the most specific chooser names. */
function wantedKey(view: CatalogView, { feature, requested: wish = {} }: ChooseRequest, kind: ModelKind): string | null {
  if (feature === 'embedding' && wish.embeddingModel) return wish.embeddingModel;
  const ofFeature = feature && view.platform.settings.feature_models[feature];
  if (ofFeature || kind !== 'chat') return ofFeature || null;
  return wish.messageModel || presetKey(view, wish.chatMode) || wish.agentModel || presetKey(view, wish.agentMode) || null;
}

const presetKey = (view: CatalogView, mode: string | null | undefined): string | undefined => {
  const known = asMode(mode);
  return (known && presetOf(view, known)?.model_key) ?? undefined;
};

function* candidates(
  view: CatalogView,
  { scope, feature, requested: wish = {} }: ChooseRequest,
  rules: ResolutionRules,
  kind: ModelKind,
): Generator<Candidate> {
  const features = view.platform.settings.feature_models;
  const named = (source: ModelSource, key: string | null | undefined, allowlist: ModelScope): Candidate[] =>
    key ? [{ source, key, scope: allowlist }] : [];
  const moded = (source: ModelSource, mode: string | null | undefined, allowlist: ModelScope): Candidate[] => {
    const known = asMode(mode);
    const preset = known && presetOf(view, known);
    return preset ? [{ source, key: preset.model_key, scope: allowlist, preset }] : [];
  };
  if (feature === 'embedding') yield* named('message', wish.embeddingModel, scope);
  if (feature) yield* named('feature', features[feature], scope);
  if (kind !== 'chat') return;

  yield* named('message', wish.messageModel, scope);
  yield* moded('chat_mode', wish.chatMode, scope);
  const ofAgent = [...named('agent', wish.agentModel, 'agent'), ...(wish.agentModel ? [] : moded('agent_mode', wish.agentMode, 'agent'))];
  yield* ofAgent;
  const settings = view.org.settings;
  // An agent whose own model may not be taken falls back to the agents' default, before the chats'.
  if (ofAgent.length) yield* named('org_default', settings.agent_default_model, 'agent');
  yield* named('org_default', defaultOf(settings, scope), scope);
  // A chat is always an agent's, so their default still says more than the platform's.
  if (scope === 'chat') yield* named('org_default', settings.agent_default_model, 'agent');
  const scopeFeature = FEATURE_OF[scope];
  if (scopeFeature) yield* named('feature', features[scopeFeature], scope);
  yield* named('platform_default', view.platform.settings.default_model, scope);
  yield* named('environment', rules.defaultModel, scope);
}

/** The row that a name stands for, or why it stands for none. */
function find(view: CatalogView, candidate: Candidate, kind: ModelKind): { entry: CatalogEntry; replaced: boolean } | Miss {
  const row = view.named(candidate.key, kind);
  if (!row) return 'unknown';
  const entry = followReplacement(row, (id) => view.entry(id));
  if (!entry || entry.kind !== kind) return 'disabled';
  // The successor of an allowed model is allowed: the operator says that it is the same thing under a new name.
  return permits(view, candidate.scope, kind, candidate.key, entry.key) ? { entry, replaced: entry !== row } : 'not_allowed';
}

/** Whether one of the keys is on the scope's allowlist. Allowlists are about chat models only. */
export function permits(view: CatalogView, scope: ModelScope, kind: ModelKind, ...keys: string[]): boolean {
  const list = kind === 'chat' ? allowlistOf(view.org.settings, scope) : [];
  return list.length === 0 || keys.some((k) => list.includes(k));
}

function automatic(view: CatalogView, scope: ModelScope, kind: ModelKind, rules: ResolutionRules): CatalogEntry | undefined {
  // Many models share few routes.
  const ranks = new Map<string, number>();
  let best: { entry: CatalogEntry; rank: number } | undefined;
  for (const entry of view.enabled(kind)) {
    let rank = ranks.get(entry.route_id);
    if (rank === undefined) ranks.set(entry.route_id, (rank = rankOf(view, entry.route_id, rules)));
    if (rank < (best?.rank ?? Infinity) && permits(view, scope, kind, entry.key)) best = { entry, rank };
    // None comes before it.
    if (best?.rank === 0) break;
  }
  return best?.entry;
}

/** Place of a route in the automatic choice; infinite where it cannot be used. */
function rankOf(view: CatalogView, routeId: string, rules: ResolutionRules): number {
  const route = view.route(routeId);
  if (!route || rules.without?.has(routeId) || !isRouteOn(view, route, rules.byoKeys)) return Infinity;
  const access = accessTo(view, route, rules.byoKeys, rules.environmentKeys);
  return access.usable ? automaticRank(route, access) : Infinity;
}

type Found = Pick<ModelChoice, 'entry' | 'route' | 'source' | 'reason' | 'requested_model'> & { preset?: ModePreset };

/** Adds what the call is made with: effort and caps. Side work may have the model of its chat; how hard that thinks there is about answers. */
function complete(view: CatalogView, { feature, requested: wish = {} }: ChooseRequest, rules: ResolutionRules, found: Found): ModelChoice {
  const { entry, preset, ...rest } = found;
  const { settings } = view.platform;
  const mode = feature || found.source === 'message' ? null : (asMode(wish.chatMode) ?? (wish.agentModel ? null : asMode(wish.agentMode)));
  const modePreset = mode && presetOf(view, mode);
  const ofMode = mode && (modePreset ? asEffort(modePreset.reasoning_effort) : MODE_EFFORT[mode]);
  const wanted =
    asEffort(wish.reasoningEffort) ??
    ofMode ??
    asEffort(wish.agentReasoningEffort) ??
    asEffort(settings.default_reasoning_effort) ??
    rules.defaultEffort;
  const thinking =
    (view.org.settings.thinking_enabled ?? settings.thinking_enabled ?? rules.thinking) && modePreset?.thinking_enabled !== false;
  const { effort, clamped } = clampEffort(wanted, entry, { max: asEffort(settings.max_reasoning_effort) ?? rules.maxEffort, thinking });
  const caps = [wish.maxOutputTokens, preset?.max_output_tokens, entry.max_output_tokens].filter(
    (n): n is number => typeof n === 'number' && n > 0,
  );
  return {
    ...rest,
    entry,
    resolved_model: entry.key,
    mode,
    reasoning_effort: effort,
    requested_reasoning_effort: wanted,
    effort_clamped: clamped,
    max_output_tokens: caps.length ? Math.min(...caps) : null,
    context_window: entry.context_window,
    priced: isPriced(entry),
  };
}
