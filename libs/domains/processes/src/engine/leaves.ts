import { asText } from '@aps/platform/definitions';
import {
  render,
  type AgentStep,
  type FlagStep,
  type HumanStep,
  type LlmStep,
  type ProcessStep,
  type PromptStep,
  type Scope,
  type ToolStep,
  type TransformStep,
  type WaitStep,
} from '../definition';
import { isOver, isUnbegun, stepError, UNKNOWN, type JournalRow } from './journal';
import { parsed } from './output.policy';
import { BLOCKED, done, failed, type JournalPage, type Result } from './progress';
import { evaluated, recordOf, secondsOf, timeOf } from './values';
import { answerOf, retryAt } from './waits.policy';
import type { StepError } from '@aps/entities';

type Asking = HumanStep | AgentStep | ProcessStep;
type Calling = PromptStep | LlmStep | ToolStep;

/** How steps go on that hold no others. */
export class Leaves {
  /** @param isOnce whether a call of a tool may never be made twice */
  constructor(
    private readonly page: JournalPage,
    private readonly isOnce: (step: ToolStep, args: Record<string, unknown>) => boolean,
  ) {}

  // What is computed

  transform(step: TransformStep, parent: string | null, scope: Scope): Result {
    return this.compute(step, parent, () => render(step.set, scope));
  }

  flag(step: FlagStep, parent: string | null, row: JournalRow | undefined, scope: Scope): Result {
    const result = row ? this.page.past(row) : this.compute(step, parent, () => asText(render(step.reason, scope)));
    return result.is === 'done' ? { is: 'flagged', reason: String(result.output) } : result;
  }

  private compute(step: TransformStep | FlagStep, parent: string | null, value: () => unknown): Result {
    const row = this.page.enter(step, parent);
    const result = evaluated(value);
    return result.is === 'done' ? this.page.complete(row, result.output) : this.page.fail(row, result.error);
  }

  // What is waited for

  wait(step: WaitStep, parent: string | null, row: JournalRow | undefined, scope: () => Scope): Result {
    return this.waited(step, row ?? this.beginWait(step, parent, scope()));
  }

  private beginWait(step: WaitStep, parent: string | null, scope: Scope): JournalRow {
    const row = this.page.enter(step, parent, 'waiting');
    const result = evaluated(() => {
      if (step.event !== null) return step.timeout_s === null ? null : this.page.after(step.timeout_s);
      if (step.for_s !== null) return this.page.after(secondsOf(render(step.for_s, scope)));
      return timeOf(render(step.until, scope));
    });
    if (result.is === 'failed') this.page.fail(row, result.error);
    else {
      this.page.change(row, { waiting_until: result.output, event: step.event });
      this.page.tell('wait_started', row, { waiting_until: row.waiting_until, event: row.event });
    }
    return row;
  }

  private waited(step: WaitStep, row: JournalRow): Result {
    if (isOver(row)) return this.page.past(row);
    if (row.resolution?.kind === 'signal') {
      this.page.tell('wait_finished', row, { by: 'signal' });
      return this.page.complete(row, row.resolution.payload);
    }
    if (!this.page.isDue(row)) return BLOCKED;
    this.page.tell('wait_finished', row, { by: 'time' });
    if (step.event === null) return this.page.complete(row, null);
    return this.tooLate(row, step.on_timeout, stepError('event_timeout', `No signal ${step.event} has come in time.`));
  }

  ask(step: Asking, parent: string | null, row: JournalRow | undefined, scope: () => Scope): Result {
    if (!row) return this.page.asks ? this.asked(step, this.beginAsking(step, parent, scope())) : BLOCKED;
    const result = this.asked(step, row);
    if (result.is === 'blocked' && isUnbegun(row) && this.page.mayTryAgain(row)) this.page.ask(row, step);
    return result;
  }

  private beginAsking(step: Asking, parent: string | null, scope: Scope): JournalRow {
    const row = this.page.enter(step, parent, 'waiting');
    const result = evaluated(() => {
      switch (step.kind) {
        case 'human':
          return { prompt: asText(render(step.prompt, scope)) };
        case 'agent':
          return { agent: step.agent, task: asText(render(step.task, scope)) };
        case 'process':
          return { process: step.process, input: recordOf(render(step.input, scope), 'input') };
      }
    });
    if (result.is === 'failed') this.page.fail(row, result.error);
    else {
      this.page.change(row, { input: result.output, waiting_until: step.timeout_s === null ? null : this.page.after(step.timeout_s) });
      this.page.ask(row, step);
    }
    return row;
  }

  private asked(step: Asking, row: JournalRow): Result {
    if (isOver(row)) return this.page.past(row);
    const { resolution } = row;
    switch (resolution?.kind) {
      case 'answer':
        this.page.tellAnswer(row);
        return this.page.complete(row, answerOf(resolution));
      case 'chat':
        return resolution.error ? this.page.fail(row, resolution.error) : this.said(step as AgentStep, row, resolution.text);
      case 'run':
        return resolution.error ? this.page.fail(row, resolution.error) : this.page.complete(row, resolution.output);
    }
    if (resolution?.kind !== 'unanswered' && !this.page.isDue(row)) return BLOCKED;
    if (step.kind === 'human') return this.tooLate(row, step.on_timeout, stepError('human_timeout', 'Nobody has answered in time.'));
    return this.tooLate(row, 'fail', stepError('timeout', `It took longer than ${step.timeout_s} s.`));
  }

