import type { ModePreset } from '@aps/entities';
import { InferenceError } from '../inference.errors';
import type { ChooseRequest, ModelWish } from '../inference.types';
import { chooseModel, type ResolutionRules } from './resolution.policy';
import { aModel, aRoute, aView, idOf, type ViewParts } from '../testing/views';

const RULES: ResolutionRules = {
  byoKeys: true,
  defaultModel: null,
  defaultEffort: null,
  maxEffort: null,
  thinking: true,
  environmentKeys: () => [],
};
const BASE: ViewParts = {
  routes: [aRoute('main'), aRoute('other'), aRoute('mock', { sort_order: 9 })],
  models: ['a', 'b', 'c', 'd', 'e']
    .map((key, i) => aModel(key, 'main', { sort_order: 10 + i }))
    .concat(aModel('mock', 'mock', { sort_order: 1 })),
  keys: { main: 'sealed', other: 'sealed' },
};
const preset = (model_key: string, rest: Partial<ModePreset> = {}): ModePreset => ({ model_key, ...rest });

interface Case {
  name: string;
  parts?: ViewParts;
  rules?: Partial<ResolutionRules>;
  request?: Partial<ChooseRequest>;
  wish?: ModelWish;
  want: { model?: string; source?: string; reason?: string; requested?: string | null; error?: string };
}

const allOfThem: ModelWish = { messageModel: 'a', chatMode: 'normal', agentModel: 'c' };
const withPresets: ViewParts = { platform: { mode_normal: preset('b'), default_model: 'e' }, org: { chat_default_model: 'd' } };
const disabled = (key: string, replacement?: string) =>
  aModel(key, 'main', { enabled: false, replacement_model_id: replacement ? idOf(`model:${replacement}`) : null });
const chain = (...keys: string[]) => keys.map((key, i) => (i === keys.length - 1 ? aModel(key, 'main') : disabled(key, keys[i + 1])));

