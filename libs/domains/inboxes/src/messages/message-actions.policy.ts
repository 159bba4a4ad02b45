import type { MessageState } from '@aps/entities';

export const MESSAGE_ACTIONS = ['retry', 'replay', 'terminate', 'release'] as const;
export type MessageAction = (typeof MESSAGE_ACTIONS)[number];

/** Of these, members take the others alone. */
export const ADMINS_ACTIONS: readonly MessageAction[] = ['retry', 'release'];

/** A message as far as it decides what may be done with it. */
export interface ActedMessage {
  state: MessageState;
  /** All that it says is still kept. */
  raw_available: boolean;
  terminated_at: Date | null;
  /** When its newest evaluation began. */
  dispatched_at: Date;
}

/** `evaluate` has it evaluated anew, `drop` ends it, `stop` ends what it was handed to and leaves it as it is, `none` changes nothing. */
export type ActionEffect = 'evaluate' | 'drop' | 'stop' | 'none';
export type ActionRefusal = 'not_held' | 'still_evaluating' | 'payload_expired';

const EFFECTS: Record<MessageAction, Record<MessageState, ActionEffect | ActionRefusal>> = {
  retry: { evaluating: 'still_evaluating', held: 'evaluate', accepted: 'not_held', failed: 'not_held', dropped: 'not_held' },
  replay: { evaluating: 'evaluate', held: 'evaluate', accepted: 'evaluate', failed: 'evaluate', dropped: 'evaluate' },
  release: { evaluating: 'not_held', held: 'evaluate', accepted: 'not_held', failed: 'not_held', dropped: 'not_held' },
  terminate: { evaluating: 'drop', held: 'drop', failed: 'drop', accepted: 'stop', dropped: 'stop' },
};

/** What an action does with a message, or why it does not. */
export function effectOf(action: MessageAction, message: ActedMessage): ActionEffect | ActionRefusal {
  const effect = EFFECTS[action][message.state];
  if (effect === 'evaluate') return message.raw_available ? effect : 'payload_expired';
  // What was evaluated again since may have begun something that is to be ended, too.
  return action === 'terminate' && message.terminated_at !== null && message.terminated_at >= message.dispatched_at ? 'none' : effect;
}

export const isRefusal = (effect: ActionEffect | ActionRefusal): effect is ActionRefusal =>
  effect === 'not_held' || effect === 'still_evaluating' || effect === 'payload_expired';

/** What would have an effect now, if who asks does it. */
export const allowedActions = (message: ActedMessage, isAdmin: boolean): MessageAction[] =>
  MESSAGE_ACTIONS.filter((action) => {
    const effect = effectOf(action, message);
    return effect !== 'none' && !isRefusal(effect) && (isAdmin || !ADMINS_ACTIONS.includes(action));
  });
