import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { ToolCallRecord } from '@aps/entities';
import { costOf, Holds, InferenceError, type ChatResult, type ResolvedModel } from '@aps/inference';
import { NO_CALLER, Database, storable } from '@aps/platform/database';
import { LeaseEnded } from '@aps/platform/runs';
import { Outbox } from '@aps/platform/outbox';
import { labelOf } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import { eventMessage, numbered, statusChanged, transcriptRow, type NewEvent } from '../state/chat.types';
import { ChatEnds } from '../state/chat-ends';
import { heldTurn } from './held-turn';
import { Compaction } from './compaction';
import { toolCallsTotal, toolResultEvent } from './tool-results';
import { STEP_LIMIT, storableCalls, storableState } from './transcript';
import { cutOffTokens, finishOf, StepAnswers, type PartialAnswer } from './step-answers';
import { ToolRouter } from './tool-router';
import { isLastStep, TurnCalls } from './turn-calls';
import { TurnCharges } from './turn-charges';
import { TurnEndings } from './turn-endings';
import type { RunningTurn } from './running-turn';
import { TurnRepository, type CallResult, type StepCommit } from './turn.repository';
import { TURNS_BEFORE_TITLE, type Committing } from './turn.sql';

/**
 * Id of the message that a step writes. It follows from the step, so that a second owner writes the same message: readers who have got
 * half of it from the first are told that it starts anew, and no other.
 */
