import { Injectable, Logger } from '@nestjs/common';
import type { TurnWait, WaitingCall } from '@aps/entities';
import { DecisionGate, handedUpBy } from '@aps/decisions';
import { NO_CALLER, Database, storable, type Db, type Tx } from '@aps/platform/database';
import { LeaseEnded, onFound, type Noted } from '@aps/platform/runs';
import { failSpan, inSpan, type Span } from '@aps/platform/tracing';
import { capResult, effectOf, labelOf, parseArguments, type Tool, type ToolOutcome, type ToolResult, type WaitKind } from '@aps/tools';
import { isDeepStrictEqual } from 'node:util';
import { uuidv7 } from 'uuidv7';
import { ChatLog } from '../state/chat-log';
import { statusChanged, transcriptRow, type NewEvent } from '../state/chat.types';
import type { RunningTurn } from './running-turn';
import { CUT_OFF, OUTCOME_UNKNOWN, type OpenCall } from './transcript';
import { ToolCalls, ToolFailed, type Step } from './tool-call';
import { toolCallsTotal, toolResultEvent } from './tool-results';
import { INTERRUPTED_BY_MESSAGE, pauseOf, TurnWaits, type WaitOutcome } from './turn-waits';
import { TurnRepository, type CallResult, type CallStatus } from './turn.repository';

/** Calls that wait for the same are made together; these kinds come after all other calls, in this order. */
const WAIT_ORDER: readonly (WaitKind | undefined)[] = [undefined, 'children', 'human', 'timer'];

/** A user has written: a call must not begin to wait now. Undoes what the call had done. */
class MessageCame extends Error {}

/** A call that a human has approved, and that can be made. */
interface ApprovedCall {
  kind: 'call';
  tool: Tool;
  args: unknown;
}

/** What a call gets, and what the chat's readers are told besides. */
interface CallAnswer {
  kind: 'answer';
  content: string;
  status: CallStatus;
  /** As metrics name it. */
  outcome: string;
  events?: NewEvent[];
}

const answerOf = ({ content, isError, events }: ToolResult): CallAnswer => ({
  kind: 'answer',
  content,
  status: isError ? 'failed' : 'done',
  outcome: isError ? 'refused' : 'done',
  events,
});

const failed = (content: string, outcome: string): CallAnswer => ({ kind: 'answer', content, status: 'failed', outcome });

/** @param subject how the model knows the call */
const failureOf = (error: ToolFailed, subject: string): CallAnswer => ({
  kind: 'answer',
  content: error.tell(subject),
  status: error.status,
  outcome: error.isUnknown ? 'outcome_unknown' : 'error',
});

/** Of a call that went out under another owner. */
const UNKNOWN: CallAnswer = { kind: 'answer', content: OUTCOME_UNKNOWN, status: 'outcome_unknown', outcome: 'outcome_unknown' };

