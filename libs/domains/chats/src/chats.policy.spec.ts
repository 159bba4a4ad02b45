import {
  allowedActions,
  carriedChoices,
  CHAT_ACTIONS,
  effectOfMessage,
  isArchivable,
  isContinuable,
  isTerminable,
  mayShare,
  stopEffect,
  type ActionFacts,
  type ControlState,
} from './chats.policy';

const chat = (over: Partial<ControlState> = {}): ControlState => ({
  status: 'ACTIVE',
  pause: null,
  stop_reason: null,
  turn: null,
  ...over,
});
const me = 'b0a7a1f6-3f0e-4b53-9d3c-2f7f0f6f0001';
const facts: ActionFacts = { created_by: me, parent_chat_id: null, userId: me, blocked: false, has_opening: true, agent_deleted: false };

describe('a stop', () => {
  it.each([
    ['a running turn', chat({ status: 'RUNNING', turn: { status: 'running' } }), 'abort'],
    ['a turn that has not begun', chat({ turn: { status: 'queued' } }), 'skip'],
    ['waiting for child chats', chat({ pause: { kind: 'children' }, turn: { status: 'waiting' } }), 'end_wait'],
    ['a timer', chat({ pause: { kind: 'timer' }, turn: { status: 'waiting' } }), 'end_wait'],
    ['waiting for a slot', chat({ pause: { kind: 'queued' }, turn: { status: 'queued' } }), 'end_wait'],
    [
      'a turn that lost its worker and its slot',
      chat({ status: 'RUNNING', pause: { kind: 'queued' }, turn: { status: 'queued' } }),
      'abort',
    ],
    ['waiting for a human', chat({ status: 'PAUSED', pause: { kind: 'human' }, turn: { status: 'waiting' } }), 'none'],
    ['an idle chat', chat(), 'none'],
    ['a failed chat', chat({ status: 'ERRORED' }), 'none'],
    ['an archived chat', chat({ status: 'ARCHIVED' }), 'none'],
    ['an abandoned chat', chat({ status: 'ABANDONED' }), 'none'],
  ] as const)('of %s', (_, of, effect) => expect(stopEffect(of)).toBe(effect));
});

describe('by status', () => {
  it.each([
    // status, a message, terminate, archive, continue
    ['ACTIVE', 'dispatch', true, true, false],
    ['RUNNING', 'dispatch', true, true, false],
    ['PAUSED', 'dispatch', true, true, false],
    ['ERRORED', 'revive', false, true, true],
    ['ARCHIVED', 'keep', false, false, false],
    ['ABANDONED', 'keep', false, true, false],
  ] as const)('%s', (status, message, terminate, archive, goesOn) => {
    const of = chat({ status });
    expect([effectOfMessage(of), isTerminable(of), isArchivable(of), isContinuable(of)]).toEqual([message, terminate, archive, goesOn]);
  });
});

it('a message ends a wait, but not the waiting for a slot', () => {
  const effects = (['human', 'children', 'timer', 'queued'] as const).map((kind) =>
    effectOfMessage({ status: kind === 'human' ? 'PAUSED' : 'ACTIVE', pause: { kind } }),
  );
  expect(effects).toEqual(['revive', 'revive', 'revive', 'dispatch']);
});

it('an archived chat continues for two reasons alone', () => {
  const reasons = ['credits_exhausted', 'model_unpriced', 'user_archived', 'terminated', 'org_suspended', null];
  expect(reasons.filter((stop_reason) => isContinuable({ status: 'ARCHIVED', stop_reason }))).toEqual([
    'credits_exhausted',
    'model_unpriced',
  ]);
  expect(isContinuable({ status: 'ABANDONED', stop_reason: 'credits_exhausted' })).toBe(false);
});

it('only the human who began a chat shares it, and no chat that another one began', () => {
  expect(mayShare({ created_by: me, parent_chat_id: null }, me)).toBe(true);
  expect(mayShare({ created_by: me, parent_chat_id: null }, 'b0a7a1f6-3f0e-4b53-9d3c-2f7f0f6f0002')).toBe(false);
  expect(mayShare({ created_by: null, parent_chat_id: null }, null)).toBe(false);
  expect(mayShare({ created_by: me, parent_chat_id: 'b0a7a1f6-3f0e-4b53-9d3c-2f7f0f6f0003' }, me)).toBe(false);
});

describe('what is allowed', () => {
  const all = (of: ControlState, over: Partial<ActionFacts> = {}) => allowedActions(of, { ...facts, ...over });

  it('is what has an effect', () => {
    expect(all(chat())).toEqual(['message', 'terminate', 'retry', 'archive', 'rename', 'share', 'delete']);
    expect(all(chat({ status: 'RUNNING', turn: { status: 'running' } }))).toEqual(CHAT_ACTIONS.filter((a) => a !== 'continue'));
    expect(all(chat({ status: 'ERRORED' }))).toEqual(['message', 'continue', 'retry', 'archive', 'rename', 'share', 'delete']);
    expect(all(chat({ status: 'ARCHIVED', stop_reason: 'user_archived' }))).toEqual(['retry', 'rename', 'share', 'delete']);
    expect(all(chat({ status: 'ABANDONED' }))).toEqual(['retry', 'archive', 'rename', 'share', 'delete']);
  });

  it('leaves out what somebody or something stands in the way of', () => {
    expect(all(chat({ status: 'ERRORED' }), { blocked: true })).not.toContain('continue');
    expect(all(chat(), { has_opening: false })).not.toContain('retry');
    expect(all(chat(), { userId: null })).not.toContain('share');
  });
});

it('a retry carries the choices that a message may make now', () => {
  const choices = { model: 'mock', model_mode_override: 'normal', reasoning_effort: 'low' } as const;
  expect(carriedChoices(choices, true)).toEqual({ model: 'mock', model_mode_override: null, reasoning_effort: 'low' });
  expect(carriedChoices(choices, false)).toEqual({ model: null, model_mode_override: 'normal', reasoning_effort: null });
});
