import { Injectable } from '@nestjs/common';
import type { NewChatBasis } from '@aps/agents';
import type { Chat, Message } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { statement, type Db, type Statement, type Tx } from '@aps/platform/database';
import type { ChatError, Pause } from './chat.types';
import { MOVES, type FoundChat, type Move } from './chat-state.policy';
import { canMove, insertMessages, moved } from './chat-state.sql';
import { agentDeletedAt, VISIBLE_CHAT } from './visible-chats.sql';

/** The moves in which a turn ends. */
type EndMove = Extract<Move, 'rest' | 'fail' | 'archive' | 'abandon'>;

const NEW_CHAT_COLUMNS = [
  'id',
  'org_id',
  'agent_id',
  'agent_revision_id',
  'rollout_id',
  'arm_label',
  'title',
  'shared',
  'created_by',
  'environment_id',
  'sandbox_enabled',
  'model_mode_override',
  'enabled_scopes',
  'max_steps',
  'parent_chat_id',
  'root_chat_id',
  'source_chat_id',
  'depth',
  'origin_kind',
  'origin_ref_id',
  'originator',
  'created_at',
] as const satisfies (keyof Chat)[];
/** A chat as it begins, on a live revision. What is not said is empty; a chat without a root is its own. */
export type NewChatRow = Pick<Chat, 'id' | 'org_id' | 'origin_kind' | 'created_at'> &
  Partial<Pick<Chat, Exclude<(typeof NEW_CHAT_COLUMNS)[number], 'agent_id' | 'agent_revision_id' | 'rollout_id' | 'arm_label'>>>;

const INSERT = statement<Chat>(
  `INSERT INTO chats (${NEW_CHAT_COLUMNS.join(', ')}, updated_at) VALUES (${NEW_CHAT_COLUMNS.map((_, i) => `$${i + 1}`).join(', ')}, $${NEW_CHAT_COLUMNS.indexOf('created_at') + 1}) RETURNING *`,
);

/** A move of one chat. @param set what it leaves behind; `$1` is the chat, `$2` the time */
const moving = (move: Move, set = '') =>
  statement(`UPDATE chats SET ${[moved(move), set].filter(Boolean).join(', ')}, updated_at = $2 WHERE id = $1 AND ${canMove(move)}`);
const PARK = statement(
  `UPDATE chats SET ${moved('park')}, pause = $3, updated_at = $2 WHERE id = $1 AND ${canMove('park')} AND pause->>'kind' IS DISTINCT FROM 'queued'`,
);
const LEAVE_PAUSE = { wait: moving('wait', 'pause = $3'), ask: moving('ask', 'pause = $3') };
const WAKE = moving('wake');
const REVIVE = moving('revive');
const ARCHIVE = moving('archive', 'error = NULL, stop_reason = $3, archived_at = $2, completed_at = coalesce($4, completed_at)');
const ABANDON = moving('abandon');
// What waits behind the turn takes its place, or is over with it.
const endingTurn = (move: EndMove) =>
  moving(
    move,
    `error = $3, stop_reason = $4, current_turn_id = $5, pending_turns = CASE WHEN $6 THEN greatest(pending_turns - (CASE WHEN $5::uuid IS NULL THEN 0 ELSE 1 END), 0) ELSE 0 END${move === 'archive' ? ', archived_at = $2' : ''}`,
  );
const END_TURN = { rest: endingTurn('rest'), fail: endingTurn('fail'), archive: endingTurn('archive'), abandon: endingTurn('abandon') };
const BEGIN_TURN = statement('UPDATE chats SET turn_seq = turn_seq + 1, current_turn_id = $3, updated_at = $2 WHERE id = $1');
// What is closed stays so: a chat is torn down before it is archived or deleted, too.
const CLEAR_TURNS = statement<{ id: string; stop_requested_at: Date | null }>(`
  UPDATE chats SET current_turn_id = NULL, pending_turns = 0, updated_at = $2, pause = NULL, status = CASE WHEN ${canMove('rest')} THEN '${MOVES.rest.to}' ELSE status END,
    stop_requested_at = CASE WHEN $3 THEN clock_timestamp() ELSE stop_requested_at END
  WHERE id = ANY($1) RETURNING id, stop_requested_at`);
