import { NO_ORG_SETTINGS } from '../choice/catalog-view';
import {
  assertDefaultsAllowed,
  limitsOf,
  namedModels,
  normalizeLimits,
  setsModels,
  type LimitsPatch,
  type OrgLimits,
} from './limits.policy';

const check = (before: Partial<OrgLimits>, wish: LimitsPatch) => () => {
  const patch = normalizeLimits(wish);
  assertDefaultsAllowed({ ...limitsOf({ ...NO_ORG_SETTINGS, ...before }), ...patch }, patch);
};

describe('limits', () => {
  it('clear an allowlist by null, and leave what was not sent', () => {
    expect(normalizeLimits({ chat_model_allowlist: null, chat_default_model: null, budget_limit_usd: '5' })).toEqual({
      chat_model_allowlist: [],
      chat_default_model: null,
      budget_limit_usd: '5',
    });
    expect(normalizeLimits({})).toEqual({});
  });

  it('know setting from clearing', () => {
    expect(
      setsModels(
        normalizeLimits({ chat_model_allowlist: null, agent_model_allowlist: [], chat_default_model: null, budget_limit_usd: '5' }),
      ),
    ).toBe(false);
    expect(setsModels(normalizeLimits({ chat_default_model: 'm' }))).toBe(true);
    expect(setsModels(normalizeLimits({ prompt_model_allowlist: ['m'] }))).toBe(true);
  });

  it('name every model with its place', () => {
    expect(
      namedModels(
        normalizeLimits({ chat_model_allowlist: ['a', 'b'], process_default_model: 'c', budget_limit_usd: '5', chat_default_model: null }),
      ),
    ).toEqual([
      { key: 'a', path: ['chat_model_allowlist', 0] },
      { key: 'b', path: ['chat_model_allowlist', 1] },
      { key: 'c', path: ['process_default_model'] },
    ]);
  });

  it.each<[string, Partial<OrgLimits>, LimitsPatch]>([
    ['a list with its default', {}, { chat_model_allowlist: ['a', 'b'], chat_default_model: 'b' }],
    ['a list with the stored default on it', { agent_default_model: 'a' }, { agent_model_allowlist: ['a'] }],
    ['an empty list without a default', { agent_default_model: 'a' }, { agent_model_allowlist: [], agent_default_model: null }],
    ['a list for prompts, which have no default', {}, { prompt_model_allowlist: ['a'] }],
    ['another field beside an older state', { chat_model_allowlist: ['a'] }, { agent_default_model: 'x' }],
  ])('allow %s', (_, before, patch) => {
    expect(check(before, patch)).not.toThrow();
  });

  it.each<[string, Partial<OrgLimits>, LimitsPatch]>([
    ['a list without a default', {}, { chat_model_allowlist: ['a'] }],
    ['a list without the default on it', { chat_default_model: 'b' }, { chat_model_allowlist: ['a'] }],
    ['a default off the stored list', { agent_model_allowlist: ['a'], agent_default_model: 'a' }, { agent_default_model: 'b' }],
    ['no default beside the stored list', { agent_model_allowlist: ['a'], agent_default_model: 'a' }, { agent_default_model: null }],
  ])('refuse %s', (_, before, patch) => {
    expect(check(before, patch)).toThrow(expect.objectContaining({ code: 'allowlist_needs_default' }) as Error);
  });
});
