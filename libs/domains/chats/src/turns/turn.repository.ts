import { Injectable } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import type { TurnStatus, TurnWait, WaitingCall } from '@aps/entities';
import { statement, type Ahead, type Database, type Db, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { RunRows, stepDone, type ClaimAnswer, type ClaimedRun, type Claiming } from '@aps/platform/runs';
import type { ChatError, NewEvent, Pause, TranscriptRow } from '../chat.types';
import type { TurnToResume } from '../chats.repository';
import { uuidv7 } from 'uuidv7';
import { AWAIT_WRITER, CLAIM, COMMIT_FINAL_STEP, COMMIT_STEP, KEEP_INTERRUPTED, TRANSCRIPT, TURN_RUNS, type Committing } from './turn.sql';

/** A turn, its chat and its organization. */
export interface TurnRef {
  id: string;
  org_id: string;
  chat_id: string;
}

/** A turn that this worker owns, with all it needs to run. */
export interface ClaimedTurn extends ClaimedRun {
  chat_id: string;
  agent_id: string;
  agent_revision_id: string;
  seq: number;
  cause: 'message' | 'continue' | 'retry';
  /** Of the finished steps, those in which a model was asked. */
  model_steps: number;
  wait: TurnWait | null;
  model: string | null;
  model_mode_override: string | null;
  reasoning_effort: string | null;
  unpriced_allowed: boolean;
  chat_title: string | null;
  chat_mode: string | null;
  chat_status: string;
  created_by: string | null;
  enabled_scopes: string[] | null;
  /** Of a chat that another one began. */
  parent_chat_id: string | null;
  /** Newest number in the event log before this claim. */
  event_seq: number;
  transcript: TranscriptRow[];
}

/** Why a turn is not run that could be: its agent is deleted, or a stop came first. */
export type TurnRefusal = 'agent_deleted' | 'skipped';
export type TurnAnswer = ClaimAnswer<ClaimedTurn, TurnRefusal>;

/** As it comes: in JSON. */
type TurnRow = Omit<TurnAnswer, 'retry_at' | 'dispatched_at'> & { retry_at: string | null; dispatched_at: string };
const withTimes = (row: TurnRow): TurnAnswer => ({
  ...row,
  dispatched_at: new Date(row.dispatched_at),
  retry_at: row.retry_at === null ? null : new Date(row.retry_at),
});

/** A call that a turn waited in, and what it gets. */
export type AnsweredCall = WaitingCall & { content: string; status: 'done' | 'failed' };

/** What a finished step leaves behind, for the signal that follows its commit. */
export interface StepCommit {
  /** Newest number in the event log before the step's own events. */
  event_seq: number;
  message_seq: number;
  title_job_id: string | null;
  /** Whether turns of the same organization wait for the slot that is free now. */
  parked: boolean;
}

const LOCK_OWNED = statement<{
  chat_id: string;
  org_id: string;
  event_seq: number;
  message_seq: number;
  pending_turns: number;
  status: string;
}>(`SELECT c.id AS chat_id, c.org_id, c.event_seq, c.message_seq, c.pending_turns, c.status
       FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.fence = $2 AND t.status = 'running' FOR UPDATE OF c, t`);
const LOCK_OPEN = statement<{ status: string }>(
  `SELECT c.status FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.status IN ('queued', 'running', 'waiting') FOR UPDATE OF c, t`,
);
const COMMIT_TOOL_STEP =
  statement(`WITH c AS (UPDATE chats SET message_seq = message_seq + 1, message_count = message_count + 1, last_message_at = $8 FROM turns t WHERE t.id = $1 AND chats.id = t.chat_id
                  RETURNING chats.id, chats.org_id, chats.message_seq, t.seq AS turn_no),
            m AS (INSERT INTO messages (id, org_id, chat_id, seq, role, content, tool_call_id, tool_name, turn_id, turn_no, created_at)
                  SELECT $3, c.org_id, c.id, c.message_seq, 'tool', $4, $5, $6, $1, c.turn_no, $8 FROM c),
            s AS (UPDATE turn_steps SET status = $7, message_id = $3, finished_at = $8 WHERE turn_id = $1 AND step_no = $2)
       UPDATE turns SET wait = $9, ${stepDone('turns')} WHERE id = $1`);
const IS_RELIED_ON = statement(
  `SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id WHERE t.id = $1 AND m.role = 'user' AND m.turn_no < t.seq AND m.id IS DISTINCT FROM t.message_id LIMIT 1`,
);
const OPEN_CALLS = statement<{ step_no: number; tool_call_id: string }>(
  `SELECT step_no, tool_call_id FROM turn_steps WHERE turn_id = $1 AND status = 'intent' ORDER BY step_no`,
);
const COMPACTED_THROUGH = statement<{
  turn_no: number;
  seq: number;
}>(`SELECT m.turn_no, m.seq FROM messages m JOIN chats c ON c.id = m.chat_id LEFT JOIN chat_compactions k ON k.id = c.compaction_id
       WHERE m.chat_id = $1 AND m.turn_no <= $2 AND (k.id IS NULL OR (m.turn_no, m.seq) > (k.through_turn_no, k.through_seq))
       ORDER BY m.turn_no, m.seq OFFSET $3 LIMIT 1`);
const INSERT_COMPACTION = statement(
  `INSERT INTO chat_compactions (id, org_id, chat_id, turn_id, through_turn_no, through_seq, summary, tokens_before, tokens_after) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
const ADD_COST = statement('UPDATE chats SET cost_usd = cost_usd + $2, cost_credits = cost_credits + $3 WHERE id = $1');
const SET_COMPACTION = statement('UPDATE chats SET compaction_id = $2 WHERE id = $1');
const LOCK_QUEUED = statement<{ status: string }>(
  `SELECT c.status FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.status = 'queued' AND c.pending_turns = 0 FOR UPDATE OF c, t`,
);
const ANSWERING = statement<{
  id: string;
  status: Exclude<TurnStatus, 'cancelled'>;
  begun: boolean;
}>(`SELECT t.id, t.status, t.started_at IS NOT NULL AS begun FROM messages m JOIN turns t ON t.chat_id = m.chat_id AND t.seq >= m.turn_no
       WHERE m.id = $1 AND t.status <> 'cancelled' ORDER BY t.status = 'skipped', t.seq LIMIT 1`);
const RELY_ON = statement('UPDATE messages SET turn_id = $1 WHERE id = $2');
const OF_MESSAGE = statement<TurnToResume>(
  `SELECT t.id, t.status, t.cause, t.message_id, t.model, t.model_mode_override, t.reasoning_effort FROM turns t JOIN messages m ON m.chat_id = t.chat_id WHERE m.id = $1 AND t.message_id = $1 ORDER BY t.seq DESC LIMIT 1`,
);
const WAIT_OF = statement<{ wait: TurnWait | null }>('SELECT wait FROM turns WHERE id = $1');
const LOCK_WAITING = statement<{
  org_id: string;
  chat_id: string;
  chat_status: string;
  wait: TurnWait;
}>(`SELECT t.org_id, t.chat_id, c.status AS chat_status, t.wait FROM turns t JOIN chats c ON c.id = t.chat_id
       WHERE t.id = $1 AND t.status = 'waiting' AND c.status IN ('ACTIVE', 'PAUSED') AND c.deleted_at IS NULL FOR UPDATE OF c, t`);
const PAUSE_CHAT = statement(
  `UPDATE chats SET status = 'ACTIVE', pause = $2, updated_at = $3 WHERE id = $1 AND pause->>'kind' IS DISTINCT FROM 'queued'`,
);
const CHAT_WAITS = statement(`UPDATE chats SET status = $4, pause = $2, updated_at = $3 WHERE id = $1`);
const CHAT_GOES_ON = statement(`UPDATE chats SET status = 'ACTIVE', pause = NULL, updated_at = $2 WHERE id = $1`);
const NEXT_TURN = statement<{ id: string }>(`SELECT id FROM turns WHERE chat_id = $1 AND status = 'queued' ORDER BY seq LIMIT 1`);
const SKIP_QUEUED = statement(
  `UPDATE turns SET status = 'skipped', finished_at = $2, parked = false WHERE chat_id = $1 AND status = 'queued'`,
);
const END_CHAT_TURN = statement(`UPDATE chats SET status = $2, error = $3, stop_reason = $4, pause = NULL, current_turn_id = $5,
         pending_turns = CASE WHEN $6 THEN greatest(pending_turns - (CASE WHEN $5::uuid IS NULL THEN 0 ELSE 1 END), 0) ELSE 0 END,
         archived_at = CASE WHEN $2 = 'ARCHIVED' THEN $7::timestamptz ELSE archived_at END, updated_at = $7 WHERE id = $1`);
const REVIVE = statement(
  `UPDATE chats SET status = 'ACTIVE', error = NULL, stop_reason = NULL, archived_at = NULL, completed_at = NULL, updated_at = $2 WHERE id = $1`,
);
/** The job of a turn. */
export const runOf = (turn: TurnRef): JobPayload<'turn.run'> => ({ org_id: turn.org_id, chat_id: turn.chat_id, turn_id: turn.id });

/** The tables of turns. The only file that changes them while they run. */
@Injectable()
export class TurnRepository {
  /** Turns, as far as they are runs like others. */
  readonly runs: RunRows<'turn.run'>;

  constructor(outbox: Outbox) {
    this.runs = new RunRows(TURN_RUNS, outbox);
  }

  /** Tries to become the owner of a turn. Null when there is no such turn. */
  async claim(db: Db, claim: Claiming): Promise<TurnAnswer | null> {
    const row = await db.batched<Claiming, TurnRow>(CLAIM, claim);
    return row && withTimes(row);
  }

  /** The same, told while the claim is still being committed. */
  async claimAhead(db: Database, claim: Claiming): Promise<Ahead<TurnAnswer> | null> {
    const ahead = await db.batchedAhead<Claiming, TurnRow>(CLAIM, claim);
    return ahead && { answer: withTimes(ahead.answer), committed: ahead.committed };
  }

  /** Returns when a transaction that is writing to this chat, if there is one, has ended. */
  async awaitWriter(db: Db, chatId: string): Promise<void> {
    await db.query(AWAIT_WRITER, [chatId]);
  }

  /** The messages that a turn sees: up to its own, and what it has written itself. */
  transcript(db: Db, turn: { chat_id: string; seq: number }): Promise<TranscriptRow[]> {
    return db.query(TRANSCRIPT, [turn.chat_id, turn.seq]);
  }

  /**
   * @param final the step ends its turn
   * @returns null when the fence is stale, the turn was stopped, or (final step) turns are pending behind it
   */
  commitModelStep(db: Db, step: Committing, final: boolean): Promise<StepCommit | null> {
    return db.batched(final ? COMMIT_FINAL_STEP : COMMIT_STEP, step);
  }

  /** Null when the turn was not stopped under this fence, or something newer is in the chat. */
  async keepInterrupted(
    db: Db,
    message: {
      turnId: string;
      fence: string;
      stepNo: number;
      messageId: string;
      content: string;
      model: string;
      event: NewEvent;
      at: Date;
    },
  ): Promise<Pick<StepCommit, 'event_seq' | 'message_seq'> | null> {
    const [row] = await db.query(KEEP_INTERRUPTED, [
      message.turnId,
      message.fence,
      message.at,
      message.stepNo,
      message.messageId,
      message.content,
      message.model,
      JSON.stringify(message.event.data),
    ]);
    return row ?? null;
  }

  /** Whether this owner may still write: locks the chat and the turn for the rest of the transaction. */
  async lockOwned(
    tx: Db,
    turnId: string,
    fence: string,
  ): Promise<{ chat_id: string; org_id: string; event_seq: number; message_seq: number; pending_turns: number; status: string } | null> {
    const [row] = await tx.query(LOCK_OWNED, [turnId, fence]);
    return row ?? null;
  }

  /**
   * Writes a tool's result as the next message and ends its step.
   *
   * @param step `wait`: what the turn waits for after this
   */
  async commitToolStep(
    tx: Db,
    step: {
      turnId: string;
      stepNo: number;
      messageId: string;
      content: string;
      toolCallId: string;
      toolName: string;
      status: 'done' | 'failed';
      wait: TurnWait | null;
      at: Date;
    },
  ): Promise<void> {
    await tx.execute(COMMIT_TOOL_STEP, [
      step.turnId,
      step.stepNo,
      step.messageId,
      step.content,
      step.toolCallId,
      step.toolName,
      step.status,
      step.at,
      step.wait && JSON.stringify(step.wait),
    ]);
  }

  /** Tool calls of a turn whose outcome was never written. A running turn's model call needs no row: the lease says that it is under way. */
  openCalls(db: Db, turnId: string): Promise<{ step_no: number; tool_call_id: string }[]> {
    return db.query(OPEN_CALLS, [turnId]);
  }

  /**
   * Stores a summary of the oldest messages that its model still reads word for word.
   *
   * @param made `covered`: how many they are; `turnNo`: of the turn that does it
   * @returns the last of them
   */
  async compactThrough(
    tx: Db,
    made: {
      id: string;
      turnId: string;
      orgId: string;
      chatId: string;
      turnNo: number;
      covered: number;
      summary: string;
      before: number;
      after: number;
    },
  ): Promise<{ turn_no: number; seq: number }> {
    const [through] = await tx.query(COMPACTED_THROUGH, [made.chatId, made.turnNo, made.covered - 1]);
    await tx.execute(INSERT_COMPACTION, [
      made.id,
      made.orgId,
      made.chatId,
      made.turnId,
      through.turn_no,
      through.seq,
      made.summary,
      made.before,
      made.after,
    ]);
    await tx.execute(SET_COMPACTION, [made.chatId, made.id]);
    return through;
  }

  /**
   * Locks a turn that no worker has begun and no other turn waits behind, with its chat: those behind it were accepted and must run.
   *
   * @returns the chat's status, null when there is no such turn
   */
  async lockQueued(tx: Db, turnId: string): Promise<string | null> {
    const [row] = await tx.query(LOCK_QUEUED, [turnId]);
    return row?.status ?? null;
  }

  /**
   * The turn that a message is left to: the first that has read it or will, where there is one; one that was skipped otherwise.
   *
   * @returns null when all that might have read it were taken back
   */
  async answering(db: Db, messageId: string): Promise<{ id: string; status: Exclude<TurnStatus, 'cancelled'>; begun: boolean } | null> {
    const [row] = await db.query(ANSWERING, [messageId]);
    return row ?? null;
  }

  /** Locks a turn that is not over, and its chat. @returns the chat's status; null when the turn is over */
  async lockOpen(tx: Tx, turnId: string): Promise<string | null> {
    return (await tx.query(LOCK_OPEN, [turnId]))[0]?.status ?? null;
  }

  /** Has a turn of a locked chat answer a message that was first sent to another; from then on nobody takes the turn back. */
  async relyOn(tx: Tx, turnId: string, messageId: string): Promise<void> {
    await tx.execute(RELY_ON, [turnId, messageId]);
  }

  /** Whether a turn of a locked chat answers messages whose senders were told so, besides its own. */
  async isReliedOn(tx: Tx, turnId: string): Promise<boolean> {
    return (await tx.query(IS_RELIED_ON, [turnId])).length > 0;
  }

  /** Counts what a call outside of the steps cost; null for what has no price. */
  async addCost(tx: Tx, chatId: string, cost: { usd_cost: string | null; credits: string | null }): Promise<void> {
    await tx.execute(ADD_COST, [chatId, cost.usd_cost ?? 0, cost.credits ?? 0]);
  }

  /** The newest turn that was made for a message. */
  async ofMessage(db: Db, messageId: string): Promise<TurnToResume | null> {
    const [row] = await db.query(OF_MESSAGE, [messageId]);
    return row ?? null;
  }

  /** The wait of a turn whose chat this transaction has locked; null when it does not wait. */
  async waitOf(tx: Db, turnId: string): Promise<TurnWait | null> {
    return (await tx.query(WAIT_OF, [turnId]))[0]?.wait ?? null;
  }

  /** Locks a turn that waits, with its chat, for the rest of the transaction. */
  async lockWaiting(tx: Db, turnId: string): Promise<{ org_id: string; chat_id: string; chat_status: string; wait: TurnWait } | null> {
    const [row] = await tx.query(LOCK_WAITING, [turnId]);
    return row ?? null;
  }

  /** Writes what the calls get that a turn waited in; the turn does not go on. */
  async endCalls(tx: Db, turnId: string, calls: AnsweredCall[], at: Date): Promise<void> {
    for (const call of calls) {
      await this.commitToolStep(tx, {
        turnId,
        stepNo: call.step_no,
        messageId: uuidv7(),
        content: call.content,
        toolCallId: call.tool_call_id,
        toolName: call.tool_name,
        status: call.status,
        wait: null,
        at,
      });
    }
  }

  /**
   * Takes a turn that is over the cap out of the queue. One that had begun and lost its worker no longer runs.
   *
   * @returns false for one that was parked before, and found its slot taken: its chat shows since when it waits
   */
  async park(tx: Db, turn: { id: string; chat_id: string }, pause: Pause, at: Date): Promise<boolean> {
    await this.runs.park(tx, turn.id);
    return (await tx.execute(PAUSE_CHAT, [turn.chat_id, JSON.stringify(pause), at])) > 0;
  }

  /** Lets a turn wait without a slot. */
  async beginWait(tx: Tx, turn: { id: string; chat_id: string }, wait: TurnWait, pause: Pause, at: Date): Promise<void> {
    await this.runs.beginWait(tx, turn.id, wait);
    await tx.execute(CHAT_WAITS, [turn.chat_id, JSON.stringify(pause), at, wait.kind === 'human' ? 'PAUSED' : 'ACTIVE']);
  }

  /** Dispatches a turn whose wait is over, like one that was just sent. */
  async endWait(tx: Tx, turn: TurnRef, at: Date): Promise<void> {
    await this.runs.endWait(tx, turn.id, runOf(turn));
    await tx.execute(CHAT_GOES_ON, [turn.chat_id, at]);
  }

  /**
   * Ends a turn whose chat this transaction has locked, and dispatches what waits behind it.
   *
   * @param dispatchNext false where what waits behind it is over, too
   * @returns whether a turn of the same chat follows
   */
  async endTurn(
    tx: Tx,
    turn: TurnRef,
    end: {
      turnStatus: 'done' | 'stopped' | 'skipped' | 'failed' | 'cancelled';
      chatStatus: string;
      chatError: ChatError | null;
      stopReason: string | null;
      at: Date;
      dispatchNext: boolean;
    },
  ): Promise<boolean> {
    await this.runs.end(tx, turn.id, { status: end.turnStatus, error: end.chatError, at: end.at });
    const [next] = end.dispatchNext ? await tx.query(NEXT_TURN, [turn.chat_id]) : [];
    if (!end.dispatchNext) {
      await tx.execute(SKIP_QUEUED, [turn.chat_id, end.at]);
    }
    await tx.execute(END_CHAT_TURN, [
      turn.chat_id,
      end.chatStatus,
      end.chatError && JSON.stringify(end.chatError),
      end.stopReason,
      next?.id ?? null,
      end.dispatchNext,
      end.at,
    ]);
    if (next) await this.runs.dispatch(tx, next.id, runOf({ ...turn, id: next.id }));
    await this.runs.dispatchParked(tx, turn.org_id);
    return next !== undefined;
  }

  /** Makes a locked chat live again: what it failed or was closed for is behind it. */
  async revive(tx: Db, chatId: string, at: Date): Promise<void> {
    await tx.execute(REVIVE, [chatId, at]);
  }
}
