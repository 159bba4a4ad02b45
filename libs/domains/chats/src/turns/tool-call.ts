import { Injectable } from '@nestjs/common';
import { Database, isConnectionLoss, type Tx } from '@aps/platform/database';
import { LeaseEnded, onFailure, onFound } from '@aps/platform/runs';
import {
  CALL_LIMITS,
  Deadline,
  effectOf,
  NotSent,
  TookTooLong,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  type ToolResult,
} from '@aps/tools';
import { ChatState } from '../state/chat-state.repository';
import type { RunningTurn } from './running-turn';
import { OUTCOME_UNKNOWN } from './transcript';
import { TurnRepository, type CallStatus } from './turn.repository';

/** A call and the number of its step. */
export interface Step {
  stepNo: number;
  id: string;
  name: string;
}

/** What ended a call instead of an answer, as opposed to what went wrong around it. */
export class ToolFailed extends Error {
  /** Its outcome is not known. */
  readonly isUnknown: boolean;
  readonly status: CallStatus;

  /** @param sent whether it may have reached another side */
  constructor(
    readonly tool: Tool,
    cause: unknown,
    private readonly sent = tool.callOut !== undefined,
  ) {
    super((cause as Error)?.message ?? String(cause), { cause });
    this.isUnknown = onFailure(effectOf(tool), sent) === 'unknown';
    this.status = this.isUnknown ? 'outcome_unknown' : 'failed';
  }

  /** For the model. @param subject how it knows the call */
  tell(subject: string): string {
    if (this.isUnknown) return OUTCOME_UNKNOWN;
    if (this.cause instanceof NotSent) return `${subject} was not made and had no effect: ${this.message}`;
    if (this.cause instanceof TookTooLong) return `${subject} was cut off: ${this.message}. It may be made again.`;
    return `${subject} failed on our side${this.sent ? ', and may have had an effect' : ' and had no effect'}.`;
  }
}

/** Makes calls. What they have come to is written down by who has them made. */
@Injectable()
export class ToolCalls {
  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly chats: ChatState,
  ) {}

  /**
   * Makes a call whose effects are in our database.
   *
   * @param tx that records the result
   * @throws ToolFailed what the tool has thrown, and so has surely undone
   */
  async run(turn: RunningTurn, tool: Tool, args: unknown, step: Step, tx: Tx): Promise<ToolOutcome> {
    try {
      return await tool.run!(
        tx,
        args as never,
        this.contextOf(turn, step, turn.lease.signal, () => undefined),
      );
    } catch (error) {
      // A deadlock undoes the transaction and has it run again.
      const code = (error as { code?: string }).code;
      if (error instanceof LeaseEnded || isConnectionLoss(error) || code === '40001' || code === '40P01') throw error;
      throw new ToolFailed(tool, error);
    }
  }

  /**
   * Makes a call that goes out and of which the journal says no more than that it is meant. One that may not be repeated is noted there as
   * sent before, so whoever finds that and no result, be it the next owner or who ends the turn, knows not to make it again.
   *
   * @throws ToolFailed what came instead of an answer
   * @throws LeaseEnded when it was cut, or nobody may make it from here any more
   */
  async send(turn: RunningTurn, tool: Tool, args: unknown, step: Step): Promise<ToolResult> {
    const { claim, lease } = turn;
    lease.signal.throwIfAborted();
    if (onFound(effectOf(tool), 'intent') === 'send') {
      if (!(await this.turns.sendCall(this.db, claim, step.stepNo))) throw new LeaseEnded('lost');
    }
    lease.requireHeld();
    const deadline = new Deadline(tool.limits ?? CALL_LIMITS, lease.signal);
    const { signal } = deadline;
    try {
      const cut = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));
      // A tool that does not listen to the signal is not waited for.
      const called = (async () => tool.callOut!(args as never, this.contextOf(turn, step, signal, deadline.extend)))();
      return await Promise.race([called, cut]);
    } catch (error) {
      lease.signal.throwIfAborted();
      throw failureOf(tool, signal.aborted ? signal.reason : error);
    } finally {
      deadline.clear();
    }
  }

  private contextOf(turn: RunningTurn, step: Step, signal: AbortSignal, progressed: () => void): ToolContext {
    const { claim } = turn;
    return {
      orgId: claim.org_id,
      agentId: claim.agent_id,
      chatId: claim.chat_id,
      origin: claim.origin,
      turnId: claim.id,
      stepNo: step.stepNo,
      toolCallId: step.id,
      tools: turn.tools,
      principalId: claim.principal_id,
      // The last part is a model's word, and the key travels in headers, too.
      idempotencyKey: `${claim.id}/${step.stepNo}/${encodeURIComponent(step.id)}`,
      signal,
      progressed,
      budget: turn.budget,
      charge: (within, cost) => this.chats.addCost(within, claim.chat_id, cost),
    };
  }
}

/** Where the database was away, a call that may be repeated is made again by the next delivery; of all others the model is told. */
function failureOf(tool: Tool, error: unknown): unknown {
  if (error instanceof NotSent) return new ToolFailed(tool, error, false);
  const isOurs = error instanceof LeaseEnded || isConnectionLoss(error);
  return isOurs && effectOf(tool) !== 'once' ? error : new ToolFailed(tool, error);
}