const SET_STOP_REASON = statement('UPDATE chats SET stop_reason = $2 WHERE id = ANY($1)');
const SHOW_QUESTION = statement<{ pause: Pause }>(`
  UPDATE chats SET pause = jsonb_set(pause, '{request_id}', to_jsonb($2::text))
  WHERE id = $1 AND status = 'PAUSED' AND pause->>'kind' = 'human' AND pause->>'request_id' <> $2 RETURNING pause`);
const READ_BY = statement('UPDATE messages SET turn_id = $1 WHERE id = $2');
const REMOVE = statement('UPDATE chats SET deleted_at = $2, updated_at = $2, stop_reason = coalesce($3, stop_reason) WHERE id = $1');
const RENAME = statement('UPDATE chats SET title = $2, updated_at = $3 WHERE id = $1');
const SHARE = statement('UPDATE chats SET shared = $2, updated_at = $3 WHERE id = ANY($1) AND shared <> $2');
const SET_SCOPES = statement('UPDATE chats SET enabled_scopes = $2, updated_at = $3 WHERE id = $1');
/** An environment that is gone is nobody's any more. */
const LEAVE_ENVIRONMENT = statement('UPDATE chats SET environment_id = NULL WHERE org_id = $1 AND environment_id = $2');
const ADD_COST = statement('UPDATE chats SET cost_usd = cost_usd + $2, cost_credits = cost_credits + $3 WHERE id = $1');
const SET_COMPACTION = statement('UPDATE chats SET compaction_id = $2 WHERE id = $1');
const APPEND = statement<{ seq: number }>(`
  WITH c AS (
    UPDATE chats SET message_seq = message_seq + 1, message_count = message_count + 1, last_message_at = $9, updated_at = $9 WHERE id = $1 RETURNING id, org_id, message_seq
  )${insertMessages('c', {
    id: '$2',
    org_id: 'c.org_id',
    chat_id: 'c.id',
    seq: 'c.message_seq',
    role: '$3',
    content: '$4',
    attachments: '$5',
    author_id: '$6',
    turn_id: '$7',
    turn_no: '$8',
    created_at: '$9',
  })} RETURNING seq`);
const UNREAD_AT_END = statement<{ n: number }>(`
  SELECT count(*)::int AS n FROM (SELECT m.role, m.turn_no FROM messages m WHERE m.chat_id = $1 ORDER BY m.seq DESC LIMIT $3) last WHERE last.role = 'user' AND last.turn_no > $2`);
const UNREAD_AUTHORS = statement<{ author_id: string | null }>(
  `SELECT DISTINCT m.author_id FROM messages m WHERE m.chat_id = $1 AND m.role = 'user'
     AND m.turn_no > coalesce((SELECT max(t.seq) FROM turns t WHERE t.chat_id = $1 AND t.status NOT IN ('skipped', 'cancelled')), 0)`,
);
const FOUND = `
  SELECT c.id, c.org_id, c.status, c.pause, c.title, c.created_by, c.shared, c.stop_reason, c.stop_requested_at, c.current_turn_id AS turn, c.message_seq, c.turn_seq, c.agent_revision_id, c.enabled_scopes,
         ${agentDeletedAt('c.agent_id')} IS NOT NULL AS agent_deleted
  FROM chats c WHERE ${VISIBLE_CHAT}`;
const FIND = statement<LockedChat>(FOUND);
const LOCK = statement<LockedChat>(`${FOUND} FOR NO KEY UPDATE`);

/** What a chat is, under its row's lock. */
export interface LockedChat extends FoundChat {
  id: string;
  org_id: string;
  pause: Pause | null;
  title: string | null;
  created_by: string | null;
  shared: boolean;
  stop_requested_at: Date | null;
  /** The id of the turn that is dispatched and not over. */
  turn: string | null;
  message_seq: number;
  turn_seq: number;
  agent_revision_id: string;
  /** What is switched on in it; null = all. */
  enabled_scopes: string[] | null;
  agent_deleted: boolean;
}