  /** An agent has said its last words. Where an object is wanted, those are it, or a model draws it out of them. */
  private said(step: AgentStep, row: JournalRow, text: string | null): Result {
    if (step.output_schema === null) return this.page.complete(row, text);
    if (step.distill) {
      if (row.status === 'waiting') this.page.change(row, { status: 'running', noted: 'intent' });
      if (!this.page.isInFlight(row) && this.page.begins(step)) this.page.call(row, step);
      return BLOCKED;
    }
    const read = parsed(step.output_schema, text ?? '');
    return 'problem' in read ? this.page.fail(row, stepError('output_schema', read.problem)) : this.page.complete(row, read.value);
  }

  private tooLate(row: JournalRow, then: 'fail' | 'flag' | 'continue', error: StepError): Result {
    this.page.drop(row);
    if (then === 'fail') return this.page.fail(row, error);
    this.page.skip(row);
    return then === 'flag' ? { is: 'flagged', reason: error.message } : done(null);
  }

  // What is called

  call(step: Calling, parent: string | null, row: JournalRow | undefined, scope: () => Scope): Result {
    switch (row?.status) {
      case undefined:
        return this.beginCall(step, parent, scope, 1);
      case 'failed': {
        const at = retryAt(step.retry, row!);
        if (!at) return failed(row!.error!);
        return this.page.isBefore(at) ? BLOCKED : this.beginCall(step, parent, scope, row!.attempt + 1);
      }
      case 'outcome_unknown':
        return this.afterUnknown(step as ToolStep, parent, row!, scope);
      case 'running':
        return this.callAgain(step, parent, row!, scope);
      default:
        return this.page.past(row!);
    }
  }

  private beginCall(step: Calling, parent: string | null, scope: () => Scope, attempt: number): Result {
    if (!this.page.begins(step)) return BLOCKED;
    const row = this.page.enter(step, parent, 'running', attempt);
    const result = evaluated(() => inputOf(step, scope()));
    if (result.is === 'failed') return this.page.fail(row, result.error);
    const isOnce = step.kind === 'tool' && this.isOnce(step, (result.output as { arguments: Record<string, unknown> }).arguments);
    // Written before the call, so nobody who finds it makes that call a second time.
    this.page.change(row, { input: result.output, noted: isOnce ? 'sent' : 'intent' });
    this.page.call(row, step);
    return BLOCKED;
  }

  /** Somebody has begun it, and may be gone. */
  private callAgain(step: Calling, parent: string | null, row: JournalRow, scope: () => Scope): Result {
    if (this.page.isInFlight(row)) return BLOCKED;
    if (row.noted === 'sent') {
      this.page.unknown(row, stepError('worker_lost', 'The worker that made the call was lost before it was answered.'));
      return this.afterUnknown(step as ToolStep, parent, row, scope);
    }
    if (this.page.begins(step)) this.page.call(row, step);
    return BLOCKED;
  }

  /** Whether it is made again is for the definition to say, or a human. */
  private afterUnknown(step: ToolStep, parent: string | null, row: JournalRow, scope: () => Scope): Result {
    const { resolution } = row;
    switch (chosen(step, row)) {
      case 'retry': {
        if (!resolution) {
          this.page.fail(row, { ...row.error!, retryable: true }, UNKNOWN);
          return this.call(step, parent, row, scope);
        }
        // A human who says so means this one time, however often it was tried.
        if (!this.page.begins(step)) return BLOCKED;
        const next = this.beginCall(step, parent, scope, row.attempt + 1);
        // Not before the next is there: a failed one by itself is not made again, and an answer is told once.
        this.page.tellAnswer(row);
        this.page.finish(row, 'failed');
        return next;
      }
      case 'done': {
        const { values } = (resolution as { answer: { values?: { output?: unknown } } }).answer;
        this.page.tellAnswer(row);
        return this.page.complete(row, values?.output);
      }
      case 'fail':
        this.page.tellAnswer(row);
        return this.page.fail(row, row.error!);
      case 'ask':
        if (row.hitl_request_id === null) this.page.ask(row, step);
        return BLOCKED;
    }
  }
}

function chosen(step: ToolStep, { resolution }: JournalRow): 'retry' | 'done' | 'fail' | 'ask' {
  if (!resolution) return step.on_ambiguous ?? 'ask';
  const option = resolution.kind === 'answer' ? resolution.answer.option_id : null;
  return option === 'retry' || option === 'done' ? option : 'fail';
}

function inputOf(step: Calling, scope: Scope): Record<string, unknown> {
  switch (step.kind) {
    case 'prompt':
      return { template: step.template, input: recordOf(render(step.input, scope), 'input') };
    case 'llm':
      return {
        prompt: asText(render(step.prompt, scope)),
        ...(step.system !== null && { system: asText(render(step.system, scope)) }),
      };
    case 'tool':
      return { tool: step.tool, arguments: recordOf(render(step.arguments, scope), 'arguments') };
  }
}
