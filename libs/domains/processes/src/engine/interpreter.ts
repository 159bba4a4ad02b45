import type { StepError } from '@aps/entities';
import {
  compileExpression,
  ExpressionError,
  render,
  seenAfter,
  type BranchStep,
  type Definition,
  type LoopStep,
  type ParallelStep,
  type Scope,
  type Step,
  type ToolStep,
} from '../definition';
import { Frame } from './frame';
import { isOver, stepError, type CallOutcome, type JournalRow, type RunOutcome } from './journal';
import { Leaves } from './leaves';
import { loopOf, type LoopProgress } from './loops';
import { BLOCKED, done, failed, Halt, JournalPage, pathOf, type CallsAtWork, type Progress, type Result } from './progress';
import { evaluated, holds } from './values';

/** What a run is, for its expressions. */
export interface RunFacts {
  envelope: Record<string, unknown>;
  run: Record<string, unknown>;
  started_at: Date;
}

/**
 * Decides how a run goes on: from its definition and its journal alone, so that whoever asks the same, gets the same. It makes no call,
 * knows no clock but the time that it is told, and what it computes is in the journal before anything follows from it.
 */
export class Interpreter {
  private readonly page: JournalPage;
  private readonly leaves: Leaves;
  private readonly loops = new Map<string, LoopProgress>();

  /**
   * @param journal every row of the run, in the order of their numbers
   * @param isOnce whether a call of a tool may never be made twice
   */
  constructor(
    private readonly definition: Definition,
    private readonly facts: RunFacts,
    journal: JournalRow[],
    isOnce: (step: ToolStep, args: Record<string, unknown>) => boolean = () => false,
  ) {
    this.page = new JournalPage(journal);
    this.leaves = new Leaves(this.page, isOnce);
  }

  /** Bytes of memory that its journal takes, about. */
  get held(): number {
    return this.page.held;
  }

  /** Whether a step waits for a human. */
  get asksHuman(): boolean {
    return this.page.asksHuman;
  }

  /** Rows that wait for something that has not come. */
  get waiting(): JournalRow[] {
    return this.page.waiting;
  }

  /** Goes on as far as it goes without waiting, and no farther than is done at once: see {@link Progress.goesOn}. */
  advance(
    at: Date,
    {
      inFlight = new Set(),
      outcomes = new Map(),
      begins = Infinity,
      bytes = Infinity,
      asks = true,
      putOff = new Map(),
    }: Partial<CallsAtWork> = {},
  ): Progress {
    this.page.open(at, { inFlight, outcomes, begins, bytes, asks, putOff });
    const end = this.untilHalt(() => {
      for (const [path, outcome] of outcomes) this.settle(path, outcome);
      return this.outOfTime() ?? endOf(this.run());
    });
    if (end) this.page.giveUp('');
    return this.page.close(end);
  }

  private untilHalt(goOn: () => RunOutcome | null): RunOutcome | null {
    try {
      return goOn();
    } catch (error) {
      if (error instanceof Halt) return error.end;
      throw error;
    }
  }

  /** @throws Halt */
  private settle(path: string, outcome: CallOutcome): void {
    const row = this.page.row(path);
    // Its loop, or its run, has given it up meanwhile.
    if (row?.status !== 'running') return;
    switch (outcome.status) {
      case 'completed':
        this.page.requireRoomFor(outcome.output);
        return void this.page.complete(row, outcome.output);
      case 'failed':
        return void this.page.fail(row, outcome.error, outcome.note);
      case 'outcome_unknown':
        return this.page.unknown(row, outcome.error);
    }
  }

  private outOfTime(): RunOutcome | null {
    const { max_duration_s: max } = this.definition.limits;
    if (max === null || this.page.isBefore(new Date(this.facts.started_at.getTime() + max * 1_000))) return null;
    return { status: 'failed', error: stepError('timeout', `The run took longer than ${max} s.`) };
  }

  /** The top level: what fails there for good is for the handlers of errors. */
  private run(): Result {
    const frame = new Frame();
    for (const step of this.definition.steps) {
      let result = this.step(step, null, frame);
      if (result.is === 'failed') result = this.handle(step, result.error, frame);
      if (result.is !== 'done') return result;
      frame.see(step, this.page.row(step.id), result.output);
    }
    const { output } = this.definition;
    return evaluated(() => (output === null ? null : render(output, this.scope(frame))));
  }

