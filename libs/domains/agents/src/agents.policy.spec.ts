import type { EntitlementSet } from '@aps/billing';
import type { Agent } from '@aps/entities';
import { columnsOf, requireEntitled, requireStorable, type AgentInput } from './agents.policy';

const plan = (features: Partial<EntitlementSet>) => features as EntitlementSet;
const refusal = (check: () => void): unknown => {
  try {
    check();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return undefined;
};

describe('requireEntitled', () => {
  const none = plan({ direct_model_choice: false, per_agent_budgets: false });
  const all = plan({ direct_model_choice: true, per_agent_budgets: true });

  it.each<[EntitlementSet, AgentInput, string | undefined]>([
    [none, { model: 'm' }, 'entitlement_required'],
    [none, { reasoning_effort: 'low' }, 'entitlement_required'],
    [none, { budget_credits_per_period: '1' }, 'entitlement_required'],
    [none, { model_mode: 'normal' }, undefined],
    [none, { model: null, reasoning_effort: null, budget_credits_per_period: null }, undefined],
    [all, { model: 'm', reasoning_effort: 'low', budget_credits_per_period: '0' }, undefined],
    [all, { model_mode: 'normal' }, 'plan_mismatch'],
    [all, { model_mode: null }, undefined],
  ])('decides %#', (entitled, input, code) => expect(refusal(() => requireEntitled(entitled, input))).toBe(code));

  it.each<[EntitlementSet, Partial<Agent>, AgentInput, string | undefined]>([
    [none, { model: 'm', reasoning_effort: 'low' }, { model: 'm', reasoning_effort: 'low' }, undefined],
    [none, { model: 'm' }, { model: 'n' }, 'entitlement_required'],
    [none, { reasoning_effort: 'low' }, { reasoning_effort: 'high' }, 'entitlement_required'],
    [none, { budget_credits_per_period: '1.500000' }, { budget_credits_per_period: '+1.50' }, undefined],
    [none, { budget_credits_per_period: '1.500000' }, { budget_credits_per_period: '1.500001' }, 'entitlement_required'],
    [none, { budget_credits_per_period: null }, { budget_credits_per_period: '0' }, 'entitlement_required'],
    [all, { model_mode: 'normal' }, { model_mode: 'normal' }, undefined],
    [all, { model_mode: null }, { model_mode: 'normal' }, 'plan_mismatch'],
  ])('asks for what differs from the agent alone %#', (entitled, before, input, code) =>
    expect(refusal(() => requireEntitled(entitled, input, before as Agent))).toBe(code),
  );
});

describe('requireStorable', () => {
  const nested = (levels: number): Record<string, unknown> => (levels === 1 ? {} : { x: nested(levels - 1) });

  it('bounds metadata in size and depth', () => {
    expect(refusal(() => requireStorable({ metadata: nested(16) }))).toBeUndefined();
    expect(refusal(() => requireStorable({ metadata: nested(17) }))).toBe('validation_error');
    expect(refusal(() => requireStorable({ metadata: { x: 'é'.repeat(8_000) } }))).toBeUndefined();
    expect(refusal(() => requireStorable({ metadata: { x: 'é'.repeat(8_200) } }))).toBe('validation_error');
  });
});

describe('columnsOf', () => {
  it('sets what is there, clears what is null, leaves what is absent', () => {
    expect(columnsOf<Agent>({ description: null, max_steps: 3, slug: 's', instruction: 'i' })).toEqual({ description: null, max_steps: 3 });
  });

  it('keeps each element of a list once', () => {
    const id = '0198c0de-0000-7000-8000-00000000000a';
    expect(columnsOf<Agent>({ allowed_tools: ['core', 'core', '*'], child_agent_ids: [id, id] })).toEqual({
      allowed_tools: ['core', '*'],
      child_agent_ids: [id],
    });
  });
});
