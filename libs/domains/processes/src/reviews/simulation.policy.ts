import { isDeepStrictEqual } from 'node:util';
import type { ProcessRunState, Resolution, StepError, StepStatus } from '@aps/entities';
import type { Schema } from '@aps/platform/json-schema';
import { stepsOf, stubOf, type Definition, type Step } from '../definition';
import { Interpreter, type RunFacts } from '../engine/interpreter';
import { stepError, type CallOutcome, type JournalRow, type RunOutcome } from '../engine/journal';
import { Look, type Bounds } from './bounds';
import { asStored } from './replay.policy';

export interface SimulatedStep {
  path: string;
  kind: string;
  status: StepStatus;
  source: 'computed' | 'recorded' | 'stubbed';
  input: unknown;
  output: unknown;
}

/** What a run of a revision would be. */
export interface ProcessSimulation {
  status: ProcessRunState;
  output: unknown;
  error: StepError | null;
  steps: SimulatedStep[];
  diverged_at: string | null;
}

/** What steps that are over may be, but for those that were cut off. */
const ENDED = new Set<StepStatus>(['completed', 'failed', 'skipped']);

/** Said of a simulation, and not of the run. */
const CUT = stepError('timeout', 'The simulation takes too long to compute, and has ended here; the run would go on.');

/** Kinds that the interpreter computes by itself. */
const COMPUTED = new Set(['transform', 'flag', 'branch', 'loop', 'parallel', 'wait']);

/**
 * Goes through a definition without any effect: what can be computed is; of what a step asks others for, a run that is at hand knows the answer,
 * where it was asked the same at the same place, and all else is made up by its schema. Nobody is waited for. Where its bounds end it, the run
 * would go on.
 *
 * @param recorded the journal of that run; none without one
 * @param templates what prompt templates answer, by the names that steps have for them; null: text
 */
export async function simulated(
  definition: Definition,
  facts: RunFacts,
  recorded: JournalRow[],
  templates: ReadonlyMap<string, Schema | null>,
  bounds: Bounds = {},
): Promise<ProcessSimulation> {
  const steps = new Map(stepsOf(definition).map(({ step }) => [step.id, step]));
  const known = new Map(recorded.map((row) => [row.path, row]));
  const rows = new Map<string, JournalRow>();
  const sources = new Map<string, SimulatedStep['source']>();
  const interpreter = new Interpreter(definition, facts, []);
  let at = facts.started_at;
  let outcomes = new Map<string, CallOutcome>();
  let end: RunOutcome | null = null;
  const look = new Look(bounds);
  let isCut = false;
  const answerOf = (row: JournalRow): Answer => {
    const before = known.get(row.path);
    if (before && ENDED.has(before.status) && isDeepStrictEqual(before.input, row.input)) {
      sources.set(row.id, 'recorded');
      const failed = before.status === 'failed' && before.error;
      return failed ? { error: { ...failed, retryable: false }, before } : { output: before.output, before };
    }
    sources.set(row.id, 'stubbed');
    return { output: stubFor(steps.get(row.step_id)!, templates) };
  };
  // A run has so many rows, and then it ends; where none is written any more, nothing will come.
  for (let goesOn = true; goesOn && !end && !isCut; isCut = !(await look.pause()) && goesOn) {
    const progress = interpreter.advance(at, { outcomes });
    for (const row of progress.written) rows.set(row.id, row);
    end = progress.end;
    outcomes = new Map(
      progress.calls.map(({ row }) => {
        const answer = answerOf(row);
        return [row.path, 'error' in answer ? { status: 'failed', error: answer.error } : { status: 'completed', output: answer.output }];
      }),
    );
    for (const row of interpreter.waiting) row.resolution = resolutionOf(row, known.get(row.path), answerOf);
    goesOn = progress.goesOn || progress.written.length > 0 || progress.wakeAt !== null;
    if (!outcomes.size && !progress.goesOn && progress.wakeAt) at = progress.wakeAt;
  }
  const all = [...rows.values()].sort((a, b) => a.seq - b.seq);
  return {
    status: stateOf(end),
    output: end?.status === 'completed' ? end.output : null,
    error: end?.status === 'failed' ? end.error : end || !isCut ? null : CUT,
    steps: all.map((row) => ({
      path: row.path,
      kind: row.kind,
      status: row.status,
      source: COMPUTED.has(row.kind) ? 'computed' : (sources.get(row.id) ?? 'computed'),
      input: row.input,
      output: row.output,
    })),
    diverged_at: recorded.length ? (all.find((row) => !isSame(row, known.get(row.path)))?.path ?? null) : null,
  };
}

/** `before`: the row that it was recorded in. */
type Answer = ({ output: unknown } | { error: StepError }) & { before?: JournalRow };

/** What a row that waits is told; null where its time alone will come. */
function resolutionOf(row: JournalRow, before: JournalRow | undefined, answer: (row: JournalRow) => Answer): Resolution | null {
  if (row.kind === 'wait') {
    if (row.event === null) return null;
    return before?.resolution?.kind === 'signal' ? before.resolution : { kind: 'signal', payload: null };
  }
  const found = answer(row);
  const [output, error] = 'error' in found ? [null, found.error] : [found.output, null];
  switch (row.kind) {
    case 'human':
      if (found.before?.resolution) return found.before.resolution;
      // Of what a restart has copied, the output alone says what was answered.
      if (found.before && found.before.status !== 'completed') return { kind: 'unanswered' };
      return {
        kind: 'answer',
        answer: output as Record<string, unknown>,
        answered_by: (output as { answered_by?: string | null }).answered_by ?? null,
      };
    case 'agent':
      return { kind: 'chat', text: typeof output === 'string' ? output : JSON.stringify(output), error };
    default:
      return { kind: 'run', output, error };
  }
}

/** The smallest answer that fits what a step asks for. */
function stubFor(step: Step, templates: ReadonlyMap<string, Schema | null>): unknown {
  switch (step.kind) {
    case 'prompt': {
      const schema = templates.get(step.template);
      return schema ? stubOf(schema) : schema === null ? '' : null;
    }
    case 'llm':
    case 'agent':
      return step.output_schema ? stubOf(step.output_schema) : '';
    case 'human':
      return step.form ? { values: stubOf(step.form) } : { decision: 'approve' };
    case 'tool':
      return step.tool === 'core.http_request' ? { status: 200, headers: {}, json: null } : null;
    default:
      return null;
  }
}

const isSame = (row: JournalRow, before: JournalRow | undefined): boolean =>
  before !== undefined && isDeepStrictEqual(asStored(before.input), asStored(row.input));

function stateOf(end: RunOutcome | null): ProcessRunState {
  return end?.status ?? 'running';
}
