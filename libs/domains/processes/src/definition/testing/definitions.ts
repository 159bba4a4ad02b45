import { readDefinition } from '../definition.reader';
import type { Definition } from '../definition.types';

/** A definition, of which a spec knows that it is one. */
export function read(definition: unknown): Definition {
  const found = readDefinition(definition);
  if ('problems' in found) throw new Error(`It is no definition: ${JSON.stringify(found.problems)}`);
  return found.definition;
}

export const say = (id: string, prompt = 'x') => ({ id, kind: 'llm', prompt });
export const loop = (id: string, ...steps: unknown[]) => ({ id, kind: 'loop', over: [1], steps });
export const branch = (id: string, ...ways: unknown[][]) => ({
  id,
  kind: 'branch',
  branches: ways.slice(0, -1).map((steps) => ({ when: 'true', steps })),
  else: ways.at(-1) ?? [],
});
export const parallel = (id: string, ...ways: unknown[][]) => ({
  id,
  kind: 'parallel',
  branches: ways.map((steps, i) => ({ id: `${id}_${i}`, steps })),
});
export const flag = (id: string) => ({ id, kind: 'flag', reason: 'x' });

/** Every kind of step, and every field. */
export const EVERYTHING = {
  schema_version: 1,
  input_schema: { type: 'object', properties: { text: { type: 'string' }, customer: { type: 'string' } } },
  output: '${steps.answer.output}',
  defaults: { timeout_s: 600, retry: { max_attempts: 3, initial_s: 2, factor: 2, max_s: 60 } },
  concurrency: { key: '${input.customer}-${envelope.source.kind}', limit: 1, strategy: 'queue' },
  limits: { max_credits: '12.5', max_duration_s: 86_400 },
  steps: [
    { id: 'extract', kind: 'prompt', template: 'invoice', input: { text: '${input.text}' }, model_mode: 'normal', timeout_s: 60 },
    { id: 'draft', kind: 'llm', system: 'Be brief', model_mode: 'normal', prompt: 'Of ${steps.extract.output}', output_schema: {} },
    {
      id: 'find',
      kind: 'tool',
      tool: 'crm.find_customer',
      arguments: { email: '${steps.extract.output.email}' },
      repair: { max_attempts: 2 },
      on_ambiguous: 'ask',
      retry: { max_attempts: 1 },
    },
    {
      id: 'route',
      kind: 'branch',
      branches: [{ when: 'steps.find.output.vip == true', steps: [{ id: 'note', kind: 'transform', set: { vip: true } }] }],
      else: [say('plain')],
    },
    {
      id: 'each',
      kind: 'loop',
      over: '${steps.extract.output.lines}',
      as: 'line',
      concurrency: 5,
      max_iterations: 500,
      steps: [say('check_line', '${vars.line.text} at ${vars.line_index}')],
    },
    {
      id: 'until',
      kind: 'loop',
      while: 'default(steps.check.output.ok, false) != true',
      max_iterations: 10,
      steps: [{ ...say('check', '${vars.item_index}'), output_schema: { type: 'object' } }],
    },
    {
      id: 'both',
      kind: 'parallel',
      join: 'settled',
      branches: [
        { id: 'left', steps: [say('l')] },
        { id: 'right', steps: [] },
      ],
    },
    {
      id: 'ok',
      kind: 'human',
      prompt: 'Is ${steps.both.output.left} right?',
      form: { type: 'object', properties: { yes: { type: 'boolean' } } },
      assignees: ['role:ADMIN', 'ada@example.com', 'user:0190f3a8-7a3c-7c4e-9f3b-2f6c1d0e5a4b'],
      timeout_s: 604_800,
      on_timeout: 'flag',
    },
    { id: 'later', kind: 'wait', for_s: 3_600 },
    { id: 'signal', kind: 'wait', event: 'paid', timeout_s: 86_400, on_timeout: 'continue' },
    { id: 'map', kind: 'transform', set: { total: '${sum(steps.each.output)}', none: null } },
    {
      id: 'research',
      kind: 'agent',
      agent: 'researcher',
      task: 'About ${vars.total} and ${default(vars.vip, false)}',
      output_schema: {},
      distill: true,
      max_steps: 30,
      timeout_s: 3_600,
    },
    { id: 'sub', kind: 'process', process: 'billing', input: { run: '${run.id}' }, timeout_s: 60 },
    { id: 'answer', kind: 'llm', model: 'small', prompt: '${steps["research"].output}' },
    { id: 'stop', kind: 'flag', reason: 'Look at ${steps.answer.output}' },
  ],
  on_error: [
    { match: 'timeout', steps: [say('sorry', '${error.message} of ${error.step_id}, ${has(steps.find)}')], then: 'continue' },
    { match: '*', steps: [], then: 'fail' },
  ],
};
