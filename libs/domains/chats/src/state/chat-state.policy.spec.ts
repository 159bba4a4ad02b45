import { effectOf, MOVES, stateOf, type FoundChat } from './chat-state.policy';

const chat = (over: Partial<FoundChat> = {}): FoundChat => ({ status: 'ACTIVE', pause: null, stop_reason: null, turn: null, ...over });

it.each([
  ['idle', chat()],
  ['dispatched', chat({ turn: {} })],
  ['running', chat({ status: 'RUNNING', turn: {} })],
  ['queued', chat({ pause: { kind: 'queued' }, turn: {} })],
  // Its turn has lost its worker, and then its slot.
  ['running', chat({ status: 'RUNNING', pause: { kind: 'queued' }, turn: {} })],
  ['timer', chat({ pause: { kind: 'timer' }, turn: {} })],
  ['children', chat({ pause: { kind: 'children' }, turn: {} })],
  ['human', chat({ status: 'PAUSED', pause: { kind: 'human' }, turn: {} })],
  ['failed', chat({ status: 'ERRORED' })],
  ['liftable', chat({ status: 'ARCHIVED', stop_reason: 'credits_exhausted' })],
  ['liftable', chat({ status: 'ARCHIVED', stop_reason: 'model_unpriced' })],
  ['archived', chat({ status: 'ARCHIVED', stop_reason: 'user_archived' })],
  ['archived', chat({ status: 'ARCHIVED', stop_reason: 'org_suspended' })],
  ['archived', chat({ status: 'ARCHIVED' })],
  ['abandoned', chat({ status: 'ABANDONED', stop_reason: 'credits_exhausted' })],
] as const)('%s', (state, of) => expect(stateOf(of)).toBe(state));

it('an archived chat goes on where its reason passes, and never for a message', () => {
  const liftable = chat({ status: 'ARCHIVED', stop_reason: 'credits_exhausted' });
  expect([effectOf('continue', liftable), effectOf('message', liftable)]).toEqual(['resume', 'keep']);
});

it('nothing leaves ABANDONED but an archiving, and nothing ARCHIVED but what revives it', () => {
  const leaving = (status: string) =>
    Object.entries(MOVES).flatMap(([move, { from }]) => ((from as readonly string[]).includes(status) ? [move] : []));
  expect([leaving('ABANDONED'), leaving('ARCHIVED')]).toEqual([['archive'], ['revive']]);
});