/** The same as it was at some moment. */
export type SeenChat = FoundChat & Pick<LockedChat, 'agent_revision_id' | 'enabled_scopes' | 'agent_deleted'>;

/** A message that no statement of its own brings. */
export type LoneMessage = Pick<Message, 'id' | 'role' | 'content' | 'turn_no' | 'created_at'> &
  Partial<Pick<Message, 'attachments' | 'author_id' | 'turn_id'>>;

/**
 * The rows of chats and their messages. The only place that changes them, together with the parts of statements in `chat-state.sql.ts`;
 * everybody else reads. All of it is about chats that the transaction has locked.
 */
@Injectable()
export class ChatState {
  async insert(tx: Tx, { agent_id, revision_id, rollout_id, arm_label }: NewChatBasis, chat: NewChatRow): Promise<Chat> {
    const row: Partial<Chat> = {
      shared: false,
      depth: 0,
      root_chat_id: chat.id,
      agent_id,
      agent_revision_id: revision_id,
      rollout_id,
      arm_label,
      ...chat,
    };
    const values = NEW_CHAT_COLUMNS.map((column) => row[column] ?? null);
    return (await tx.query(INSERT, values))[0];
  }

  /** A chat that the caller may open, as it is at this moment: good for refusing. Null when there is none. */
  async find(db: Db, scope: OrgScope, agentId: string, chatId: string): Promise<SeenChat | null> {
    return (await db.query(FIND, [scope.orgId, scope.actor.userId, agentId, chatId]))[0] ?? null;
  }

  /** Locks a chat that the caller may open for the rest of the transaction; null when there is none. */
  async lock(tx: Db, scope: OrgScope, agentId: string, chatId: string): Promise<LockedChat | null> {
    return (await tx.query(LOCK, [scope.orgId, scope.actor.userId, agentId, chatId]))[0] ?? null;
  }

  /** @returns the number of the message in its chat */
  async append(tx: Db, chatId: string, m: LoneMessage): Promise<number> {
    const attachments = m.attachments ? JSON.stringify(m.attachments) : null;
    const values = [chatId, m.id, m.role, m.content, attachments, m.author_id ?? null, m.turn_id ?? null, m.turn_no, m.created_at];
    return (await tx.query(APPEND, values))[0].seq;
  }

  /** Of the last so many messages of a locked chat, those of users that no turn has been there for. */
  async unreadAtEnd(tx: Db, { id, turn_seq }: LockedChat, among: number): Promise<number> {
    return (await tx.query(UNREAD_AT_END, [id, turn_seq, among]))[0].n;
  }

  /** Who has written what no turn of a chat has read; null where no human has. */
  async unreadAuthors(tx: Db, { id }: LockedChat): Promise<(string | null)[]> {
    return (await tx.query(UNREAD_AUTHORS, [id])).map(({ author_id }) => author_id);
  }

  /** Has a turn answer a message that was first sent to another. */
  async readBy(tx: Db, turnId: string, messageId: string): Promise<void> {
    await tx.execute(READ_BY, [turnId, messageId]);
  }

  /**
   * Its turn waits for a slot.
   *
   * @returns false for one that waited before, and found its slot taken: the chat shows since when it waits
   */
  async park(tx: Db, chatId: string, pause: Pause, at: Date): Promise<boolean> {
    return (await tx.execute(PARK, [chatId, at, JSON.stringify(pause)])) > 0;
  }

  /** Its turn waits by itself, or for a human. */
  async pause(tx: Db, move: 'wait' | 'ask', chatId: string, pause: Pause, at: Date): Promise<void> {
    await this.move(tx, move, LEAVE_PAUSE[move], [chatId, at, JSON.stringify(pause)]);
  }

  /** What it waited for is over. */
  async wake(tx: Db, chatId: string, at: Date): Promise<void> {
    await this.move(tx, 'wake', WAKE, [chatId, at]);
  }

  /** Makes a chat live again: what it failed or was closed for is behind it. */
  async revive(tx: Db, chatId: string, at: Date): Promise<void> {
    await this.move(tx, 'revive', REVIVE, [chatId, at]);
  }