  private handle(step: Step, error: StepError, frame: Frame): Result {
    const index = this.definition.on_error.findIndex(({ match }) => match === '*' || match === error.code);
    if (index < 0) return failed(error);
    const { steps, then } = this.definition.on_error[index];
    const within = frame.copy({ code: error.code, message: error.message, step_id: step.id });
    const result = this.sequence(steps, `${step.id}/on_error/${index}`, within);
    if (result.is !== 'done' || then === 'continue') return result.is === 'done' ? done(null) : result;
    return then === 'flag' ? { is: 'flagged', reason: error.message } : failed(error);
  }

  /** Steps one after another. @returns with the output of the last */
  private sequence(steps: Step[], parent: string, frame: Frame): Result {
    let last: unknown = null;
    for (const step of steps) {
      const result = this.step(step, parent, frame);
      if (result.is !== 'done') return result;
      frame.see(step, this.page.row(pathOf(parent, step.id)), result.output);
      last = result.output;
    }
    return done(last);
  }

  private step(step: Step, parent: string | null, frame: Frame): Result {
    const row = this.page.row(pathOf(parent, step.id));
    const scope = () => this.scope(frame);
    switch (step.kind) {
      case 'transform':
        return row ? this.page.past(row) : this.leaves.transform(step, parent, scope());
      case 'flag':
        return this.leaves.flag(step, parent, row, scope());
      case 'wait':
        return this.leaves.wait(step, parent, row, scope);
      case 'human':
      case 'agent':
      case 'process':
        return this.leaves.ask(step, parent, row, scope);
      case 'prompt':
      case 'llm':
      case 'tool':
        return this.leaves.call(step, parent, row, scope);
      case 'branch':
        return this.branch(step, row ?? this.beginBranch(step, parent, frame), frame);
      case 'loop':
        return this.loop(step, row ?? this.beginLoop(step, parent, frame), frame);
      case 'parallel':
        return this.parallel(step, row ?? this.page.enter(step, parent), frame);
    }
  }

  private beginBranch(step: BranchStep, parent: string | null, frame: Frame): JournalRow {
    const row = this.page.enter(step, parent);
    const found = evaluated(() => step.branches.findIndex(({ when }) => holds(when, this.scope(frame), 'when')));
    if (found.is === 'failed') this.page.fail(row, found.error);
    else this.page.change(row, { input: { taken: found.output < 0 ? 'else' : found.output } });
    return row;
  }

  /** Its steps are seen behind it, too: so they are gone through also where it is over. */
  private branch(step: BranchStep, row: JournalRow, frame: Frame): Result {
    // None was taken where a condition has failed.
    if (row.status === 'failed' && row.input === null) return failed(row.error!);
    const { taken } = row.input as { taken: number | 'else' };
    const steps = taken === 'else' ? step.else : step.branches[taken].steps;
    const result = this.sequence(steps, `${row.path}/${taken}`, frame);
    return isOver(row) ? this.page.past(row) : this.conclude(row, result);
  }

  private parallel(step: ParallelStep, row: JournalRow, frame: Frame): Result {
    if (isOver(row)) return this.page.past(row);
    const results: Result[] = [];
    for (const { id, steps } of step.branches) {
      const result = this.sequence(steps, `${row.path}/${id}`, frame.copy());
      // At once: another branch may come to a halt, and then nothing is left of a wait that was skipped but that it is over.
      if (result.is === 'flagged') return result;
      results.push(result);
    }
    const fault = results.find((result) => result.is === 'failed');
    const isOpen = results.some((result) => result.is === 'blocked');
    const isWon = step.join === 'any' && results.some((result) => result.is === 'done');
    if (fault && step.join === 'all') return this.conclude(row, fault);
    if (isOpen && !isWon) return BLOCKED;
    if (fault && step.join === 'any' && !isWon) return this.conclude(row, fault);
    const outputs = results.map((result, i) => [step.branches[i].id, result.is === 'done' ? result.output : null]);
    return this.conclude(row, done(Object.fromEntries(outputs)));
  }

  private beginLoop(step: LoopStep, parent: string | null, frame: Frame): JournalRow {
    const row = this.page.enter(step, parent);
    if (step.over === null) return row;
    const items = evaluated(() => {
      const list = render(step.over, this.scope(frame));
      if (!Array.isArray(list)) throw new ExpressionError('over: There is no list to go over.');
      return list as unknown[];
    });
    if (items.is === 'failed') this.page.fail(row, items.error);
    else if (items.output.length > step.max_iterations)
      this.page.fail(row, stepError('max_iterations', `The list has more than ${step.max_iterations} items.`));
    else this.page.change(row, { input: { items: items.output } });
    return row;
  }

