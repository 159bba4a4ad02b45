import { Injectable, Logger } from '@nestjs/common';
import { Database, isConnectionLoss, type Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { failSpan, inSpan, type Span } from '@aps/platform/tracing';
import { capResult, parseArguments, ToolCatalog, type Tool, type ToolOutcome } from '@aps/tools';
import { uuidv7 } from 'uuidv7';
import { numbered, type NewEvent, type ToolCallRecord } from '../chat.types';
import { LeaseEnded } from './leases';
import { TurnEndings } from './turn-endings';
import type { RunningTurn } from './turn-runner';
import { TurnRepository, type TurnWait } from './turn.repository';

type StepStatus = 'done' | 'failed';

const calls = counter('tool_calls_total', 'Tool calls, by outcome', ['tool', 'outcome']);

/** What a tool threw, as opposed to what went wrong around it. */
class ToolFailed extends Error {}

/** Runs the calls that a model asked for. Each call's effect and its result are one transaction. */
@Injectable()
export class ToolStepRunner {
  private readonly logger = new Logger('ToolStepRunner');

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly catalog: ToolCatalog,
    private readonly endings: TurnEndings,
  ) {}

  /** Answers a call whose wait is over. */
  async completeWait(turn: RunningTurn, wait: TurnWait): Promise<void> {
    const content = JSON.stringify({ status: 'elapsed', at: new Date().toISOString() });
    await this.inOwnedTransaction(turn, (tx) => this.record(tx, turn, { stepNo: wait.step_no, id: wait.tool_call_id, name: wait.tool_name }, content, 'done'));
  }

  /**
   * @param open calls of the newest assistant message that have no answer yet
   * @returns `waiting` when the turn has given up its slot until later
   */
  async run(turn: RunningTurn, open: ToolCallRecord[]): Promise<'done' | 'waiting'> {
    const intents = await this.turns.openCalls(this.db, turn.claim.id);
    const stepOf = new Map(intents.map((s) => [s.tool_call_id, s.step_no]));
    // What waits comes last: the others need not wait with it.
    const pausable = (c: ToolCallRecord) => (this.catalog.find(turn.config, c.name)?.isPausable ? 1 : 0);
    const ordered = [...open].sort((a, b) => pausable(a) - pausable(b));
    for (const call of ordered) {
      turn.lease.signal.throwIfAborted();
      if ((await this.runOne(turn, call, stepOf.get(call.id) ?? turn.stepsDone + 1)) === 'waiting') return 'waiting';
    }
    return 'done';
  }

  private runOne(turn: RunningTurn, call: ToolCallRecord, stepNo: number): Promise<'done' | 'waiting'> {
    const tool = this.catalog.find(turn.config, call.name);
    // Named by the tool, because the model may have written anything as its name.
    return inSpan(`tool ${tool?.slug ?? 'unknown'}`, { attributes: { 'aps.turn.id': turn.claim.id, 'aps.step_no': stepNo } }, (span) => this.answer(turn, call, stepNo, tool, span));
  }

  private async answer(turn: RunningTurn, call: ToolCallRecord, stepNo: number, tool: Tool | undefined, span: Span): Promise<'done' | 'waiting'> {
    const step = { stepNo, id: call.id, name: call.name };
    const refuse = (content: string, status: StepStatus, outcome: string) => {
      calls.inc({ tool: tool?.slug ?? 'unknown', outcome });
      failSpan(span, outcome);
      return this.inOwnedTransaction(turn, (tx) => this.record(tx, turn, step, content, status)).then(() => 'done' as const);
    };
    if (!tool) return refuse(`There is no tool ${call.name.slice(0, 100)}, or you may not use it.`, 'failed', 'refused');
    const parsed = parseArguments(tool, call.arguments);
    if (!parsed.ok) return refuse(parsed.message, 'failed', 'invalid');
    try {
      return await this.inOwnedTransaction(turn, async (tx, { pending_turns: pending }) => this.apply(tx, turn, step, await this.call(tx, turn, tool, parsed.value, step), pending > 0));
    } catch (error) {
      // Only what the tool itself threw has surely undone its transaction; after anything else the journal says what is.
      if (!(error instanceof ToolFailed) || turn.lease.signal.aborted) throw error;
      // The model is told, and the turn goes on.
      this.logger.warn({ msg: 'Tool failed', tool: tool.slug, turn_id: turn.claim.id, error: (error as Error).message });
      return refuse(`${tool.name} failed on our side and had no effect.`, 'failed', 'error');
    }
  }

  private async call(tx: Tx, turn: RunningTurn, tool: Tool, args: unknown, step: { stepNo: number; id: string }): Promise<ToolOutcome> {
    const { claim, config } = turn;
    try {
      return await tool.run(tx, args as never, {
        orgId: claim.org_id,
        agentId: claim.agent_id,
        chatId: claim.chat_id,
        turnId: claim.id,
        stepNo: step.stepNo,
        toolCallId: step.id,
        mountedSkills: config.mounted_skills,
        idempotencyKey: `${claim.id}/${step.stepNo}`,
        signal: turn.lease.signal,
      });
    } catch (error) {
      // A deadlock undoes the transaction and has it run again.
      const code = (error as { code?: string }).code;
      if (error instanceof LeaseEnded || isConnectionLoss(error) || code === '40001' || code === '40P01') throw error;
      throw new ToolFailed((error as Error).message, { cause: error });
    }
  }

  private async apply(tx: Tx, turn: RunningTurn, step: { stepNo: number; id: string; name: string }, outcome: ToolOutcome, messagesWait: boolean): Promise<'done' | 'waiting'> {
    if (outcome.kind === 'result') {
      calls.inc({ tool: step.name, outcome: outcome.isError ? 'refused' : 'done' });
      await this.record(tx, turn, step, outcome.content, outcome.isError ? 'failed' : 'done');
      return 'done';
    }
    // A message ends a wait, and one has come already: it would stand behind this turn until the wait is over.
    if (messagesWait) {
      await this.record(tx, turn, step, JSON.stringify({ status: 'interrupted_by_message' }), 'failed');
      return 'done';
    }
    const at = new Date();
    const wait: TurnWait = { kind: 'timer', step_no: step.stepNo, tool_call_id: step.id, tool_name: step.name, resume_at: outcome.resumeAt.toISOString() };
    await this.turns.beginWait(tx, turn.claim, wait, at);
    await this.announce(tx, turn, [
      { type: 'status_changed', data: { from: 'RUNNING', to: 'ACTIVE', stop_reason: null, pause: { kind: 'timer', since: at.toISOString(), resume_at: wait.resume_at } } },
    ], at);
    // A slot is free now.
    const freed = await this.turns.dispatchParked(tx, turn.claim.org_id);
    tx.afterCommit(() => this.endings.publishTurns(freed));
    return 'waiting';
  }

  private async record(tx: Tx, turn: RunningTurn, step: { stepNo: number; id: string; name: string }, raw: string, status: StepStatus): Promise<void> {
    const content = capResult(raw.toWellFormed().replaceAll('\0', ''));
    const at = new Date();
    const messageId = uuidv7();
    await this.turns.commitToolStep(tx, { turnId: turn.claim.id, stepNo: step.stepNo, messageId, content, toolCallId: step.id, toolName: step.name, status, at });
    const events: NewEvent[] = [{ type: 'tool_result', data: { message_id: messageId, tool_call_id: step.id, name: step.name, status, content, turn_id: turn.claim.id } }];
    if (step.name === 'todo_write' && status === 'done') events.push({ type: 'todo_updated', data: JSON.parse(content) as Record<string, unknown> });
    if (step.name === 'memory_write' && status === 'done') events.push({ type: 'memory_written', data: JSON.parse(content) as Record<string, unknown> });
    await this.announce(tx, turn, events, at);
    tx.afterCommit(() => {
      turn.stepsDone += 1;
      turn.rows.push({ role: 'tool', content, tool_calls: null, tool_call_id: step.id, tool_name: step.name, provider_state: null, turn_id: turn.claim.id });
    });
  }

  private async announce(tx: Tx, turn: RunningTurn, events: NewEvent[], at: Date): Promise<void> {
    const before = await this.turns.appendEvents(tx, turn.claim.chat_id, events, at);
    tx.afterCommit(() => turn.signals.events(numbered(events, before, at)));
  }

  private inOwnedTransaction<T>(turn: RunningTurn, fn: (tx: Tx, owned: { pending_turns: number }) => Promise<T>): Promise<T> {
    return this.db.transaction(async (tx) => {
      const owned = await this.turns.lockOwned(tx, turn.claim.id, turn.claim.fence);
      if (!owned) throw new LeaseEnded('lost');
      return fn(tx, owned);
    });
  }
}