export function stepMessageId(turnId: string, stepNo: number): string {
  const hex = createHash('sha256').update(`${turnId}/${stepNo}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Asks the model once and writes down what it answered. */
@Injectable()
export class ModelStepRunner {
  private readonly logger = new Logger('ModelStepRunner');

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly calls: TurnCalls,
    private readonly answers: StepAnswers,
    private readonly holds: Holds,
    private readonly outbox: Outbox,
    private readonly compaction: Compaction,
    private readonly router: ToolRouter,
    private readonly charges: TurnCharges,
    private readonly ends: ChatEnds,
    private readonly endings: TurnEndings,
  ) {}

  /** @returns `finished` when the answer ends the turn, `continues` when the model asked for tools */
  async run(turn: RunningTurn): Promise<'finished' | 'continues'> {
    const { claim, lease } = turn;
    const stepNo = turn.stepsDone + 1;
    // Once per delivery: a change of settings takes effect with the next turn, not in the middle of one.
    const model = (turn.model ??= await this.calls.resolve(turn));

    const messageId = stepMessageId(claim.id, stepNo);
    // Whoever had the turn before may have begun it; nobody knows how far it had come.
    const restarted = claim.taken_over && turn.stepsDone === claim.steps_done;
    if (restarted) await this.answers.announceRestart(turn, messageId);
    await this.router.choose(turn, model);
    await this.compaction.fit(turn, model);
    return this.holds.holding(heldTurn(turn, 'turn'), async (hold) => {
      const started = performance.now();
      const partial: PartialAnswer = { text: '', size: 0, hold };
      try {
        const result = await this.answers.answer(turn, model, messageId, partial);
        lease.signal.throwIfAborted();
        // What is called in the last step is refused, so that the number of steps is a bound whatever a model does.
        const finished = result.toolCalls.length === 0 || isLastStep(turn);
        const durationMs = Math.round(performance.now() - started);
        await this.commit(turn, model, result, { messageId, stepNo, final: finished, restarted, ...partial, durationMs });
        return finished ? 'finished' : 'continues';
      } catch (error) {
        if (error instanceof LeaseEnded) await this.cutOff(turn, model, error, partial, { messageId, stepNo, restarted });
        // What was answered is paid for, though it is too long to be kept.
        else if (error instanceof InferenceError && hold.receipts.length)
          await this.db.transaction(NO_CALLER, (tx) => this.charges.charge(tx, claim, hold));
        throw error;
      }
    });
  }

  /** The call will not be committed. When a stop, or the suspension of its organization, is why, what was answered is paid for, and what the model had said is kept. */
  private async cutOff(
    turn: RunningTurn,
    model: ResolvedModel,
    error: LeaseEnded,
    partial: PartialAnswer,
    step: { messageId: string; stepNo: number; restarted: boolean },
  ): Promise<void> {
    const { claim } = turn;
    // What fails here is done where the turn ends; then the answer is not paid, as that of a lost lease.
    if (error.reason === 'org_suspended')
      await this.endings
        .suspended(claim)
        .catch((failure: Error) => this.logger.warn({ msg: 'A turn could not be suspended', turn_id: claim.id, error: failure.message }));
    // A stop whose broadcast did not arrive looks like a lost lease; the row of the turn tells.
    const mayBeStopped = error.reason !== 'shutdown';
    const isPaid = mayBeStopped && (await this.charges.chargeStopped(claim, partial.hold));
    if (!isPaid) for (const { output_tokens } of partial.hold.receipts) cutOffTokens.inc(output_tokens);
    const content = storable(partial.text);
    if (content.trim() === '' || !mayBeStopped) return;
    const at = this.db.now();
    const message = eventMessage({ id: step.messageId, role: 'assistant', content, model: model.resolved_model, interrupted: true, at });
    const event: NewEvent = {
      type: 'message_completed',
      data: { message, turn_id: claim.id, step_no: step.stepNo, final: true, interrupted: true },
    };
    try {
      const kept = await this.turns.keepInterrupted(this.db, {
        turnId: claim.id,
        fence: claim.fence,
        stepNo: step.stepNo,
        messageId: step.messageId,
        content,
        model: model.resolved_model,
        detail: { restarted: step.restarted || undefined, context_sha256: partial.contextHash },
        event,
        at,
      });
      if (!kept) return;
      message.seq = kept.message_seq;
      turn.signals.events(numbered([event], kept.event_seq, at));
    } catch (cause) {
      this.logger.warn({ msg: 'What a stopped turn had said is lost', turn_id: claim.id, error: (cause as Error).message });
    }
  }

  private async commit(
    turn: RunningTurn,
    model: ResolvedModel,
    result: ChatResult,
    step: { messageId: string; stepNo: number; final: boolean; restarted: boolean; durationMs: number } & Omit<
      PartialAnswer,
      'text' | 'size'
    >,
  ): Promise<void> {
    const { claim } = turn;
    const at = this.db.now();
    const content = storable(result.text);
    const toolCalls: ToolCallRecord[] | null = result.toolCalls.length ? storableCalls(result.toolCalls, step.messageId, turn.rows) : null;
    const finish = finishOf(result, step.final);
    const refused =
      step.final && toolCalls
        ? toolCalls.map((call, i): CallResult => ({
            turnId: claim.id,
            stepNo: step.stepNo + 1 + i,
            messageId: uuidv7(),
            content: STEP_LIMIT,
            toolCallId: call.id,
            toolName: call.name,
            status: 'failed',
          }))
        : [];
    const state = storableState(result.providerState);
    const { receipts } = step.hold;
    const cost = costOf(receipts);
    const usage = {
      ...result.usage,
      model: model.resolved_model,
      requested_model: model.requested_model,
      reason: model.reason,
      reasoning_effort: model.reasoning_effort,
      requested_reasoning_effort: model.requested_reasoning_effort,
      effort_clamped: model.effort_clamped,
      cost_usd: cost.usd_cost,
    };
    const events: NewEvent[] = [
      {
        type: 'message_completed',
        data: {
          message: eventMessage({
            id: step.messageId,
            role: 'assistant',
            content,
            tool_calls: toolCalls ?? [],
            model: model.resolved_model,
            usage,
            finish_reason: finish,
            at,
          }),
          turn_id: claim.id,
          step_no: step.stepNo,
          final: step.final,
          finish_reason: finish,
          duration_ms: step.durationMs,
        },
      },
      ...(toolCalls ?? []).map((call): NewEvent => ({
        type: 'tool_call',
        data: { tool_call_id: call.id, name: call.name, arguments: call.arguments, message_id: step.messageId, turn_id: claim.id },
      })),
      ...refused.map(toolResultEvent),
      ...(step.final ? [statusChanged('RUNNING', 'ACTIVE')] : []),
    ];
    const write: Committing = {
      turn_id: claim.id,
      chat_id: claim.chat_id,
      fence: claim.fence,
      step_no: step.stepNo,
      at,
      message_id: step.messageId,
      content,
      tool_calls: toolCalls,
      provider_state: state,
      model: model.resolved_model,
      usage,
      finish_reason: finish,
      detail: {
        finish_reason: finish,
        provider_finish_reason: result.providerFinish === null ? undefined : storable(result.providerFinish),
        attempts: result.attempts,
        restarted: step.restarted || undefined,
        context_sha256: step.contextHash,
        chosen_tools: turn.chosenTools,
        requested_model: model.requested_model,
        resolved_model: model.resolved_model,
        reason: model.reason,
        reasoning: storable(result.reasoning.slice(0, 20_000)) || undefined,
      },
      duration_ms: step.durationMs,
      // The step is the answer that stands; one that said nothing was asked beside it.
      receipts: receipts.map((receipt, i) => ({ ...receipt, step_no: i === receipts.length - 1 ? step.stepNo : null })),
      ...cost,
      events,
      tool_intents: (toolCalls ?? []).map((call, i) => ({ step_no: step.stepNo + 1 + i, tool_call_id: call.id, tool_name: call.name })),
    };
    // One statement can neither tell of the end of a chat, nor answer calls.
    const several = step.final && (this.ends.isHeard(claim.origin.kind) || refused.length > 0);
    const alone = several ? null : await this.turns.commitModelStep(this.db, write, step.final);
    const done = alone ?? (step.final ? await this.commitAndEnd(turn, write, refused) : null);
    if (!done) throw new LeaseEnded('lost');
    for (const call of refused) toolCallsTotal.inc({ tool: labelOf(turn.tools.find(call.toolName)), outcome: 'step_limit' });
    turn.stepsDone += 1;
    turn.modelSteps += 1;
    turn.rows.push(
      transcriptRow({ role: 'assistant', content, tool_calls: toolCalls, provider_state: state, finish_reason: finish, turn_id: claim.id }),
    );
    this.signal(turn, done, events, at);
  }

  /**
   * The last step of a turn that others wait behind, whose end somebody wants to know, or that called tools nevertheless: the same
   * statement, and then what follows from the end, in one transaction.
   */
  private async commitAndEnd(turn: RunningTurn, write: Committing, refused: CallResult[]): Promise<StepCommit | null> {
    const { claim } = turn;
    const heard = this.ends.isHeard(claim.origin.kind);
    return this.db.transaction(NO_CALLER, async (tx) => {
      const owned = await this.turns.lockOwned(tx, claim.id, claim.fence);
      if (!owned) return null;
      if (heard) await this.ends.hold(tx, { id: claim.chat_id }, claim.id);
      // Written as a step that does not end the turn; the end follows in this transaction and dispatches the next one.
      const done = await this.turns.commitModelStep(tx, write, false);
      if (!done) return null;
      for (const call of refused) await this.turns.commitToolStep(tx, { ...call, wait: null, at: write.at });
      await this.turns.endTurn(tx, claim, {
        turnStatus: 'done',
        chat: 'rest',
        error: null,
        stopReason: null,
        at: write.at,
        dispatchNext: true,
      });
      if (heard) await this.ends.tell(tx, { id: claim.chat_id }, 'done', claim.id);
      if (claim.seq <= TURNS_BEFORE_TITLE && claim.chat_title === null) {
        const { requestId, traceparent } = turn;
        await this.outbox.enqueue(
          tx,
          'chat.title',
          { org_id: claim.org_id, chat_id: claim.chat_id, turn_id: claim.id },
          { id: claim.chat_id, requestId, traceparent },
        );
      }
      return done;
    });
  }

  /** After the commit: wakes the readers and the workers. Everything here may be lost; the rows are there. */
  private signal(turn: RunningTurn, done: StepCommit, events: NewEvent[], at: Date): void {
    const { claim } = turn;
    const message = events[0].data.message as Record<string, unknown>;
    message.seq = done.message_seq;
    turn.signals.events(numbered(events, done.event_seq, at));
    if (done.wants_title) {
      void this.outbox.handOut(this.db, [
        {
          id: claim.chat_id,
          name: 'chat.title',
          payload: { org_id: claim.org_id, chat_id: claim.chat_id, turn_id: claim.id },
          requestId: turn.requestId,
          traceparent: turn.traceparent,
        },
      ]);
    }
    if (done.parked) void this.turns.runs.fillSlot(this.db, claim.org_id);
  }
}