const CASES: Case[] = [
  // the order
  {
    name: 'the message comes first',
    parts: withPresets,
    wish: allOfThem,
    want: { model: 'a', source: 'message', reason: 'requested', requested: 'a' },
  },
  {
    name: 'then the mode of the chat',
    parts: withPresets,
    wish: { ...allOfThem, messageModel: null },
    want: { model: 'b', source: 'chat_mode', reason: 'requested', requested: 'b' },
  },
  {
    name: 'then the model of the agent',
    parts: withPresets,
    wish: { agentModel: 'c' },
    want: { model: 'c', source: 'agent', requested: 'c' },
  },
  { name: 'or its mode', parts: withPresets, wish: { agentMode: 'normal' }, want: { model: 'b', source: 'agent_mode', requested: 'b' } },
  {
    name: 'then the default of the chats',
    parts: withPresets,
    want: { model: 'd', source: 'org_default', reason: 'default', requested: null },
  },
  {
    name: 'then that of the agents',
    parts: { org: { agent_default_model: 'c' }, platform: { default_model: 'e' } },
    want: { model: 'c', source: 'org_default' },
  },
  {
    name: 'but not for other scopes',
    parts: { org: { agent_default_model: 'c' }, platform: { default_model: 'e' } },
    request: { scope: 'process' },
    want: { model: 'e', source: 'platform_default' },
  },
  {
    name: 'then the default of the platform',
    parts: { platform: { default_model: 'e' } },
    rules: { defaultModel: 'd' },
    want: { model: 'e', source: 'platform_default', reason: 'default' },
  },
  { name: 'then that of the environment', rules: { defaultModel: 'd' }, want: { model: 'd', source: 'environment' } },
  {
    name: 'and at last the first that works, the mock only when there is nothing else',
    want: { model: 'a', source: 'automatic', reason: 'default', requested: null },
  },
  {
    name: 'a mode without a preset names no model',
    wish: { chatMode: 'x_high', agentModel: 'c' },
    want: { model: 'c', source: 'agent', requested: 'c' },
  },
  {
    name: 'each scope has its default',
    parts: { org: { tool_router_default_model: 'c' } },
    request: { scope: 'tool_router' },
    want: { model: 'c', source: 'org_default' },
  },
  {
    name: 'a classifier takes the feature model when the organization names none',
    parts: { platform: { feature_models: { intake_classifier: 'b' } } },
    request: { scope: 'intake_classifier' },
    want: { model: 'b', source: 'feature' },
  },
  {
    name: 'side work asks the feature model first',
    parts: { platform: { feature_models: { title: 'b' } } },
    request: { feature: 'title' },
    wish: { agentModel: 'c' },
    want: { model: 'b', source: 'feature', requested: 'b' },
  },
  {
    name: 'and takes the usual way without one',
    request: { feature: 'title' },
    wish: { agentModel: 'c' },
    want: { model: 'c', source: 'agent' },
  },
  // allowlists
  {
    name: 'a message outside the allowlist falls through',
    parts: { ...withPresets, org: { chat_model_allowlist: ['d'], chat_default_model: 'd' } },
    wish: { messageModel: 'a' },
    want: { model: 'd', source: 'org_default', reason: 'not_allowed', requested: 'a' },
  },
  {
    name: 'an agent outside the allowlist runs on the agents’ default, before the chats’',
    parts: { org: { agent_model_allowlist: ['b'], agent_default_model: 'b', chat_default_model: 'd' } },
    wish: { agentModel: 'c' },
    want: { model: 'b', source: 'org_default', reason: 'not_allowed', requested: 'c' },
  },
  {
    name: 'the chats’ allowlist says nothing about agents',
    parts: { org: { chat_model_allowlist: ['d'], chat_default_model: 'd' } },
    wish: { agentModel: 'c' },
    want: { model: 'c', source: 'agent' },
  },
  {
    name: 'the automatic choice keeps to the allowlist',
    parts: { org: { chat_model_allowlist: ['c'] } },
    want: { model: 'c', source: 'automatic' },
  },
  {
    name: 'the platform’s default as well',
    parts: { org: { chat_model_allowlist: ['c'] }, platform: { default_model: 'e' } },
    want: { model: 'c', source: 'automatic' },
  },
  { name: 'nothing allowed is nothing', parts: { org: { chat_model_allowlist: ['gone'] } }, want: { error: 'model_unavailable' } },
  // successors
  {
    name: 'a disabled model is followed to its successor',
    parts: { models: chain('old', 'new') },
    wish: { agentModel: 'old' },
    want: { model: 'new', source: 'agent', reason: 'replaced', requested: 'old' },
  },
  {
    name: 'over five hops',
    parts: { models: chain('0', '1', '2', '3', '4', '5') },
    wish: { agentModel: '0' },
    want: { model: '5', reason: 'replaced' },
  },
  {
    name: 'and not over six',
    parts: { models: [...chain('0', '1', '2', '3', '4', '5', '6'), aModel('x', 'main', { sort_order: -1 })] },
    wish: { agentModel: '0' },
    want: { model: 'x', source: 'automatic', reason: 'disabled', requested: '0' },
  },
  {
    name: 'a circle ends',
    parts: { models: [disabled('p', 'q'), disabled('q', 'p'), aModel('x', 'main')] },
    wish: { agentModel: 'p' },
    want: { model: 'x', reason: 'disabled' },
  },
  {
    name: 'a disabled model without one is passed over',
    parts: { models: [disabled('old'), aModel('e', 'main')], platform: { default_model: 'e' } },
    wish: { messageModel: 'old' },
    want: { model: 'e', source: 'platform_default', reason: 'disabled', requested: 'old' },
  },
  {
    name: 'the successor of an allowed model is allowed',
    parts: { models: [...chain('old', 'new'), aModel('d', 'main')], org: { chat_model_allowlist: ['old', 'd'], chat_default_model: 'd' } },
    wish: { messageModel: 'old' },
    want: { model: 'new', reason: 'replaced' },
  },
  {
    name: 'an enabled row of the key wins over a disabled one',
    parts: { models: [{ ...disabled('k', 'a'), id: idOf('model:k1') }, aModel('k', 'other'), aModel('a', 'main')] },
    wish: { messageModel: 'k' },
    want: { model: 'k', reason: 'requested' },
  },
  {
    name: 'an unknown model is passed over',
    wish: { messageModel: 'nope', agentModel: 'c' },
    want: { model: 'c', source: 'agent', reason: 'unknown', requested: 'nope' },
  },
  {
    name: 'a model of another kind is unknown',
    parts: { models: [aModel('emb', 'main', { kind: 'embedding' }), aModel('c', 'main')] },
    wish: { messageModel: 'emb', agentModel: 'c' },
    want: { model: 'c', reason: 'unknown' },
  },
  // routes and keys
  {
    name: 'a chosen model on a disabled route fails',
    parts: { routes: [aRoute('main', { enabled: false }), aRoute('mock')] },
    wish: { agentModel: 'c' },
    want: { error: 'route_disabled' },
  },
  {
    name: 'also as a default',
    parts: { routes: [aRoute('main', { enabled: false }), aRoute('mock')], platform: { default_model: 'c' } },
    want: { error: 'route_disabled' },
  },
  {
    name: 'and by the organization’s switch',
    parts: { settings: { main: { enabled: false } } },
    wish: { agentModel: 'c' },
    want: { error: 'route_disabled' },
  },
  {
    name: 'which has no effect without byo_keys',
    parts: { settings: { main: { enabled: false } } },
    rules: { byoKeys: false },
    wish: { agentModel: 'c' },
    want: { model: 'c' },
  },
  {
    name: 'the organization cannot switch on what the platform switched off',
    parts: { routes: [aRoute('main', { enabled: false }), aRoute('mock')], settings: { main: { enabled: true } } },
    wish: { agentModel: 'c' },
    want: { error: 'route_disabled' },
  },
  {
    name: 'the automatic choice looks past a disabled route',
    parts: { routes: [aRoute('main', { enabled: false }), aRoute('mock')] },
    want: { model: 'mock', source: 'automatic' },
  },
  {
    name: 'a chosen model without a key fails',
    parts: { routes: [aRoute('openai')], models: [aModel('c', 'openai')], keys: {} },
    wish: { agentModel: 'c' },
    want: { error: 'model_unavailable' },
  },
  {
    name: 'the automatic choice looks past a route without a key',
    parts: { routes: [aRoute('openai'), aRoute('mock')], models: [aModel('c', 'openai'), aModel('mock', 'mock')], keys: {} },
    want: { model: 'mock' },
  },
  {
    name: 'and prefers one with a key to one that needs none',
    parts: {
      routes: [aRoute('hosted'), aRoute('openai')],
      models: [aModel('h', 'hosted', { sort_order: 1 }), aModel('c', 'openai', { sort_order: 2 })],
      keys: { openai: 'sealed' },
    },
    want: { model: 'c' },
  },
  {
    name: 'the organization’s own key makes a route usable',
    parts: { routes: [aRoute('openai')], models: [aModel('c', 'openai')], keys: {}, settings: { openai: { api_key: 'sealed' } } },
    want: { model: 'c' },
  },
  {
    name: 'without byo_keys it does not',
    parts: { routes: [aRoute('openai')], models: [aModel('c', 'openai')], keys: {}, settings: { openai: { api_key: 'sealed' } } },
    rules: { byoKeys: false },
    want: { error: 'model_unavailable' },
  },
  {
    name: 'the mock without an address is of no use',
    parts: { routes: [aRoute('mock', { base_url: null })], models: [aModel('mock', 'mock')] },
    want: { error: 'model_unavailable' },
  },
  { name: 'an empty catalog', parts: { models: [] }, want: { error: 'model_unavailable' } },
  // own models
  {
    name: 'an own model hides the platform’s of the same key',
    parts: {
      routes: [aRoute('main'), aRoute('mine', { owner_org_id: idOf('org') })],
      models: [aModel('k', 'main'), aModel('k', 'mine', { id: idOf('own'), owner_org_id: idOf('org'), label: 'own' })],
    },
    wish: { messageModel: 'k' },
    want: { model: 'k', source: 'message' },
  },
  // embeddings
  {
    name: 'an embedding is found by its feature model',
    parts: {
      models: [aModel('e1', 'main', { kind: 'embedding', sort_order: 1 }), aModel('e2', 'main', { kind: 'embedding', sort_order: 2 })],
      platform: { feature_models: { embedding: 'e2' } },
    },
    request: { feature: 'embedding' },
    want: { model: 'e2', source: 'feature' },
  },
  {
    name: 'or by itself, whatever the chats’ allowlist says',
    parts: {
      models: [aModel('c', 'main'), aModel('e1', 'main', { kind: 'embedding' })],
      org: { chat_model_allowlist: ['c'], chat_default_model: 'c' },
    },
    request: { feature: 'embedding' },
    wish: { agentModel: 'c' },
    want: { model: 'e1', source: 'automatic' },
  },
];

