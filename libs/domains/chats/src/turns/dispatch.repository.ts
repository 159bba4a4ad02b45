import { Injectable } from '@nestjs/common';
import type { ChatStatus, TurnStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { statement, type Db, type Tx } from '@aps/platform/database';
import type { ChatOrigin } from '@aps/tools';
import { agentDeletedAt, VISIBLE_CHAT } from '../state/visible-chats.sql';
import type { TurnChoices } from './turn-choices';
import { insertTurns } from './turn.sql';

/** A turn that is over, as far as one that goes on from it wants to know. */
export interface TurnToResume extends TurnChoices {
  id: string;
  status: TurnStatus;
  cause: TurnCause;
  message_id: string | null;
  principal_id: string | null;
  unpriced_allowed: boolean;
}
export type TurnCause = 'message' | 'continue' | 'retry';

/** What of a chat says how its next turn would ask. */
export interface AskingChat extends TurnChoices {
  id: string;
  org_id: string;
  agent_id: string;
  agent_deleted: boolean;
  agent_revision_id: string;
  chat_mode: string | null;
  enabled_scopes: string[] | null;
  max_steps: number | null;
  origin: ChatOrigin;
  stop_reason: string | null;
  error_code: string | null;
}

/** A turn that no worker has. */
export interface NewTurn {
  id: string;
  seq: number;
  cause: TurnCause;
  messageId: string | null;
  principalId: string | null;
  choices: TurnChoices | null;
  unpricedAllowed: boolean;
}

const INSERT = statement(
  insertTurns('(SELECT 1) AS one', {
    id: '$1',
    org_id: '$2',
    chat_id: '$3',
    seq: '$4',
    cause: '$5',
    message_id: '$6',
    model: '$7',
    model_mode_override: '$8',
    reasoning_effort: '$9',
    unpriced_allowed: '$10',
    principal_id: '$11',
  }),
);
const NEWEST = statement<TurnToResume>(
  'SELECT id, status, cause, message_id, principal_id, model, model_mode_override, reasoning_effort, unpriced_allowed FROM turns WHERE chat_id = $1 ORDER BY seq DESC LIMIT 1',
);
const OF_MESSAGE = statement<TurnToResume>(
  `SELECT t.id, t.status, t.cause, t.message_id, t.principal_id, t.model, t.model_mode_override, t.reasoning_effort, t.unpriced_allowed FROM turns t JOIN messages m ON m.chat_id = t.chat_id WHERE m.id = $1 AND t.message_id = $1 ORDER BY t.seq DESC LIMIT 1`,
);
const CHOICES = statement<TurnChoices & Pick<TurnToResume, 'principal_id'>>(
  'SELECT model, model_mode_override, reasoning_effort, principal_id FROM turns WHERE id = $1',
);
const LOCK_QUEUED = statement<{ status: ChatStatus }>(
  `SELECT c.status FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.status = 'queued' AND t.started_at IS NULL AND c.pending_turns = 0 FOR NO KEY UPDATE OF c, t`,
);
const ANSWERING = statement<{
  id: string;
  status: Exclude<TurnStatus, 'cancelled'>;
  begun: boolean;
}>(`SELECT t.id, t.status, t.started_at IS NOT NULL AS begun FROM messages m JOIN turns t ON t.chat_id = m.chat_id AND t.seq >= m.turn_no
       WHERE m.id = $1 AND t.status <> 'cancelled' ORDER BY t.status = 'skipped', t.seq LIMIT 1`);
const IS_RELIED_ON = statement(
  `SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id WHERE t.id = $1 AND m.role = 'user' AND m.turn_no < t.seq AND m.id IS DISTINCT FROM t.message_id LIMIT 1`,
);
const NEXT_READER = statement<{ turn_id: string | null; turn_no: number }>(`
  SELECT n.id AS turn_id, coalesce(n.seq, c.turn_seq + 1) AS turn_no FROM chats c
  LEFT JOIN LATERAL (SELECT t.id, t.seq FROM turns t WHERE t.chat_id = c.id AND t.status = 'queued' AND t.started_at IS NULL ORDER BY t.seq LIMIT 1) n ON true
  WHERE c.id = $1`);
// The choices are those of its newest turn.
const ASKING = statement<AskingChat>(`
  SELECT c.id, c.org_id, c.agent_id, ${agentDeletedAt('c.agent_id')} IS NOT NULL AS agent_deleted, c.agent_revision_id, c.model_mode_override AS chat_mode, c.enabled_scopes, c.max_steps, json_build_object('kind', c.origin_kind, 'ref_id', c.origin_ref_id) AS origin,
         c.stop_reason, c.error->>'code' AS error_code, t.model, t.model_mode_override, t.reasoning_effort
  FROM chats c LEFT JOIN LATERAL (SELECT * FROM turns t WHERE t.chat_id = c.id ORDER BY t.seq DESC LIMIT 1) t ON true
  WHERE ${VISIBLE_CHAT}`);
const WAITING = statement<{ n: number }>(
  `SELECT count(*)::int AS n FROM (SELECT 1 FROM turns WHERE org_id = $1 AND status = 'queued' AND finished_at IS NULL LIMIT $2) q`,
);

/** Turns before a worker has them, as those see them who dispatch them. */
@Injectable()
export class DispatchRepository {
  /** Adds a turn to a locked chat. */
  async insert(tx: Tx, chat: { id: string; org_id: string }, turn: NewTurn): Promise<void> {
    const { model = null, model_mode_override: mode = null, reasoning_effort: effort = null } = turn.choices ?? {};
    const values = [
      turn.id,
      chat.org_id,
      chat.id,
      turn.seq,
      turn.cause,
      turn.messageId,
      model,
      mode,
      effort,
      turn.unpricedAllowed,
      turn.principalId,
    ];
    await tx.execute(INSERT, values);
  }

  /** The newest turn of a chat. */
  async newest(db: Db, chatId: string): Promise<TurnToResume | null> {
    return (await db.query(NEWEST, [chatId]))[0] ?? null;
  }

  /** The newest turn that was made for a message. */
  async ofMessage(db: Db, messageId: string): Promise<TurnToResume | null> {
    return (await db.query(OF_MESSAGE, [messageId]))[0] ?? null;
  }

  /** How a turn asked for its model, and on whose behalf; null when there is no such turn. */
  async choicesOf(db: Db, turnId: string): Promise<(TurnChoices & Pick<TurnToResume, 'principal_id'>) | null> {
    return (await db.query(CHOICES, [turnId]))[0] ?? null;
  }

  /**
   * Locks a turn that no worker has begun and no other turn waits behind, with its chat: those behind it were accepted and must run.
   *
   * @returns the chat's status, null when there is no such turn
   */
  async lockQueued(tx: Tx, turnId: string): Promise<ChatStatus | null> {
    return (await tx.query(LOCK_QUEUED, [turnId]))[0]?.status ?? null;
  }

  /**
   * The turn that a message is left to: the first that has read it or will, where there is one; one that was skipped otherwise.
   *
   * @returns null when all that might have read it were taken back
   */
  async answering(db: Db, messageId: string): Promise<{ id: string; status: Exclude<TurnStatus, 'cancelled'>; begun: boolean } | null> {
    return (await db.query(ANSWERING, [messageId]))[0] ?? null;
  }

  /** Whether a turn of a locked chat answers messages whose senders were told so, besides its own. */
  async isReliedOn(tx: Tx, turnId: string): Promise<boolean> {
    return (await tx.query(IS_RELIED_ON, [turnId])).length > 0;
  }

  /**
   * The turn of a locked chat that will read what is added to it now: the next that has not begun. Its number makes it context of that turn
   * and of all later ones; the turn itself may not be there yet.
   */
  async nextReader(tx: Tx, chatId: string): Promise<{ turn_id: string | null; turn_no: number }> {
    return (await tx.query(NEXT_READER, [chatId]))[0];
  }

  /** How the next turn of a chat would ask. Null where the caller may not open it. */
  async asking(db: Db, scope: OrgScope, agentId: string, chatId: string): Promise<AskingChat | null> {
    return (await db.query(ASKING, [scope.orgId, scope.userId, agentId, chatId]))[0] ?? null;
  }

  /** Turns of an organization that wait for a worker or a slot, counted up to `limit`. */
  async waiting(db: Db, orgId: string, limit: number): Promise<number> {
    return (await db.query(WAITING, [orgId, limit]))[0].n;
  }
}
