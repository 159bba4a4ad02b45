import { Injectable } from '@nestjs/common';
import type { ChatStatus } from '@aps/entities';
import { CommandsRepository } from '@aps/environments';
import { InferenceError } from '@aps/inference';
import { NO_CALLER, Database, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { ChatLog } from '../state/chat-log';
import { statusChanged, type ChatError, type NewEvent } from '../state/chat.types';
import { ChatEnds, type ChatEnd } from '../state/chat-ends';
import { MOVES } from '../state/chat-state.policy';
import { ChatState } from '../state/chat-state.repository';
import { ToolResults } from './tool-results';
import { TurnWaits } from './turn-waits';
import { TurnRepository, type TurnBar, type TurnRef } from './turn.repository';

interface Ending {
  turnStatus: 'done' | 'stopped' | 'skipped' | 'failed' | 'cancelled';
  /** How its chat moves. */
  chat: 'rest' | 'fail' | 'archive' | 'abandon';
  error?: ChatError | null;
  stopReason?: string | null;
  /** What happened before the status changed. */
  events?: NewEvent[];
}

/** Thrown inside a turn that must not ask a model now. */
export class TurnBlocked extends Error {
  constructor(
    readonly stopReason: 'credits_exhausted' | 'model_unpriced',
    message: string,
  ) {
    super(message);
    this.name = 'TurnBlocked';
  }
}

/** Model steps that a turn may have failed for reasons that lie in the request and not in the moment. */
const NOT_RETRYABLE = new Set(['provider_rejected', 'provider_auth', 'context_overflow', 'route_disabled', 'model_unavailable']);

/** The ways in which a turn ends without a reply. Each dispatches what waits behind it. */
@Injectable()
export class TurnEndings {
  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly outbox: Outbox,
    private readonly log: ChatLog,
    private readonly chats: ChatState,
    private readonly ends: ChatEnds,
    private readonly waits: TurnWaits,
    private readonly results: ToolResults,
    private readonly commands: CommandsRepository,
  ) {}

  /** The error as a chat shows it; undefined for faults of ours, which are delivered again instead. */
  asChatError(error: unknown): ChatError | undefined {
    if (!(error instanceof InferenceError)) return undefined;
    return { code: error.code, message: error.message, retryable: !NOT_RETRYABLE.has(error.code) };
  }

  /** @param turn owned by this process */
  async failed(turn: TurnRef & { fence: string }, error: ChatError): Promise<void> {
    await this.endOwned(turn, {
      turnStatus: 'failed',
      chat: 'fail',
      error,
      events: [{ type: 'error', data: { ...error, turn_id: turn.id } }],
    });
  }

  /** The organization was suspended while the turn ran. */
  async suspended(turn: TurnRef & { fence: string }): Promise<void> {
    await this.endOwned(turn, { turnStatus: 'stopped', chat: 'rest', stopReason: 'org_suspended' });
  }

  /** The next call must not be made for a reason that somebody can lift: the chat is closed until it is continued. */
  async blocked(turn: TurnRef & { fence: string }, { stopReason, message }: TurnBlocked): Promise<void> {
    await this.endOwned(turn, {
      turnStatus: 'failed',
      chat: 'archive',
      stopReason,
      events: [{ type: 'blocker', data: { stop_reason: stopReason, message, turn_id: turn.id } }],
    });
  }

  /** Delivered too often without finishing a step: it may be what kills its workers. */
  async lost(turn: TurnRef): Promise<void> {
    const error: ChatError = { code: 'worker_lost', message: 'The workers that ran this turn were lost again and again.', retryable: true };
    await this.endUnowned(turn, {
      turnStatus: 'failed',
      chat: 'fail',
      error,
      events: [{ type: 'error', data: { ...error, turn_id: turn.id } }],
    });
  }

  /** A stop came before it began. */
  async skipped(turn: TurnRef): Promise<void> {
    await this.endUnowned(turn, { turnStatus: 'skipped', chat: 'rest' });
  }

  /** Its agent was deleted, or who it acts for has left or sees the chat no more, before it came to a worker. */
  async barred(turn: TurnRef & { steps_done: number }, stopReason: TurnBar): Promise<void> {
    await this.endUnowned(turn, { turnStatus: turn.steps_done > 0 ? 'stopped' : 'skipped', chat: 'rest', stopReason });
  }

  private async endOwned(turn: TurnRef & { fence: string }, ending: Ending): Promise<void> {
    await this.db.transaction(NO_CALLER, async (tx) => {
      const owned = await this.turns.lockOwned(tx, turn.id, turn.fence);
      if (owned) await this.end(tx, turn, owned.status, ending);
    });
  }

  private async endUnowned(turn: TurnRef, ending: Ending): Promise<void> {
    await this.db.transaction(NO_CALLER, async (tx) => {
      const from = await this.turns.lockOpen(tx, turn.id);
      if (from !== null) await this.end(tx, turn, from, ending);
      else await this.outbox.cancel(tx, turn.id);
    });
  }

  /** Ends a turn whose chat and turn rows this transaction has locked. */
  async end(tx: Tx, turn: TurnRef, from: ChatStatus, ending: Ending): Promise<void> {
    const at = this.db.now();
    const { turnStatus, chat, error = null, stopReason = null } = ending;
    const to = MOVES[chat].to;
    // It may have asked humans and not come to wait for them; nobody would read their answers.
    const wait = await this.turns.waitOf(tx, turn.id);
    const withdrawn = wait?.kind === 'human' ? await this.waits.abandon(tx, wait, isBar(stopReason) ? stopReason : 'stopped') : [];
    const lost = (await this.results.giveUp(tx, [turn.id], at)).get(turn.chat_id) ?? [];
    await this.commands.cancelOfTurns(tx, [turn.id]);
    const goesOn = await this.turns.endTurn(tx, turn, {
      turnStatus,
      chat,
      error,
      stopReason,
      at,
      dispatchNext: chat !== 'archive' && chat !== 'abandon',
    });
    const events: NewEvent[] = [...withdrawn, ...lost, ...(ending.events ?? [])];
    if (from !== to || stopReason) events.push(statusChanged(from, to, { stop_reason: stopReason }));
    if (chat === 'fail' && goesOn) {
      // The message that waited behind the failed turn revives the chat, like one that comes after the failure.
      await this.chats.revive(tx, turn.chat_id, at);
      events.push(statusChanged('ERRORED', 'ACTIVE'));
    }
    await this.log.tell(tx, turn.chat_id, events, at);
    await this.ends.tell(tx, { id: turn.chat_id }, endOf(ending), turn.id);
  }
}

const BARS: Record<TurnBar, true> = { agent_deleted: true, member_left: true, unshared: true };
const isBar = (reason: string | null | undefined): reason is TurnBar => !!reason && Object.hasOwn(BARS, reason);

/** The same as a parent of the chat is told. */
function endOf({ turnStatus, chat, stopReason }: Ending): ChatEnd {
  if (chat === 'archive') return 'archived';
  if (chat === 'abandon') return 'abandoned';
  if (stopReason === 'org_suspended') return 'suspended';
  return turnStatus === 'skipped' ? 'stopped' : turnStatus;
}
