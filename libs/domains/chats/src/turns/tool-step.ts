import { Injectable, Logger } from '@nestjs/common';
import type { TurnWait, WaitingCall } from '@aps/entities';
import { DecisionGate } from '@aps/decisions';
import { NO_CALLER, Database, isConnectionLoss, storable, type Db, type Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { LeaseEnded } from '@aps/platform/runs';
import { failSpan, inSpan, type Span } from '@aps/platform/tracing';
import {
  capResult,
  parseArguments,
  ToolCatalog,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  type ToolResult,
  type WaitKind,
} from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import { ChatLog } from '../state/chat-log';
import { ChatState } from '../state/chat-state.repository';
import type { NewEvent } from '../state/chat.types';
import { grantsOf } from './running-turn';
import { CUT_OFF, type OpenCall } from './transcript';
import type { RunningTurn } from './running-turn';
import { INTERRUPTED_BY_MESSAGE, pauseOf, TurnWaits, type WaitOutcome } from './turn-waits';
import { TurnRepository } from './turn.repository';

type StepStatus = 'done' | 'failed';

export const toolCallsTotal = counter('tool_calls_total', 'Tool calls, by outcome', ['tool', 'outcome']);

/** Calls that wait for the same are made together; these kinds come after all other calls, in this order. */
const WAIT_ORDER: readonly (WaitKind | undefined)[] = [undefined, 'children', 'human', 'timer'];

/** What a tool threw, as opposed to what went wrong around it. */
class ToolFailed extends Error {
  /** For the model. What was to happen in our transaction has not happened; of what went out nobody knows. */
  readonly effect: string;

  constructor(tool: Tool, message: string, options?: ErrorOptions) {
    super(message, options);
    this.effect = tool.callOut ? 'failed on our side, and may have had an effect' : 'failed on our side and had no effect';
  }
}

/** A user has written: a call must not begin to wait now. Undoes what the call had done. */
class MessageCame extends Error {}

/** A call and the number of its step. */
interface Step {
  stepNo: number;
  id: string;
  name: string;
}

/** A call that a human has approved, and that can be made. */
interface ApprovedCall {
  kind: 'call';
  tool: Tool;
  args: unknown;
}

/** What the model is told of a call that needs a decision first. */
interface Undecided {
  kind: 'undecided';
  content: string;
}

/** Runs the calls that a model asked for. Each call's effect and its result are one transaction; of a call that goes out the result alone. */
@Injectable()
export class ToolStepRunner {
  private readonly logger = new Logger('ToolStepRunner');

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly chats: ChatState,
    private readonly catalog: ToolCatalog,
    private readonly log: ChatLog,
    private readonly waits: TurnWaits,
    private readonly gate: DecisionGate,
  ) {}

  /** Answers the calls of a wait that is over. */
  async completeWait(turn: RunningTurn): Promise<void> {
    while (turn.wait?.since) {
      const wait = turn.wait;
      const [call, ...rest] = wait.calls;
      const step: Step = { stepNo: call.step_no, id: call.tool_call_id, name: call.tool_name };
      const after = rest.length ? { ...wait, calls: rest } : null;
      try {
        const outside = await this.inOwnedTransaction(turn, async (tx) => {
          const outcome = await this.waits.outcome(tx, wait, call);
          const approved = outcome.kind === 'run' ? this.approved(turn, outcome) : outcome;
          if (approved.kind === 'call' && approved.tool.callOut) return { outcome, ...approved };
          const result = approved.kind === 'call' ? await this.runApproved(turn, step, approved, tx) : approved;
          await this.conclude(tx, turn, step, outcome, result, after);
        });
        if (!outside) continue;
        // What a human has said only was read until here, so whoever dies meanwhile leaves everything as it was.
        const result = await this.runApproved(turn, step, outside);
        await this.inOwnedTransaction(turn, (tx) => this.conclude(tx, turn, step, outside.outcome, result, after));
      } catch (error) {
        if (!(error instanceof ToolFailed) || turn.lease.signal.aborted) throw error;
        this.logger.warn({ msg: 'Approved call failed', turn_id: turn.claim.id, error: error.message });
        await this.inOwnedTransaction(turn, (tx) => this.record(tx, turn, step, `The approved call ${error.effect}.`, 'failed', [], after));
      }
    }
  }

  /** A call that a human has approved, as it was stored; the grants of the agent still decide. */
  private approved(turn: RunningTurn, { toolSlug, arguments: args }: Extract<WaitOutcome, { kind: 'run' }>): ApprovedCall | ToolResult {
    const tool = this.catalog.bySlug(grantsOf(turn), toolSlug);
    if (!tool) return { kind: 'result', content: `There is no tool ${toolSlug.slice(0, 100)}, or you may not use it.`, isError: true };
    const parsed = parseArguments(tool, JSON.stringify(args ?? {}));
    return parsed.ok ? { kind: 'call', tool, args: parsed.value } : { kind: 'result', content: parsed.message, isError: true };
  }

  private async runApproved(turn: RunningTurn, step: Step, { tool, args }: ApprovedCall, tx?: Tx): Promise<ToolResult> {
    const outcome = await this.call(turn, tool, args, step, tx);
    if (outcome.kind === 'wait') throw new ToolFailed(tool, `${tool.slug} cannot wait in the place of another call`);
    return outcome;
  }

  /** Answers the call of a wait that is over. */
  private conclude(tx: Tx, turn: RunningTurn, step: Step, outcome: WaitOutcome, result: ToolResult, after: TurnWait | null): Promise<void> {
    // Before the result, which may be cut.
    const content = outcome.kind === 'run' && outcome.remark ? `${outcome.remark}\n\n${result.content}` : result.content;
    const events = [...(outcome.events ?? []), ...(result === outcome ? [] : (result.events ?? []))];
    return this.record(tx, turn, step, content, result.isError ? 'failed' : 'done', events, after);
  }

  /**
   * @param open calls of the newest assistant message that have no answer yet
   * @returns `waiting` when the turn has given up its slot until later
   */
  async run(turn: RunningTurn, open: OpenCall[]): Promise<'done' | 'waiting'> {
    const intents = await this.turns.openCalls(this.db, turn.claim.id);
    const stepOf = new Map(intents.map((s) => [s.tool_call_id, s.step_no]));
    const made = new Set(turn.wait?.calls.map((c) => c.tool_call_id));
    // What waits comes last: the others need not wait with it.
    const placeOf = (c: OpenCall) => WAIT_ORDER.indexOf(this.waitOf(turn, c));
    const ordered = open.filter((c) => !made.has(c.id)).sort((a, b) => placeOf(a) - placeOf(b));
    for (const call of ordered) {
      turn.lease.signal.throwIfAborted();
      // Calls that wait for something else come when this wait is over.
      if (turn.wait && turn.wait.kind !== WAIT_ORDER[placeOf(call)]) break;
      await this.runOne(turn, call, stepOf.get(call.id) ?? turn.stepsDone + 1);
    }
    return turn.wait ? this.beginWait(turn, turn.wait) : 'done';
  }

  /** What a call may make its turn wait for. */
  private waitOf(turn: RunningTurn, call: OpenCall): WaitKind | undefined {
    if (call.cut) return undefined;
    const tool = this.catalog.find(grantsOf(turn), call.name);
    if (!tool?.waitsFor || !tool.waitsWhen) return tool?.waitsFor;
    const parsed = parseArguments(tool, call.arguments);
    return parsed.ok && tool.waitsWhen(parsed.value as never) ? tool.waitsFor : undefined;
  }

  /** Gives up the slot, unless what the turn would wait for is over already or a user has written. */
  private async beginWait(turn: RunningTurn, noted: TurnWait): Promise<'done' | 'waiting'> {
    const at = this.db.now();
    const wait = { ...noted, since: at.toISOString() };
    return this.inOwnedTransaction(turn, async (tx, { pending_turns: pending }) => {
      if (pending > 0) {
        const { events, calls } = await this.waits.interrupt(tx, wait);
        for (const [i, call] of calls.entries()) {
          const step: Step = { stepNo: call.step_no, id: call.tool_call_id, name: call.tool_name };
          await this.record(tx, turn, step, call.content, call.status, i === 0 ? events : [], null);
        }
        return 'done';
      }
      if (!(await this.waits.isOpen(tx, wait))) {
        await this.turns.runs.noteWait(tx, turn.claim.id, wait);
        tx.afterCommit(() => {
          turn.wait = wait;
        });
        return 'done';
      }
      const pause = pauseOf(wait);
      await this.turns.beginWait(tx, turn.claim, wait, pause, at);
      await this.announce(
        tx,
        turn,
        [
          {
            type: 'status_changed',
            data: { from: 'RUNNING', to: wait.kind === 'human' ? 'PAUSED' : 'ACTIVE', stop_reason: null, pause: { ...pause } },
          },
        ],
        at,
      );
      // A slot is free now.
      await this.turns.runs.dispatchParked(tx, turn.claim.org_id);
      return 'waiting';
    });
  }

  private runOne(turn: RunningTurn, call: OpenCall, stepNo: number): Promise<void> {
    const tool = this.catalog.find(grantsOf(turn), call.name);
    // Named by the tool, because the model may have written anything as its name.
    return inSpan(`tool ${tool?.slug ?? 'unknown'}`, { attributes: { 'aps.turn.id': turn.claim.id, 'aps.step_no': stepNo } }, (span) =>
      this.answer(turn, call, stepNo, tool, span),
    );
  }

  private async answer(turn: RunningTurn, call: OpenCall, stepNo: number, tool: Tool | undefined, span: Span): Promise<void> {
    const step: Step = { stepNo, id: call.id, name: call.name };
    const refuse = (content: string, status: StepStatus, outcome: string) => {
      toolCallsTotal.inc({ tool: tool?.slug ?? 'unknown', outcome });
      failSpan(span, outcome);
      return this.inOwnedTransaction(turn, (tx) => this.record(tx, turn, step, content, status));
    };
    if (call.cut) return refuse(CUT_OFF, 'failed', 'cut_off');
    if (!tool) return refuse(`There is no tool ${call.name.slice(0, 100)}, or you may not use it.`, 'failed', 'refused');
    const parsed = parseArguments(tool, call.arguments);
    if (!parsed.ok) return refuse(parsed.message, 'failed', 'invalid');
    try {
      // What goes out holds no transaction; its result has one of its own.
      const called = tool.callOut && (await this.gated(this.db, turn, tool, () => this.call(turn, tool, parsed.value, step)));
      await this.inOwnedTransaction(turn, async (tx, { pending_turns: pending }) => {
        const outcome = called ?? (await this.gated(tx, turn, tool, () => this.call(turn, tool, parsed.value, step, tx)));
        // A message ends a wait, and one has come already: it would stand behind this turn until the wait is over.
        if (outcome.kind === 'wait' && pending > 0) throw new MessageCame();
        await this.apply(tx, turn, tool, step, outcome);
      });
    } catch (error) {
      if (error instanceof MessageCame) return refuse(INTERRUPTED_BY_MESSAGE, 'failed', 'interrupted');
      // Only what the tool itself threw has surely undone its transaction; after anything else the journal says what is.
      if (!(error instanceof ToolFailed) || turn.lease.signal.aborted) throw error;
      // The model is told, and the turn goes on.
      this.logger.warn({ msg: 'Tool failed', tool: tool.slug, turn_id: turn.claim.id, error: error.message });
      return refuse(`${tool.name} ${error.effect}.`, 'failed', 'error');
    }
  }

  /** A call, unless it needs a recorded decision and there is none. */
  private async gated(db: Db, turn: RunningTurn, tool: Tool, call: () => Promise<ToolOutcome>): Promise<ToolOutcome | Undecided> {
    const content = await this.gate.refusal(db, { id: turn.claim.id, decision_log: grantsOf(turn).decision_log }, tool);
    return content === null ? call() : { kind: 'undecided', content };
  }

  /** @param tx that records the result; without, for tools that call out */
  private async call(turn: RunningTurn, tool: Tool, args: unknown, step: Step, tx?: Tx): Promise<ToolOutcome> {
    const { claim, lease } = turn;
    const context: ToolContext = {
      orgId: claim.org_id,
      agentId: claim.agent_id,
      chatId: claim.chat_id,
      turnId: claim.id,
      stepNo: step.stepNo,
      toolCallId: step.id,
      grants: grantsOf(turn),
      idempotencyKey: `${claim.id}/${step.stepNo}`,
      signal: lease.signal,
      charge: (within, cost) => this.chats.addCost(within, claim.chat_id, cost),
    };
    try {
      return await (tool.callOut ? tool.callOut(args as never, context) : tool.run(tx!, args as never, context));
    } catch (error) {
      // A deadlock undoes the transaction and has it run again.
      const code = (error as { code?: string }).code;
      if (error instanceof LeaseEnded || isConnectionLoss(error) || code === '40001' || code === '40P01') throw error;
      throw new ToolFailed(tool, (error as Error).message, { cause: error });
    }
  }

  private async apply(tx: Tx, turn: RunningTurn, tool: Tool, step: Step, outcome: ToolOutcome | Undecided): Promise<void> {
    if (outcome.kind === 'undecided') {
      toolCallsTotal.inc({ tool: tool.slug, outcome: 'undecided' });
      return this.record(tx, turn, step, outcome.content, 'failed');
    }
    if (outcome.kind === 'result') {
      toolCallsTotal.inc({ tool: tool.slug, outcome: outcome.isError ? 'refused' : 'done' });
      await this.record(tx, turn, step, outcome.content, outcome.isError ? 'failed' : 'done', outcome.events);
      return;
    }
    if (!tool.waitsFor) throw new ToolFailed(tool, `${tool.slug} does not say that it waits`);
    toolCallsTotal.inc({ tool: tool.slug, outcome: 'waits' });
    const call: WaitingCall = {
      step_no: step.stepNo,
      tool_call_id: step.id,
      tool_name: step.name,
      ...(outcome.ref && { ref: outcome.ref }),
    };
    const wait: TurnWait = {
      kind: tool.waitsFor,
      since: null,
      resume_at: later(turn.wait?.resume_at, outcome.resumeAt?.toISOString()),
      calls: [...(turn.wait?.calls ?? []), call],
    };
    await this.turns.runs.noteWait(tx, turn.claim.id, wait);
    if (outcome.events?.length) await this.announce(tx, turn, outcome.events, this.db.now());
    tx.afterCommit(() => {
      turn.wait = wait;
    });
  }

  private async record(
    tx: Tx,
    turn: RunningTurn,
    step: Step,
    raw: string,
    status: StepStatus,
    more: NewEvent[] = [],
    wait: TurnWait | null = turn.wait,
  ): Promise<void> {
    const content = capResult(storable(raw));
    const at = this.db.now();
    const messageId = uuidv7();
    await this.turns.commitToolStep(tx, {
      turnId: turn.claim.id,
      stepNo: step.stepNo,
      messageId,
      content,
      toolCallId: step.id,
      toolName: step.name,
      status,
      wait,
      at,
    });
    const result: NewEvent = {
      type: 'tool_result',
      data: { message_id: messageId, tool_call_id: step.id, name: step.name, status, content, turn_id: turn.claim.id },
    };
    await this.announce(tx, turn, [result, ...more], at);
    tx.afterCommit(() => {
      turn.stepsDone += 1;
      turn.wait = wait;
      turn.rows.push({
        role: 'tool',
        content,
        tool_calls: null,
        tool_call_id: step.id,
        tool_name: step.name,
        provider_state: null,
        finish_reason: null,
        turn_id: turn.claim.id,
      });
    });
  }

  private async announce(tx: Tx, turn: RunningTurn, events: NewEvent[], at: Date): Promise<void> {
    const told = await this.log.append(tx, turn.claim.chat_id, events, at);
    tx.afterCommit(() => turn.signals.events(told));
  }

  private inOwnedTransaction<T>(turn: RunningTurn, fn: (tx: Tx, owned: { pending_turns: number }) => Promise<T>): Promise<T> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const owned = await this.turns.lockOwned(tx, turn.claim.id, turn.claim.fence);
      if (!owned) throw new LeaseEnded('lost');
      return fn(tx, owned);
    });
  }
}

/** The later of two times; null when one of the calls waits without one. */
function later(noted: string | null | undefined, of: string | undefined): string | null {
  if (of === undefined || noted === null) return null;
  return noted === undefined || of > noted ? of : noted;
}
