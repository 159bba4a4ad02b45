import type { Definition, Step, Template } from './definition.types';

/** Steps within a step, with the place of the list below it and what stands in a run's paths for it; null where nothing does. */
export interface Inner {
  field: string;
  segment: string | null;
  steps: readonly Step[];
}

/** The lists of steps that a step holds. */
export function innerOf(step: Step): Inner[] {
  if (step.kind === 'loop') return [{ field: 'steps', segment: null, steps: step.steps }];
  if (step.kind === 'parallel') return step.branches.map(({ id, steps }, i) => ({ field: `branches.${i}.steps`, segment: id, steps }));
  if (step.kind !== 'branch') return [];
  const branches = step.branches.map(({ steps }, i) => ({ field: `branches.${i}.steps`, segment: String(i), steps }));
  return [...branches, { field: 'else', segment: 'else', steps: step.else }];
}

/** What of a step is seen after it: itself, and in the ways of a branch, of which one may have been taken, whatever is seen there. */
export const seenAfter = (step: Step): string[] => [
  step.id,
  ...(step.kind === 'branch' ? innerOf(step).flatMap(({ steps }) => steps.flatMap(seenAfter)) : []),
];

/** What of a step is evaluated when it runs: templates, and expressions by themselves. What its inner steps have is theirs. */
export function evaluatedOf(step: Step): {
  templates: { field: string; template: Template }[];
  conditions: { field: string; expression: string }[];
} {
  const of = (fields: Record<string, Template>) => Object.entries(fields).map(([field, template]) => ({ field, template }));
  const only = (fields: Record<string, Template>) => ({ templates: of(fields), conditions: [] });
  switch (step.kind) {
    case 'prompt':
    case 'process':
      return only({ input: step.input });
    case 'llm':
      return only({ prompt: step.prompt, system: step.system });
    case 'tool':
      return only({ arguments: step.arguments });
    case 'branch':
      return { templates: [], conditions: step.branches.map(({ when }, i) => ({ field: `branches.${i}.when`, expression: when })) };
    case 'loop':
      return { templates: of({ over: step.over }), conditions: step.while === null ? [] : [{ field: 'while', expression: step.while }] };
    case 'parallel':
      return only({});
    case 'human':
      return only({ prompt: step.prompt });
    case 'wait':
      return only({ for_s: step.for_s, until: step.until });
    case 'transform':
      return only({ set: step.set });
    case 'agent':
      return only({ task: step.task });
    case 'flag':
      return only({ reason: step.reason });
  }
}

/** A step and its place. */
export interface PlacedStep {
  step: Step;
  /** As in a run's paths, without the iterations of loops: `each/route/else/ok`. */
  path: string;
  /** Below the definition: `steps.2.steps.0.else.1`. */
  field: string;
  /** The steps that hold it, the outermost first. */
  within: readonly Step[];
  /** Of those that `on_error` holds, which of its handlers. */
  handler: number | null;
}

/** Every step, each before those that it holds; those of `on_error` last. */
export const stepsOf = ({ steps, on_error }: Pick<Definition, 'steps' | 'on_error'>): PlacedStep[] => [
  ...placed(steps, { path: '', field: 'steps', within: [], handler: null }),
  ...on_error.flatMap((handler, i) => placed(handler.steps, { path: '', field: `on_error.${i}.steps`, within: [], handler: i })),
];

const placed = (steps: readonly Step[], at: Omit<PlacedStep, 'step'>): PlacedStep[] =>
  steps.flatMap((step, i) => {
    const here: PlacedStep = { ...at, step, path: at.path + step.id, field: `${at.field}.${i}` };
    const inner = innerOf(step).flatMap(({ field, segment, steps: held }) =>
      placed(held, {
        ...here,
        path: `${here.path}/${segment === null ? '' : `${segment}/`}`,
        field: `${here.field}.${field}`,
        within: [...at.within, step],
      }),
    );
    return [here, ...inner];
  });

/** What a definition names outside of it; whether it is there is to be asked. */
export interface References {
  tools: { step_id: string; tool: string }[];
  agents: { step_id: string; agent: string }[];
  templates: { step_id: string; template: string }[];
  processes: { step_id: string; process: string }[];
  models: { step_id: string; model: string }[];
}

/** Everything that a definition names, by the steps that do. */
export function referencesIn(definition: Pick<Definition, 'steps' | 'on_error'>): References {
  const found: References = { tools: [], agents: [], templates: [], processes: [], models: [] };
  for (const { step } of stepsOf(definition)) {
    const step_id = step.id;
    if (step.kind === 'tool') found.tools.push({ step_id, tool: step.tool });
    else if (step.kind === 'agent') found.agents.push({ step_id, agent: step.agent });
    else if (step.kind === 'prompt') found.templates.push({ step_id, template: step.template });
    else if (step.kind === 'process') found.processes.push({ step_id, process: step.process });
    else if (step.kind === 'llm' && step.model !== null) found.models.push({ step_id, model: step.model });
  }
  return found;
}