  /** Closes a chat that does nothing any more. */
  async archive(tx: Db, chatId: string, how: { stopReason: string; completedAt: Date | null; at: Date }): Promise<void> {
    await this.move(tx, 'archive', ARCHIVE, [chatId, how.at, how.stopReason, how.completedAt]);
  }

  /** Closes a chat that does nothing, and whose parent does not want to know. */
  async abandon(tx: Db, chatId: string, at: Date): Promise<void> {
    await this.move(tx, 'abandon', ABANDON, [chatId, at]);
  }

  /** A turn is dispatched in a chat that has none. */
  async beginTurn(tx: Db, chatId: string, turnId: string, at: Date): Promise<void> {
    await tx.execute(BEGIN_TURN, [chatId, at, turnId]);
  }

  /**
   * Its turn is over.
   *
   * @param next the turn that takes its place, or null; `othersWait`: what waits behind it goes on waiting, and is not over
   */
  async endTurn(
    tx: Db,
    chatId: string,
    how: { move: EndMove; error: ChatError | null; stopReason: string | null; next: string | null; othersWait: boolean; at: Date },
  ): Promise<void> {
    const error = how.error && JSON.stringify(how.error);
    await this.move(tx, how.move, END_TURN[how.move], [chatId, how.at, error, how.stopReason, how.next, how.othersWait]);
  }

  /**
   * Leaves chats whose turns are over without anything to do.
   *
   * @param stopped stamps them as asked to stop, by the database's time, like a turn's dispatch: gateways' clocks differ
   */
  async clearTurns(tx: Db, chatIds: string[], at: Date, stopped: boolean): Promise<Map<string, Date | null>> {
    const rows = await tx.query(CLEAR_TURNS, [chatIds, at, stopped]);
    return new Map(rows.map((r) => [r.id, r.stop_requested_at]));
  }

  /** Notes why chats do nothing any more. */
  async setStopReason(tx: Db, chatIds: string[], reason: string): Promise<void> {
    await tx.execute(SET_STOP_REASON, [chatIds, reason]);
  }

  /** Shows a paused chat's next open question, where the one that it showed has been answered. */
  async showQuestion(tx: Db, chatId: string, requestId: string): Promise<Pause | null> {
    return (await tx.query(SHOW_QUESTION, [chatId, requestId]))[0]?.pause ?? null;
  }

  /** From here on nobody finds the chat. @param wasAtWork noted for who counts what became of chats */
  async remove(tx: Db, chatId: string, at: Date, wasAtWork: boolean): Promise<void> {
    await tx.execute(REMOVE, [chatId, at, wasAtWork ? 'deleted' : null]);
  }

  async rename(tx: Db, chatId: string, title: string | null, at: Date): Promise<void> {
    await tx.execute(RENAME, [chatId, title, at]);
  }

  async share(tx: Db, chatIds: string[], shared: boolean, at: Date): Promise<void> {
    await tx.execute(SHARE, [chatIds, shared, at]);
  }

  /** @param scopes what is switched on; null = all */
  async setScopes(tx: Db, chatId: string, scopes: string[] | null, at: Date): Promise<void> {
    await tx.execute(SET_SCOPES, [chatId, scopes, at]);
  }

  async leaveEnvironment(tx: Tx, orgId: string, environmentId: string): Promise<void> {
    await tx.execute(LEAVE_ENVIRONMENT, [orgId, environmentId]);
  }

  /** Counts what a call outside of the steps cost; null for what has no price. */
  async addCost(tx: Db, chatId: string, cost: { usd_cost: string | null; credits: string | null }): Promise<void> {
    await tx.execute(ADD_COST, [chatId, cost.usd_cost ?? 0, cost.credits ?? 0]);
  }

  /** A summary stands for its oldest messages from now on. */
  async setCompaction(tx: Db, chatId: string, compactionId: string): Promise<void> {
    await tx.execute(SET_COMPACTION, [chatId, compactionId]);
  }

  /** @throws Error where the table has no such move: whoever calls has decided on something that is not so */
  private async move(tx: Db, move: Move, sql: Statement, values: unknown[]): Promise<void> {
    if ((await tx.execute(sql, values)) === 0) throw new Error(`Chat ${values[0] as string} cannot ${move} from where it is`);
  }
}