describe('chooseModel', () => {
  it.each(CASES)('$name', ({ parts, rules, request, wish, want }) => {
    const choose = () => chooseModel(aView({ ...BASE, ...parts }), { scope: 'chat', ...request, requested: wish }, { ...RULES, ...rules });
    if (want.error) {
      expect(choose).toThrow(InferenceError);
      expect(choose).toThrow(expect.objectContaining({ code: want.error }) as Error);
      return;
    }
    const choice = choose();
    expect(choice.resolved_model).toBe(want.model);
    expect(choice.entry.key).toBe(want.model);
    if (want.source) expect(choice.source).toBe(want.source);
    if (want.reason) expect(choice.reason).toBe(want.reason);
    if (want.requested !== undefined) expect(choice.requested_model).toBe(want.requested);
  });

  it('takes the own model of a key, not the platform’s', () => {
    const view = aView({
      routes: [aRoute('main'), aRoute('mine', { owner_org_id: idOf('org') })],
      models: [aModel('k', 'main'), aModel('k', 'mine', { id: idOf('own'), owner_org_id: idOf('org') })],
    });
    expect(chooseModel(view, { scope: 'chat', requested: { messageModel: 'k' } }, RULES).route.slug).toBe('mine');
  });

  describe('effort and caps', () => {
    const effortOf = (wish: ModelWish, parts: ViewParts = {}, rules: Partial<ResolutionRules> = {}) =>
      chooseModel(aView({ ...BASE, ...parts }), { scope: 'chat', requested: { agentModel: 'c', ...wish } }, { ...RULES, ...rules });

    it.each<[string, ModelWish, ViewParts, Partial<ResolutionRules>, string | null]>([
      ['nobody asked', {}, {}, {}, null],
      ['the message', { reasoningEffort: 'low', chatMode: 'x_high', agentReasoningEffort: 'medium' }, {}, {}, 'low'],
      ['the mode, which without a preset is an effort only', { chatMode: 'x_high', agentReasoningEffort: 'medium' }, {}, {}, 'xhigh'],
      [
        'the preset of the mode',
        { chatMode: 'x_high' },
        { platform: { mode_x_high: preset('b', { reasoning_effort: 'medium' }) } },
        {},
        'medium',
      ],
      ['the agent', { agentReasoningEffort: 'medium' }, { platform: { default_reasoning_effort: 'low' } }, {}, 'medium'],
      ['the agent, where the mode says nothing', { chatMode: 'normal', agentReasoningEffort: 'medium' }, {}, {}, 'medium'],
      ['the platform', {}, { platform: { default_reasoning_effort: 'low' } }, { defaultEffort: 'high' }, 'low'],
      ['the environment', {}, {}, { defaultEffort: 'high' }, 'high'],
      ['a named model goes without the mode', { messageModel: 'a', chatMode: 'x_high' }, {}, {}, null],
      [
        'thinking switched off by the organization',
        { reasoningEffort: 'high' },
        { org: { thinking_enabled: false }, platform: { thinking_enabled: true } },
        {},
        'none',
      ],
      [
        'thinking switched on by the organization',
        { reasoningEffort: 'high' },
        { org: { thinking_enabled: true }, platform: { thinking_enabled: false } },
        {},
        'high',
      ],
      ['thinking switched off by the platform', { reasoningEffort: 'high' }, { platform: { thinking_enabled: false } }, {}, 'none'],
      [
        'thinking switched off by the preset',
        { chatMode: 'trivial', reasoningEffort: 'high' },
        { platform: { mode_trivial: preset('b', { thinking_enabled: false }) } },
        {},
        'none',
      ],
      ['a word that is no effort', { reasoningEffort: 'huge' }, {}, {}, null],
    ])('takes the effort of %s', (_, wish, parts, rules, effort) => {
      expect(effortOf(wish, parts, rules).reasoning_effort).toBe(effort);
    });

    it('has side work take the model of a mode, and not its effort', () => {
      const view = aView({ ...BASE, platform: { mode_x_high: preset('b', { reasoning_effort: 'xhigh' }) } });
      const choice = chooseModel(view, { scope: 'chat', feature: 'title', requested: { chatMode: 'x_high' } }, RULES);
      expect(choice).toMatchObject({ resolved_model: 'b', source: 'chat_mode', mode: null, reasoning_effort: null });
    });

    it('reports an effort above the ceiling as clamped', () => {
      expect(effortOf({ reasoningEffort: 'xhigh' }, { platform: { max_reasoning_effort: 'medium' } })).toMatchObject({
        reasoning_effort: 'medium',
        requested_reasoning_effort: 'xhigh',
        effort_clamped: true,
      });
      expect(effortOf({ reasoningEffort: 'low' }, { platform: { max_reasoning_effort: 'medium' } })).toMatchObject({
        reasoning_effort: 'low',
        effort_clamped: false,
      });
      expect(effortOf({ reasoningEffort: 'xhigh' }, {}, { maxEffort: 'high' })).toMatchObject({
        reasoning_effort: 'high',
        effort_clamped: true,
      });
    });

    it('caps the output by the least of model, preset and caller', () => {
      const models = [aModel('b', 'main', { max_output_tokens: 1_000 })];
      const platform = { mode_normal: preset('b', { max_output_tokens: 500 }) };
      expect(effortOf({ chatMode: 'normal' }, { models, platform }).max_output_tokens).toBe(500);
      expect(effortOf({ chatMode: 'normal', maxOutputTokens: 100 }, { models, platform }).max_output_tokens).toBe(100);
      expect(effortOf({ messageModel: 'b' }, { models, platform }).max_output_tokens).toBe(1_000);
      expect(effortOf({}).max_output_tokens).toBeNull();
    });

    it('says whether a call is priced', () => {
      const models = [aModel('c', 'main', { input_price_per_1m: null }), aModel('b', 'main')];
      expect(effortOf({}, { models }).priced).toBe(false);
      expect(effortOf({ messageModel: 'b' }, { models }).priced).toBe(true);
    });
  });
});
