import { refuseOtherMoves } from '@aps/testing';
import { MOVES } from '../state/chat-state.policy';

const PAIRS = Object.values(MOVES).flatMap(({ from, to }) => from.map((before: string) => `${before}>${to}`));

/** Whether some move leads there; a chat that stays where it is has begun or ended to wait. */
export const isMove = (from: string, to: string): boolean => from === to || PAIRS.includes(`${from}>${to}`);

/** Has the database refuse every change of a chat's status that is no move: whatever a spec does, it does within the table. */
export const REFUSE_OTHER_MOVES = refuseOtherMoves('chats', 'status', PAIRS);
