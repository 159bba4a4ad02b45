import type { Definition, DefinitionWarning, Step, ToolStep } from './definition.types';
import { innerOf, stepsOf } from './steps';

/** What only others know. */
export interface WarningOptions {
  /** Whether the tool of a step writes, and a call that is made twice writes twice. */
  writesTwice?: (step: ToolStep) => boolean;
}

/** What of a definition is worth a look: steps that nothing reaches, humans who are asked for ever, writing tools that keep no key. */
export function warningsOf(definition: Definition, { writesTwice = () => false }: WarningOptions = {}): DefinitionWarning[] {
  const lists = [definition.steps, ...definition.on_error.map(({ steps }) => steps)];
  const steps = stepsOf(definition).map(({ step }) => step);
  return [
    ...[...lists, ...steps.flatMap((step) => innerOf(step).map((inner) => inner.steps))].flatMap(unreachedIn),
    ...steps.flatMap((step) => {
      if (step.kind === 'human' && step.timeout_s === null)
        return [
          {
            step_id: step.id,
            field: 'timeout_s',
            problem: 'Nobody may ever answer; without a timeout the run waits as long as any question',
          },
        ];
      if (step.kind === 'tool' && writesTwice(step))
        return [
          {
            step_id: step.id,
            field: 'tool',
            problem: 'The tool writes and keeps no idempotency key: a call whose outcome is unknown cannot be repeated safely',
          },
        ];
      return [];
    }),
  ];
}

/** The first of a list that nothing reaches; what follows is not reached for the same reason. */
function unreachedIn(steps: readonly Step[]): DefinitionWarning[] {
  const last = steps.findIndex(flags);
  return last >= 0 && last + 1 < steps.length
    ? [{ step_id: steps[last + 1].id, field: '', problem: `Never reached: the run ends with '${steps[last].id}'` }]
    : [];
}

/** Whether a run that reaches the step ends there, whichever way it takes. */
const flags = (step: Step): boolean =>
  step.kind === 'flag' || (step.kind === 'branch' && innerOf(step).every(({ steps }) => steps.some(flags)));
