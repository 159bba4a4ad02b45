import type { Chat, Message } from '@aps/entities';
import { MOVES, type Move } from './chat-state.policy';

/** SQL of the topic of a chat. @param id SQL of its id */
export const topicOf = (id: string): string => `'chat:' || ${id}`;

/** What a chat counts, and what it shows of itself; where it stands is changed by a {@link Move} alone. */
type Column = Exclude<keyof Chat, 'id' | 'org_id' | 'status' | 'pause' | 'error' | 'stop_reason' | 'created_at' | 'updated_at'>;

interface ChatChange {
  /** SQL of the rows that say which chats, e.g. the name of a WITH query. */
  from: string;
  /** SQL of a chat's id. */
  id: string;
  where?: string;
  /** SQL of the time. */
  at: string;
  move?: Move;
  /** A message is added: SQL of the number of the newest before it. */
  messageAfter?: string;
  /** SQL per column. */
  set?: Partial<Record<Column, string>>;
}

/** What a move sets besides the status. `park`, `wait` and `ask` leave a pause, and `fail`, `archive` and `abandon` a reason, which they are given. */
const CLEARS: Record<Move, string> = {
  begin: 'pause = NULL, error = NULL, stop_reason = NULL',
  park: '',
  wait: '',
  ask: '',
  wake: 'pause = NULL',
  rest: 'pause = NULL',
  fail: 'pause = NULL',
  revive: 'error = NULL, stop_reason = NULL, archived_at = NULL, completed_at = NULL',
  archive: 'pause = NULL',
  abandon: 'pause = NULL',
};

/** The part of an UPDATE that moves a chat. */
export const moved = (move: Move): string => [`status = '${MOVES[move].to}'`, CLEARS[move]].filter(Boolean).join(', ');

/** The condition on a chat that a move finds where it may begin. */
export const canMove = (move: Move): string => `chats.status IN (${MOVES[move].from.map((status) => `'${status}'`).join(', ')})`;

/** A part of a statement that changes chats which the statement has locked. */
export function changeChats({ from, id, where, at, move, messageAfter, set = {} }: ChatChange): string {
  const sets = [
    ...(move ? [moved(move)] : []),
    ...(messageAfter ? [`message_seq = ${messageAfter} + 1, message_count = chats.message_count + 1, last_message_at = ${at}`] : []),
    ...Object.entries(set).map(([column, value]) => `${column} = ${value}`),
    `updated_at = ${at}`,
  ];
  return `
  UPDATE chats SET ${sets.join(', ')}
  FROM ${from} WHERE chats.id = ${id}${where ? ` AND ${where}` : ''}`;
}

/**
 * A part of a statement that adds messages to chats which the statement has locked, one per row of `from`. Their numbers are counted by
 * {@link changeChats}.
 *
 * @param values SQL per column
 */
export function insertMessages(from: string, values: Partial<Record<keyof Message, string>>): string {
  return `
  INSERT INTO messages (${Object.keys(values).join(', ')})
  SELECT ${Object.values(values).join(', ')} FROM ${from}`;
}
