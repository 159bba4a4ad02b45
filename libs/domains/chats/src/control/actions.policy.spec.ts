import type { FoundChat } from '../state/chat-state.policy';
import { allowedActions, CHAT_ACTIONS, mayShare, type ActionFacts } from './actions.policy';

const chat = (over: Partial<FoundChat> = {}): FoundChat => ({
  status: 'ACTIVE',
  pause: null,
  stop_reason: null,
  turn: null,
  ...over,
});
const me = 'b0a7a1f6-3f0e-4b53-9d3c-2f7f0f6f0001';
const facts: ActionFacts = { created_by: me, parent_chat_id: null, userId: me, blocked: false, has_opening: true, agent_deleted: false };

it('only the human who began a chat shares it, and no chat that another one began', () => {
  expect(mayShare({ created_by: me, parent_chat_id: null }, me)).toBe(true);
  expect(mayShare({ created_by: me, parent_chat_id: null }, 'b0a7a1f6-3f0e-4b53-9d3c-2f7f0f6f0002')).toBe(false);
  expect(mayShare({ created_by: null, parent_chat_id: null }, null)).toBe(false);
  expect(mayShare({ created_by: me, parent_chat_id: 'b0a7a1f6-3f0e-4b53-9d3c-2f7f0f6f0003' }, me)).toBe(false);
});

describe('what is allowed', () => {
  const all = (of: FoundChat, over: Partial<ActionFacts> = {}) => allowedActions(of, { ...facts, ...over });

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
