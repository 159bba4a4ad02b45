import type { MessageState } from '@aps/entities';
import { allowedActions, effectOf, MESSAGE_ACTIONS, type ActedMessage } from './message-actions.policy';
import { MESSAGE_STATES } from './messages.policy';

const began = new Date('2026-05-01T10:00:00.000Z');
const message = (state: MessageState, over: Partial<ActedMessage> = {}): ActedMessage => ({
  state,
  raw_available: true,
  terminated_at: null,
  dispatched_at: began,
  ...over,
});
const table = (over: Partial<ActedMessage> = {}) =>
  Object.fromEntries(MESSAGE_STATES.map((state) => [state, MESSAGE_ACTIONS.map((action) => effectOf(action, message(state, over)))]));

describe('what people do with messages', () => {
  it('follows their state', () => {
    expect(table()).toEqual({
      accepted: ['not_held', 'evaluate', 'stop', 'not_held'],
      failed: ['not_held', 'evaluate', 'drop', 'not_held'],
      held: ['evaluate', 'evaluate', 'drop', 'evaluate'],
      evaluating: ['still_evaluating', 'evaluate', 'drop', 'not_held'],
      dropped: ['not_held', 'evaluate', 'stop', 'not_held'],
    });
  });

  it('evaluates nothing whose content is gone, and ends it nevertheless', () => {
    expect(table({ raw_available: false })).toMatchObject({
      accepted: ['not_held', 'payload_expired', 'stop', 'not_held'],
      held: ['payload_expired', 'payload_expired', 'drop', 'payload_expired'],
    });
  });

  it('ends it once for each evaluation', () => {
    const ended = (after: number) => message('dropped', { terminated_at: new Date(began.getTime() + after) });
    expect([effectOf('terminate', ended(0)), effectOf('terminate', ended(1)), effectOf('terminate', ended(-1))]).toEqual([
      'none',
      'none',
      'stop',
    ]);
  });

  it('is told to who may do it', () => {
    expect(allowedActions(message('held'), true)).toEqual(['retry', 'replay', 'terminate', 'release']);
    expect(allowedActions(message('held'), false)).toEqual(['replay', 'terminate']);
    expect(allowedActions(message('held', { raw_available: false, terminated_at: began }), true)).toEqual([]);
  });
});