/** Runs the calls that a model asked for. Each call's effect and its result are one transaction; of a call that goes out the result alone. */
@Injectable()
export class ToolStepRunner {
  private readonly logger = new Logger('ToolStepRunner');

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly calls: ToolCalls,
    private readonly log: ChatLog,
    private readonly waits: TurnWaits,
    private readonly gate: DecisionGate,
  ) {}

  /** Answers the calls of a wait that is over. */
  async completeWait(turn: RunningTurn): Promise<void> {
    while (turn.wait?.since) {
      turn.lease.requireNext();
      const wait = turn.wait;
      const [call, ...rest] = wait.calls;
      const step = stepOf(call);
      const after = rest.length ? { ...wait, calls: rest } : null;
      let over: WaitOutcome | undefined;
      const conclude = (tx: Tx, answer: CallAnswer) => this.conclude(tx, turn, step, over!, answer, after);
      try {
        const outgoing = await this.inOwnedTransaction(turn, async (tx) => {
          over = await this.waits.outcome(tx, wait, call);
          const made = over.kind === 'run' ? await this.approved(tx, turn, step, over) : answerOf(over);
          if (made.kind === 'call' && made.tool.callOut) return made;
          await conclude(tx, made.kind === 'call' ? await this.runApproved(turn, step, made, tx) : made);
        });
        if (!outgoing) continue;
        // What a human has said only was read until here, so whoever dies meanwhile leaves everything as it was.
        const result = await this.calls.send(turn, outgoing.tool, outgoing.args, step);
        await this.inOwnedTransaction(turn, (tx) => conclude(tx, answerOf(result)));
      } catch (error) {
        this.requireFailed(turn, error);
        await this.inOwnedTransaction(turn, (tx) => conclude(tx, failureOf(error, 'The approved call')));
      }
    }
  }

  /** A call that a human has approved, as it was stored; the grants of the agent still decide. Unless it was made, and cut off, before. */
  private async approved(
    tx: Tx,
    turn: RunningTurn,
    step: Step,
    run: Extract<WaitOutcome, { kind: 'run' }>,
  ): Promise<ApprovedCall | CallAnswer> {
    const noted = (await this.turns.openCalls(tx, turn.claim.id)).find((s) => s.step_no === step.stepNo)?.status;
    const tool = turn.tools.bySlug(run.toolSlug);
    if (noted && this.isLost(turn, step, tool, noted)) return UNKNOWN;
    if (!tool) return failed(`There is no tool ${run.toolSlug.slice(0, 100)}, or you may not use it.`, 'refused');
    const parsed = parseArguments(tool, JSON.stringify(run.arguments ?? {}));
    return parsed.ok ? { kind: 'call', tool, args: parsed.value } : failed(parsed.message, 'invalid');
  }

  private async runApproved(turn: RunningTurn, step: Step, { tool, args }: ApprovedCall, tx: Tx): Promise<CallAnswer> {
    const outcome = await this.calls.run(turn, tool, args, step, tx);
    if (outcome.kind === 'wait') throw new ToolFailed(tool, new Error(`${tool.slug} cannot wait in the place of another call`));
    return answerOf(outcome);
  }

  /** Answers the call of a wait that is over. */
  private async conclude(
    tx: Tx,
    turn: RunningTurn,
    step: Step,
    over: WaitOutcome,
    answer: CallAnswer,
    after: TurnWait | null,
  ): Promise<void> {
    const events = [...(over.events ?? []), ...(over.kind === 'run' ? (answer.events ?? []) : [])];
    if (over.kind === 'result') return this.record(tx, turn, step, answer.content, answer.status, events, after);
    // Before the result, which may be cut.
    const content = over.remark ? `${over.remark}\n\n${answer.content}` : answer.content;
    await this.record(tx, turn, step, content, answer.status, events, after);
    this.count(tx, turn.tools.bySlug(over.toolSlug), answer.outcome);
  }

  /** Whether a call went out before and nobody can say what it came to. */
  private isLost(turn: RunningTurn, step: Step, tool: Tool | undefined, noted: Noted): boolean {
    if (onFound(tool ? effectOf(tool) : 'inside', noted) !== 'unknown') return false;
    this.logger.warn({ msg: 'The outcome of a call is not known', tool: tool?.slug, turn_id: turn.claim.id, step_no: step.stepNo });
    return true;
  }

  /** Lets pass what a tool has failed with, which its model is told; after anything else the journal says what is. */
  private requireFailed(turn: RunningTurn, error: unknown): asserts error is ToolFailed {
    if (!(error instanceof ToolFailed)) throw error;
    turn.lease.signal.throwIfAborted();
    this.logger.warn({ msg: 'Tool failed', tool: error.tool.slug, turn_id: turn.claim.id, status: error.status, error: error.message });
  }

  private count(tx: Tx, tool: Tool | undefined, outcome: string): void {
    tx.afterCommit(() => toolCallsTotal.inc({ tool: labelOf(tool), outcome }));
  }

  /**
   * @param open calls of the newest assistant message that have no answer yet
   * @returns `waiting` when the turn has given up its slot until later
   */
  async run(turn: RunningTurn, open: OpenCall[]): Promise<'done' | 'waiting'> {
    const journal = await this.turns.openCalls(this.db, turn.claim.id);
    const notedOf = new Map(journal.map((s) => [s.tool_call_id, s]));
    const made = new Set(turn.wait?.calls.map((c) => c.tool_call_id));
    // What waits comes last: the others need not wait with it.
    const placeOf = (c: OpenCall) => WAIT_ORDER.indexOf(this.waitOf(turn, c));
    const ordered = open.filter((c) => !made.has(c.id)).sort((a, b) => placeOf(a) - placeOf(b));
    for (const call of ordered) {
      turn.lease.requireNext();
      // Calls that wait for something else come when this wait is over.
      if (turn.wait && turn.wait.kind !== WAIT_ORDER[placeOf(call)]) break;
      const noted = notedOf.get(call.id);
      const step: Step = { stepNo: noted?.step_no ?? turn.stepsDone + 1, id: call.id, name: call.name };
      await this.runOne(turn, call, step, noted?.status ?? 'intent');
    }
    return turn.wait ? this.beginWait(turn, turn.wait) : 'done';
  }

  /** What a call may make its turn wait for. */
  private waitOf(turn: RunningTurn, call: OpenCall): WaitKind | undefined {
    if (call.cut) return undefined;
    const tool = turn.tools.find(call.name);
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
        await this.interrupt(tx, turn, wait, null);
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
      await this.announce(tx, turn, [statusChanged('RUNNING', wait.kind === 'human' ? 'PAUSED' : 'ACTIVE', { pause })], at);
      // A slot is free now.
      await this.turns.runs.dispatchParked(tx, turn.claim.org_id);
      return 'waiting';
    });
  }

  /** Answers the calls of a wait that a message has ended. @param after what the turn waits for besides */
  private async interrupt(tx: Tx, turn: RunningTurn, wait: TurnWait, after: TurnWait | null): Promise<void> {
    const { events, calls } = await this.waits.interrupt(tx, wait);
    for (const [i, call] of calls.entries()) {
      await this.record(tx, turn, stepOf(call), call.content, call.status, i === 0 ? events : [], after);
    }
  }

  private runOne(turn: RunningTurn, call: OpenCall, step: Step, noted: Noted): Promise<void> {
    const tool = turn.tools.find(call.name);
    // Named by the tool, because the model may have written anything as its name.
    const attributes = { 'aps.turn.id': turn.claim.id, 'aps.step_no': step.stepNo };
    return inSpan(`tool ${tool?.slug ?? 'unknown'}`, { attributes }, (span) => this.make(turn, call, step, noted, tool, span));
  }

  /** Makes a call, unless something stands against it, and answers it. */
  private async make(turn: RunningTurn, call: OpenCall, step: Step, noted: Noted, tool: Tool | undefined, span: Span): Promise<void> {
    const answer = (given: CallAnswer) => {
      failSpan(span, given.outcome);
      return this.inOwnedTransaction(turn, (tx) => this.answer(tx, turn, tool, step, given));
    };
    if (this.isLost(turn, step, tool, noted)) return answer(UNKNOWN);
    if (call.cut) return answer(failed(CUT_OFF, 'cut_off'));
    if (!tool) return answer(failed(`There is no tool ${call.name.slice(0, 100)}, or you may not use it.`, 'refused'));
    const parsed = parseArguments(tool, call.arguments);
    if (!parsed.ok) return answer(failed(parsed.message, 'invalid'));
    try {
      // What goes out holds no transaction; its result has one of its own.
      const sent =
        tool.callOut &&
        ((await this.undecided(this.db, turn, tool, parsed.value, step)) ??
          answerOf(await this.calls.send(turn, tool, parsed.value, step)));
      await this.inOwnedTransaction(turn, async (tx, { pending_turns: pending }) => {
        if (sent) return this.answer(tx, turn, tool, step, sent);
        const undecided = await this.undecided(tx, turn, tool, parsed.value, step);
        if (undecided) return this.answer(tx, turn, tool, step, undecided);
        const outcome = await this.calls.run(turn, tool, parsed.value, step, tx);
        if (outcome.kind === 'result') return this.answer(tx, turn, tool, step, answerOf(outcome));
        const wait = this.waitIn(tool, step, outcome);
        // A message ends a wait, and one has come already: it would stand behind this turn until the wait is over.
        if (pending === 0) return this.noteWait(tx, turn, tool, wait, outcome.events);
        // What was handed up stays so, although nobody is asked.
        if (wait.kind !== 'human') throw new MessageCame();
        await this.announce(tx, turn, outcome.events ?? [], this.db.now());
        await this.interrupt(tx, turn, wait, turn.wait);
        this.count(tx, tool, 'interrupted');
      });
    } catch (error) {
      if (error instanceof MessageCame) return answer(failed(INTERRUPTED_BY_MESSAGE, 'interrupted'));
      this.requireFailed(turn, error);
      await answer(failureOf(error, tool.name));
    }
  }

  /** What a call gets that needs a recorded decision where there is none; null for one that may be made. */
  private async undecided(db: Db, turn: RunningTurn, tool: Tool, args: unknown, step: Step): Promise<CallAnswer | null> {
    const { tools, claim } = turn;
    const { decision_log } = tools.grants;
    const callsCovered = decision_log && (await tool.callsCovered?.(db, args, { orgId: claim.org_id, tools }));
    const gated = callsCovered ? { ...tool, decisionMode: 'all' as const } : tool;
    const turnOf = { id: claim.id, decision_log, hands_up: this.isHandedUp(turn, tool, args, step) };
    const content = await this.gate.refusal(db, turnOf, gated);
    return content === null ? null : failed(content, 'undecided');
  }

  /**
   * Whether a call stands behind one of the same answer that hands a decision up, or is the one that this names. By what the model wrote: whether it
   * was recorded, refused or interrupted is no matter.
   */
  private isHandedUp({ rows, tools }: RunningTurn, tool: Tool, args: unknown, { id }: Step): boolean {
    const calls = rows.findLast(({ role }) => role === 'assistant')?.tool_calls ?? [];
    const at = calls.findIndex((call) => call.id === id);
    return calls.some((call, i) => {
      const handedUp = tools.find(call.name)?.slug === 'record_decision' && handedUpBy(call.arguments);
      if (!handedUp || i < at) return !!handedUp;
      if (typeof handedUp.tool_slug !== 'string' || tools.named(handedUp.tool_slug) !== tool) return false;
      // By a digest, or by the tool alone, it may be any call of that.
      if (handedUp.arguments === undefined) return true;
      const same = parseArguments(tool, JSON.stringify(handedUp.arguments));
      return same.ok && isDeepStrictEqual(same.value, args);
    });
  }

  private async answer(
    tx: Tx,
    turn: RunningTurn,
    tool: Tool | undefined,
    step: Step,
    { content, status, outcome, events }: CallAnswer,
  ): Promise<void> {
    await this.record(tx, turn, step, content, status, events);
    this.count(tx, tool, outcome);
  }

  /** What a call alone waits for. */
  private waitIn(tool: Tool, step: Step, { ref, resumeAt }: Extract<ToolOutcome, { kind: 'wait' }>): TurnWait {
    if (!tool.waitsFor) throw new ToolFailed(tool, new Error(`${tool.slug} does not say that it waits`));
    const call: WaitingCall = { step_no: step.stepNo, tool_call_id: step.id, tool_name: step.name, ...(ref && { ref }) };
    return { kind: tool.waitsFor, since: null, resume_at: resumeAt?.toISOString() ?? null, calls: [call] };
  }

  /** Has the turn wait for a call beside those that it waits for already. */
  private async noteWait(tx: Tx, turn: RunningTurn, tool: Tool, more: TurnWait, events: NewEvent[] = []): Promise<void> {
    const wait: TurnWait = turn.wait
      ? { ...more, resume_at: later(turn.wait.resume_at, more.resume_at), calls: [...turn.wait.calls, ...more.calls] }
      : more;
    await this.turns.runs.noteWait(tx, turn.claim.id, wait);
    if (events.length) await this.announce(tx, turn, events, this.db.now());
    this.count(tx, tool, 'waits');
    tx.afterCommit(() => {
      turn.wait = wait;
    });
  }

  private async record(
    tx: Tx,
    turn: RunningTurn,
    step: Step,
    raw: string,
    status: CallStatus,
    more: NewEvent[] = [],
    wait: TurnWait | null = turn.wait,
  ): Promise<void> {
    const at = this.db.now();
    const result: CallResult = {
      turnId: turn.claim.id,
      stepNo: step.stepNo,
      messageId: uuidv7(),
      content: capResult(storable(raw)),
      toolCallId: step.id,
      toolName: step.name,
      status,
    };
    await this.turns.commitToolStep(tx, { ...result, wait, at });
    await this.announce(tx, turn, [toolResultEvent(result), ...more], at);
    tx.afterCommit(() => {
      turn.stepsDone += 1;
      turn.wait = wait;
      turn.rows.push(
        transcriptRow({ role: 'tool', content: result.content, tool_call_id: step.id, tool_name: step.name, turn_id: turn.claim.id }),
      );
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

const stepOf = (call: WaitingCall): Step => ({ stepNo: call.step_no, id: call.tool_call_id, name: call.tool_name });

/** The later of two times; null when one of the calls waits without one. */
const later = (a: string | null, b: string | null): string | null => (a === null || b === null ? null : a > b ? a : b);
