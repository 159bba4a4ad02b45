import { Injectable } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import type { ChatStatus, TurnWait, WaitingCall } from '@aps/entities';
import { statement, type Db, type Tx } from '@aps/platform/database';
import { deleteJobs, Outbox } from '@aps/platform/outbox';
import type { ChatOrigin } from '@aps/tools';
import { runOver, RunRows, stepDone, type ClaimAnswer, type ClaimedRun, type Noted } from '@aps/platform/runs';
import type { ChatError, NewEvent, Pause, TranscriptRow } from '../state/chat.types';
import { ChatState } from '../state/chat-state.repository';
import { changeChats, insertMessages } from '../state/chat-state.sql';
import { CHOSEN_TOOLS, COMMIT_FINAL_STEP, COMMIT_STEP, KEEP_INTERRUPTED, TRANSCRIPT, TURN_RUNS, type Committing } from './turn.sql';

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
  /** It is in a team or a project. */
  agent_belongs: boolean;
  seq: number;
  cause: 'message' | 'continue' | 'retry';
  /** The user on whose behalf it acts. */
  principal_id: string | null;
  /** Of the finished steps, those in which a model was asked. */
  model_steps: number;
  wait: TurnWait | null;
  model: string | null;
  model_mode_override: string | null;
  reasoning_effort: string | null;
  unpriced_allowed: boolean;
  chat_title: string | null;
  chat_mode: string | null;
  chat_status: ChatStatus;
  created_by: string | null;
  enabled_scopes: string[] | null;
  /** Of the chat. */
  max_steps: number | null;
  /** What began the chat. */
  origin: ChatOrigin;
  /** Newest number in the event log before this claim. */
  event_seq: number;
  transcript: TranscriptRow[];
}

/** What nothing of a chat, or of somebody's part in it, runs after; its `stop_reason` then. */
export type TurnBar = 'agent_deleted' | 'member_left' | 'unshared';
/** Why a turn is not run that could be: its agent is deleted, who it acts for has left or sees the chat no more, or a stop came first. */
export type TurnRefusal = TurnBar | 'skipped';
export type TurnAnswer = ClaimAnswer<ClaimedTurn, TurnRefusal>;

/** A call that has no result yet. */
export interface OpenStep {
  step_no: number;
  tool_call_id: string;
  status: Noted;
}

/** A call that has gone out and has no result. */
export interface SentCall extends Omit<WaitingCall, 'ref'> {
  turn_id: string;
  chat_id: string;
}

/** How a call ended. */
export type CallStatus = 'done' | 'failed' | 'outcome_unknown';

/** What a call has come to. */
export interface CallResult {
  turnId: string;
  stepNo: number;
  messageId: string;
  content: string;
  toolCallId: string;
  toolName: string;
  status: CallStatus;
}

/** A call that is over without an answer of its own, and what it gets. */
export type AnsweredCall = WaitingCall & { content: string; status: CallStatus };

/** The chat of a turn that its owner has locked with it. */
interface OwnedChat {
  chat_id: string;
  org_id: string;
  event_seq: number;
  message_seq: number;
  pending_turns: number;
  status: ChatStatus;
}

interface WaitingTurn {
  org_id: string;
  chat_id: string;
  chat_status: ChatStatus;
  wait: TurnWait;
}

/** What a finished step leaves behind, for the signal that follows its commit. */
export interface StepCommit {
  /** Newest number in the event log before the step's own events. */
  event_seq: number;
  message_seq: number;
  /** Whether a job is to find a title for a young chat. */
  wants_title: boolean;
  /** Whether turns of the same organization wait for the slot that is free now. */
  parked: boolean;
}

const LOCK_OWNED = statement<OwnedChat>(`SELECT c.id AS chat_id, c.org_id, c.event_seq, c.message_seq, c.pending_turns, c.status
       FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.fence = $2 AND t.status = 'running' FOR NO KEY UPDATE OF c, t`);
const IS_STOPPED = statement(`SELECT 1 FROM turns WHERE id = $1 AND fence = $2 AND status = 'stopped'`);
const LOCK_OPEN = statement<{ status: ChatStatus }>(
  `SELECT c.status FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.status IN ('queued', 'running', 'waiting') FOR NO KEY UPDATE OF c, t`,
);
const COMMIT_TOOL_STEP =
  statement(`WITH c AS (${changeChats({ from: 'turns t', id: 't.chat_id', where: 't.id = $1', at: '$8', messageAfter: 'chats.message_seq' })}
                  RETURNING chats.id, chats.org_id, chats.message_seq, t.seq AS turn_no),
            m AS (${insertMessages('c', {
              id: '$3',
              org_id: 'c.org_id',
              chat_id: 'c.id',
              seq: 'c.message_seq',
              role: `'tool'`,
              content: '$4',
              tool_call_id: '$5',
              tool_name: '$6',
              turn_id: '$1',
              turn_no: 'c.turn_no',
              created_at: '$8',
            })}),
            s AS (UPDATE turn_steps SET status = $7, message_id = $3, finished_at = $8 WHERE turn_id = $1 AND step_no = $2)
       UPDATE turns SET wait = $9, ${stepDone('turns')} WHERE id = $1`);
