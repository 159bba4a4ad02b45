import type { ChannelKind, MessageState, MessageVerdict } from '@aps/entities';

/** Which messages are looked for; what is not given does not matter. */
export interface MessageFilter {
  channel?: ChannelKind;
  search?: string;
  within_hours?: number;
  state?: MessageState[];
  lane?: 'needs_attention' | 'all' | 'accepted' | 'dropped';
  evaluation_state?: 'evaluating' | 'settled';
  verdict?: MessageVerdict;
}

export const MESSAGE_STATES = ['accepted', 'failed', 'held', 'evaluating', 'dropped'] as const satisfies MessageState[];

const LANES: Record<'needs_attention' | 'accepted' | 'dropped', readonly MessageState[]> = {
  needs_attention: ['held', 'failed'],
  accepted: ['accepted'],
  dropped: ['dropped'],
};
const SETTLED = MESSAGE_STATES.filter((state) => state !== 'evaluating');

export const evaluationStateOf = (state: MessageState): 'evaluating' | 'settled' => (state === 'evaluating' ? state : 'settled');

/** The states that state, lane and evaluation state leave; undefined where none of them is asked for. */
export function statesOf({ state, lane = 'all', evaluation_state: of }: MessageFilter): MessageState[] | undefined {
  const asked = [state, lane === 'all' ? undefined : LANES[lane], of && (of === 'settled' ? SETTLED : [of])].filter(
    (states) => states !== undefined,
  );
  return asked.length ? MESSAGE_STATES.filter((one) => asked.every((states) => states.some((other) => other === one))) : undefined;
}