  private loop(step: LoopStep, row: JournalRow, frame: Frame): Result {
    if (isOver(row)) return this.page.past(row);
    const loop = this.loops.get(row.path) ?? loopOf(step, row, frame);
    this.loops.set(row.path, loop);
    const iterate = (i: number, within: Frame) => this.sequence(step.steps, `${row.path}/${i}`, within);
    if (step.over !== null) return this.conclude(row, this.listLoop(step, loop, iterate));
    const hasBegun = (i: number) => step.steps.length > 0 && this.page.row(`${row.path}/${i}/${step.steps[0].id}`) !== undefined;
    return this.conclude(row, this.whileLoop(step, loop, iterate, hasBegun));
  }

  /** At most `concurrency` of its items are at work; the first that fails ends it. */
  private listLoop(step: LoopStep, loop: LoopProgress, iterate: (i: number, within: Frame) => Result): Result {
    for (let hasBegun = true; hasBegun;) {
      hasBegun = false;
      for (const [i, within] of [...loop.open]) {
        const result = iterate(i, within.copy());
        if (result.is === 'failed' || result.is === 'flagged') return result;
        if (result.is === 'blocked') continue;
        loop.outputs[i] = result.output;
        loop.open.delete(i);
      }
      while (loop.open.size < step.concurrency && loop.next < loop.items!.length) {
        const i = loop.next++;
        loop.open.set(i, loop.frame.copy().set(step.as, loop.items![i]).set(`${step.as}_index`, i));
        hasBegun = true;
      }
    }
    return loop.open.size ? BLOCKED : done(loop.outputs);
  }

  /**
   * An iteration sees what the one before has left. Before the first one nothing is asked where the condition names steps of the loop
   * itself, which have not been there yet.
   */
  private whileLoop(
    step: LoopStep,
    loop: LoopProgress,
    iterate: (i: number, within: Frame) => Result,
    hasBegun: (i: number) => boolean,
  ): Result {
    for (;;) {
      const i = loop.next;
      const within = loop.frame.copy().set(`${step.as}_index`, i);
      if (!loop.mayIterate) {
        // It may hold no steps, and then there are no rows that would be too many.
        this.page.requireRoom();
        // What was decided once is not asked again: an iteration that has rows was to be.
        const isDecided = hasBegun(i) || (i === 0 && namesOwn(step));
        const goesOn = evaluated(() => isDecided || holds(step.while!, this.scope(within), 'while'));
        if (goesOn.is === 'failed') return goesOn;
        if (!goesOn.output) return done(loop.outputs);
        if (i >= step.max_iterations)
          return failed(stepError('max_iterations', `After ${step.max_iterations} iterations it would still go on.`));
        loop.mayIterate = true;
      }
      const result = iterate(i, within);
      if (result.is !== 'done') return result;
      loop.outputs.push(result.output);
      loop.frame = within;
      loop.next += 1;
      loop.mayIterate = false;
    }
  }

  /** Ends a step that holds others by what came of them; those that are still at work are given up. */
  private conclude(row: JournalRow, result: Result): Result {
    if (result.is === 'blocked' || result.is === 'flagged') return result;
    if (result.is === 'done') this.page.requireRoomFor(result.output);
    this.loops.delete(row.path);
    this.page.giveUp(`${row.path}/`);
    return result.is === 'done' ? this.page.complete(row, result.output) : this.page.fail(row, result.error);
  }

  private scope(frame: Frame): Scope {
    const { envelope, run } = this.facts;
    return { input: envelope.input, envelope, run, ...frame.seen };
  }
}

function endOf(result: Result): RunOutcome | null {
  switch (result.is) {
    case 'blocked':
      return null;
    case 'flagged':
      return { status: 'flagged', reason: result.reason };
    case 'failed':
      return { status: 'failed', error: result.error };
    case 'done':
      return { status: 'completed', output: result.output };
  }
}

function namesOwn(step: LoopStep): boolean {
  const own = new Set(step.steps.flatMap(seenAfter));
  const compiled = compileExpression(step.while!);
  return !('problem' in compiled) && compiled.references.some(([root, name]) => root === 'steps' && own.has(name));
}