const OPEN_CALLS = statement<OpenStep>(
  `SELECT step_no, tool_call_id, status FROM turn_steps WHERE turn_id = $1 AND status IN ('intent', 'sent') ORDER BY step_no`,
);
const SEND_CALL = statement(`
  WITH l AS MATERIALIZED (
    SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.fence = $2 AND t.status = 'running' FOR NO KEY UPDATE OF c, t
  )
  UPDATE turn_steps SET status = 'sent' FROM l WHERE turn_steps.turn_id = l.id AND turn_steps.step_no = $3 AND turn_steps.status = 'intent'`);
const SENT_CALLS = statement<SentCall>(
  `SELECT turn_id, chat_id, step_no, tool_call_id, tool_name FROM turn_steps WHERE turn_id = ANY($1) AND status = 'sent'`,
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
const WAIT_OF = statement<{ wait: TurnWait | null }>('SELECT wait FROM turns WHERE id = $1');
const LOCK_WAITING =
  statement<WaitingTurn>(`SELECT t.org_id, t.chat_id, c.status AS chat_status, t.wait FROM turns t JOIN chats c ON c.id = t.chat_id
       WHERE t.id = $1 AND t.status = 'waiting' AND c.status IN ('ACTIVE', 'PAUSED') AND c.deleted_at IS NULL FOR NO KEY UPDATE OF c, t`);
const NEXT_TURN = statement<{ id: string }>(`SELECT id FROM turns WHERE chat_id = $1 AND status = 'queued' ORDER BY seq LIMIT 1`);
const SKIP_QUEUED = statement(
  `UPDATE turns SET status = 'skipped', finished_at = $2, parked = false WHERE chat_id = $1 AND status = 'queued'`,
);
const END_ALL = statement(`
  WITH t AS (
    UPDATE turns SET ${runOver(`CASE WHEN turns.status = 'queued' AND turns.started_at IS NULL THEN 'skipped' ELSE 'stopped' END`, '$2')}
    WHERE chat_id = ANY($1) AND status IN ('queued', 'running', 'waiting') RETURNING id
  ), o AS (${deleteJobs({ from: 't', id: 't.id' })})
  SELECT count(*)::int AS n FROM t`);

/** The job of a turn. */
export const runOf = (turn: TurnRef): JobPayload<'turn.run'> => ({ org_id: turn.org_id, chat_id: turn.chat_id, turn_id: turn.id });

/** The tables of turns. The only file that changes them while they run. */
@Injectable()
export class TurnRepository {
  /** Turns, as far as they are runs like others. */
  readonly runs: RunRows<'turn.run'>;

  constructor(
    private readonly chats: ChatState,
    outbox: Outbox,
  ) {
    this.runs = new RunRows(TURN_RUNS, outbox);
  }

  /** The messages that a turn sees: up to its own, and what it has written itself. */
  transcript(db: Db, turn: { chat_id: string; seq: number }): Promise<TranscriptRow[]> {
    return db.query(TRANSCRIPT, [turn.chat_id, turn.seq]);
  }

  /** Names of the tools that its model was offered of too many; undefined where none were chosen yet. */
  async chosenTools(db: Db, turnId: string): Promise<string[] | undefined> {
    return (await db.query(CHOSEN_TOOLS, [turnId]))[0]?.chosen;
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
      detail: { restarted?: boolean; context_sha256?: string };
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
      JSON.stringify(message.detail),
    ]);
    return row ?? null;
  }

  /** Whether a turn is over by somebody's wish, and had no other owner since: nobody runs it again. */
  async isStopped(db: Db, { id, fence }: { id: string; fence: string }): Promise<boolean> {
    return (await db.query(IS_STOPPED, [id, fence])).length > 0;
  }

  /** Whether this owner may still write: locks the chat and the turn for the rest of the transaction. */
  async lockOwned(tx: Db, turnId: string, fence: string): Promise<OwnedChat | null> {
    return (await tx.query(LOCK_OWNED, [turnId, fence]))[0] ?? null;
  }

  /**
   * Writes a tool's result as the next message and ends its step.
   *
   * @param step `wait`: what the turn waits for after this
   */
  async commitToolStep(tx: Db, step: CallResult & { wait: TurnWait | null; at: Date }): Promise<void> {
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
  openCalls(db: Db, turnId: string): Promise<OpenStep[]> {
    return db.query(OPEN_CALLS, [turnId]);
  }

  /** Notes that a call goes out which nobody may make twice. @returns false when the turn is not this owner's any more */
  async sendCall(db: Db, turn: { id: string; fence: string }, stepNo: number): Promise<boolean> {
    return (await db.execute(SEND_CALL, [turn.id, turn.fence, stepNo])) > 0;
  }

  /** Of locked turns, the calls that {@link sendCall} has noted and that have no result. */
  sentCalls(tx: Tx, turnIds: string[]): Promise<SentCall[]> {
    return tx.query(SENT_CALLS, [turnIds]);
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
    await this.chats.setCompaction(tx, made.chatId, made.id);
    return through;
  }

  /** Locks a turn that is not over, and its chat. @returns the chat's status; null when the turn is over */
  async lockOpen(tx: Tx, turnId: string): Promise<ChatStatus | null> {
    return (await tx.query(LOCK_OPEN, [turnId]))[0]?.status ?? null;
  }

  /** The wait of a turn whose chat this transaction has locked; null when it does not wait. */
  async waitOf(tx: Db, turnId: string): Promise<TurnWait | null> {
    return (await tx.query(WAIT_OF, [turnId]))[0]?.wait ?? null;
  }

  /** Locks a turn that waits, with its chat, for the rest of the transaction. */
  async lockWaiting(tx: Db, turnId: string): Promise<WaitingTurn | null> {
    return (await tx.query(LOCK_WAITING, [turnId]))[0] ?? null;
  }

  /**
   * Takes a turn that is over the cap out of the queue. One that had begun and lost its worker no longer runs.
   *
   * @returns false for one that was parked before, and found its slot taken: its chat shows since when it waits
   */
  async park(tx: Db, turn: { id: string; chat_id: string }, pause: Pause, at: Date): Promise<boolean> {
    await this.runs.park(tx, [turn.id]);
    return this.chats.park(tx, turn.chat_id, pause, at);
  }

  /** Lets a turn wait without a slot. */
  async beginWait(tx: Tx, turn: { id: string; chat_id: string }, wait: TurnWait, pause: Pause, at: Date): Promise<void> {
    await this.runs.beginWait(tx, turn.id, wait);
    await this.chats.pause(tx, wait.kind === 'human' ? 'ask' : 'wait', turn.chat_id, pause, at);
  }

  /** Dispatches a turn whose wait is over, like one that was just sent. */
  async endWait(tx: Tx, turn: TurnRef, at: Date): Promise<void> {
    await this.runs.endWait(tx, turn.id, runOf(turn));
    await this.chats.wake(tx, turn.chat_id, at);
  }

  /**
   * Ends a turn whose chat this transaction has locked, and dispatches what waits behind it; where its chat is closed, that is over, too.
   *
   * @returns whether a turn of the same chat follows
   */
  async endTurn(
    tx: Tx,
    turn: TurnRef,
    end: {
      turnStatus: 'done' | 'stopped' | 'skipped' | 'failed' | 'cancelled';
      chat: 'rest' | 'fail' | 'archive' | 'abandon';
      error: ChatError | null;
      stopReason: string | null;
      at: Date;
      /** False where what waits behind it is over, too. */
      dispatchNext: boolean;
    },
  ): Promise<boolean> {
    const { at, error, stopReason, dispatchNext } = end;
    await this.runs.end(tx, turn.id, { status: end.turnStatus, error, at });
    const next = dispatchNext ? ((await tx.query(NEXT_TURN, [turn.chat_id]))[0]?.id ?? null) : null;
    if (!dispatchNext) await tx.execute(SKIP_QUEUED, [turn.chat_id, at]);
    await this.chats.endTurn(tx, turn.chat_id, { move: end.chat, error, stopReason, next, othersWait: dispatchNext, at });
    if (next) await this.runs.dispatch(tx, next, runOf({ ...turn, id: next }));
    await this.runs.dispatchParked(tx, turn.org_id);
    return next !== null;
  }

  /** Ends every turn of these locked chats, and removes their jobs. */
  async endAll(tx: Tx, chatIds: string[], at: Date): Promise<void> {
    await tx.query(END_ALL, [chatIds, at]);
  }
}
