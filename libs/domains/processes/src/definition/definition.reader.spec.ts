import { MAX_BYTES, readDefinition } from './definition.reader';
import type { Definition } from './definition.types';
import { MAX_SCHEMAS_BYTES } from './step.fields';
import { EVERYTHING, loop, read, say } from './testing/definitions';

function problemsOf(definition: unknown) {
  const found = readDefinition(definition);
  return 'problems' in found ? found.problems : [];
}
/** The one problem of steps. */
const told = (...steps: unknown[]) => problemsOf({ steps });
const where = (definition: unknown) => problemsOf(definition).map(({ step_id, field }) => `${step_id ?? '-'}:${field}`);
const whereOf = (...steps: unknown[]) => where({ steps });

const TRIES = { timeout_s: 600, retry: { max_attempts: 3, initial_s: 2, factor: 2, max_s: 60 } };

describe('reading a definition', () => {
  it('knows an assignee however their id is written', () => {
    const id = '0193488e-8a8c-7cc2-b7a5-5f0c8e1d2a3b';
    const asking = { id: 'h', kind: 'human', prompt: 'x', assignees: [`user:${id.toUpperCase()}`, 'role:ADMIN', 'Ada@Example.com'] };
    expect(read({ steps: [asking] }).steps[0]).toMatchObject({ assignees: [`user:${id}`, 'role:ADMIN', 'Ada@Example.com'] });
  });

  it('takes every kind of step, and writes every default out', () => {
    expect(read(EVERYTHING)).toMatchObject({
      steps: EVERYTHING.steps.map(({ id, kind }) => ({ id, kind })),
      limits: { max_credits: '12.5' },
    });
    expect([5, 0.25].map((max_credits) => read({ ...EVERYTHING, limits: { max_credits } }).limits.max_credits)).toEqual(['5', '0.25']);
    const plain = [
      { id: 'a', kind: 'prompt', template: 'invoice' },
      { id: 'b', kind: 'llm', prompt: 'x' },
      { id: 'c', kind: 'tool', tool: 'crm.find' },
      { id: 'd', kind: 'branch', branches: [{ when: 'true', steps: [] }] },
      { id: 'e', kind: 'loop', over: [1], steps: [] },
      { id: 'f', kind: 'parallel', branches: [{ id: 'g', steps: [] }] },
      { id: 'h', kind: 'human', prompt: 'x' },
      { id: 'i', kind: 'wait', event: 'paid' },
      { id: 'j', kind: 'agent', agent: 'a', task: 'x' },
      { id: 'k', kind: 'process', process: 'p' },
    ];
    expect(read({ steps: plain, on_error: [{ match: '*' }], concurrency: { key: 'x' } })).toEqual({
      input_schema: null,
      output: null,
      concurrency: { key: 'x', limit: 1, strategy: 'queue' },
      limits: { max_credits: null, max_duration_s: null },
      steps: [
        { ...plain[0], input: {}, model_mode: null, ...TRIES },
        { ...plain[1], system: null, model: null, model_mode: null, output_schema: null, ...TRIES },
        { ...plain[2], arguments: {}, repair: null, on_ambiguous: null, ...TRIES },
        { ...plain[3], else: [] },
        { ...plain[4], while: null, as: 'item', concurrency: 1, max_iterations: 100 },
        { ...plain[5], join: 'all' },
        { ...plain[6], form: null, assignees: [], timeout_s: null, on_timeout: 'fail' },
        { ...plain[7], for_s: null, until: null, timeout_s: null, on_timeout: 'fail' },
        { ...plain[8], output_schema: null, distill: false, max_steps: null, timeout_s: null },
        { ...plain[9], input: {}, timeout_s: null },
      ],
      on_error: [{ match: '*', steps: [], then: 'fail' }],
    });
  });

  it('lets a step win over the defaults, field by field', () => {
    const defaults = { timeout_s: 10, retry: { max_attempts: 5 } };
    const { steps } = read({ defaults, steps: [say('a'), { ...say('b'), timeout_s: 20, retry: { factor: 3 } }] });
    expect(steps).toMatchObject([
      { timeout_s: 10, retry: { max_attempts: 5, initial_s: 2, factor: 2, max_s: 60 } },
      { timeout_s: 20, retry: { max_attempts: 5, initial_s: 2, factor: 3, max_s: 60 } },
    ]);
  });

  it('tells every problem at once, by its step, its field and what would do', () => {
    const inner = [
      { id: 'Bad', kind: 'llm', prompt: 1 },
      { id: 'tell', kind: 'human', prompt: '', assignees: ['role:BOSS'], on_timeout: 'x' },
    ];
    expect(
      problemsOf({
        schema_version: 2,
        colour: 1,
        steps: [
          { id: 'each', kind: 'loop', over: [], as: 'X', steps: inner },
          { id: 'each', kind: 'magic' },
        ],
      }),
    ).toEqual([
      expect.objectContaining({ step_id: null, field: 'colour', valid_values: expect.arrayContaining(['steps', 'output']) as unknown }),
      { step_id: null, field: 'schema_version', problem: 'Input should be 1', valid_values: ['1'] },
      expect.objectContaining({ step_id: 'each', field: 'as' }),
      { step_id: 'each', field: 'steps.0.id', problem: 'String should match ^[a-z][a-z0-9_]{0,63}$', valid_values: [] },
      { step_id: 'each', field: 'steps.0.prompt', problem: 'Input should be a valid string', valid_values: [] },
      expect.objectContaining({ step_id: 'tell', field: 'prompt' }),
      expect.objectContaining({ step_id: 'tell', field: 'assignees.0', valid_values: expect.arrayContaining(['role:ADMIN']) as unknown }),
      {
        step_id: 'tell',
        field: 'on_timeout',
        problem: "Input should be 'fail', 'flag', 'continue'",
        valid_values: ['fail', 'flag', 'continue'],
      },
      expect.objectContaining({ step_id: 'each', field: 'kind', valid_values: expect.arrayContaining(['transform']) as unknown }),
      { step_id: 'each', field: 'id', problem: "'each' is taken by another step or branch", valid_values: [] },
    ]);
  });

  it.each<[string, unknown, string[]]>([
    ['nothing', null, ['-:']],
    ['a list', [], ['-:']],
    ['no steps', {}, ['-:steps']],
    ['an empty list', { steps: [] }, ['-:steps']],
    ['a step that is none', { steps: [1, null] }, ['-:steps.0', '-:steps.1']],
    ['no kind', { steps: [{ id: 'a' }] }, ['a:kind']],
    ['kinds of the host', { steps: [{ id: 'a', kind: 'constructor' }] }, ['a:kind']],
    ['keys of the host', JSON.parse('{"steps":[{"id":"a","kind":"flag","reason":"x","__proto__":1}]}'), ['a:__proto__']],
    ['an unknown key', { steps: [{ id: 'a', kind: 'flag', reason: 'x', note: 1 }] }, ['a:note']],
    [
      'wrong limits',
      { steps: [say('a')], limits: { max_credits: '0.0', max_duration_s: 0 } },
      ['-:limits.max_credits', '-:limits.max_duration_s'],
    ],
    ...['12,5', 0, -1, 0.1234567, 1e21, true, []].map((max_credits): [string, unknown, string[]] => [
      `a limit of ${JSON.stringify(max_credits)}`,
      { steps: [say('a')], limits: { max_credits } },
      ['-:limits.max_credits'],
    ]),
    [
      'wrong defaults',
      { steps: [say('a')], defaults: { timeout_s: 3_601, retry: { max_attempts: 11 } } },
      ['-:defaults.timeout_s', '-:defaults.retry.max_attempts'],
    ],
    ['a wrong schema', { steps: [say('a')], input_schema: { type: 'text' } }, ['-:input_schema']],
    [
      'wrong handlers',
      { steps: [say('a')], on_error: [{ match: 'No' }, { steps: [], then: 'go' }] },
      ['-:on_error.0.match', '-:on_error.1.match', '-:on_error.1.then'],
    ],
    [
      'a wrong concurrency',
      { steps: [say('a')], concurrency: { limit: 0, strategy: 'x' } },
      ['-:concurrency.key', '-:concurrency.limit', '-:concurrency.strategy'],
    ],
  ])('refuses %s', (_, definition, expected) => expect(where(definition)).toEqual(expected));

  it.each<[string, object, string[]]>([
    ['prompt', { kind: 'prompt', input: 'text', model_mode: 'x' }, ['template', 'input', 'model_mode']],
    [
      'llm',
      { kind: 'llm', prompt: 'x', output_schema: { type: 1 }, timeout_s: 0, retry: { factor: 0 } },
      ['output_schema', 'timeout_s', 'retry.factor'],
    ],
    [
      'tool',
      { kind: 'tool', tool: '', arguments: [], repair: { max_attempts: 3 }, on_ambiguous: 'x' },
      ['tool', 'arguments', 'repair.max_attempts', 'on_ambiguous'],
    ],
    [
      'branch',
      { kind: 'branch', branches: [{ steps: [] }, { when: '1 + 1', steps: [] }, { when: '1 +' }] },
      ['branches.0.when', 'branches.2.steps', 'branches.1.when', 'branches.2.when'],
    ],
    ['no branches', { kind: 'branch', branches: [] }, ['branches']],
    [
      'loop',
      { kind: 'loop', over: 'x ${input}', concurrency: 51, max_iterations: 10_001, steps: [] },
      ['concurrency', 'over', 'max_iterations'],
    ],
    ['loop of two kinds', { kind: 'loop', over: [], while: 'true', steps: [] }, ['']],
    ['loop of none', { kind: 'loop', steps: [] }, ['']],
    ['while at once', { kind: 'loop', while: 'true', concurrency: 2, steps: [] }, ['concurrency']],
    [
      'parallel',
      {
        kind: 'parallel',
        join: 'x',
        branches: [
          { id: 'b', steps: [] },
          { id: 'b', steps: [] },
          { id: 'a', steps: [] },
        ],
      },
      ['join', 'branches.1.id', 'branches.2.id'],
    ],
    [
      'human',
      { kind: 'human', prompt: 'x', form: { type: 1 }, timeout_s: 2_592_001, assignees: ['user:x'] },
      ['form', 'assignees.0', 'timeout_s'],
    ],
    ['wait for two', { kind: 'wait', for_s: 1, event: 'x' }, ['']],
    ['wait for nothing', { kind: 'wait' }, ['']],
    ['a late timer', { kind: 'wait', for_s: 0, timeout_s: 1, on_timeout: 'flag' }, ['timeout_s', 'for_s']],
    ['wait until', { kind: 'wait', until: 'tomorrow' }, ['until']],
    ['wait until a year that is none', { kind: 'wait', until: '0000-01-01T00:00:00Z' }, ['until']],
    ['transform', { kind: 'transform', set: { A: 1, ok: 1 } }, ['set.A']],
    ['transform of nothing', { kind: 'transform', set: {} }, ['set']],
    ['agent', { kind: 'agent', agent: 'a', task: 'x', distill: true, max_steps: 0 }, ['distill', 'max_steps']],
    ['process', { kind: 'process', input: 1 }, ['process', 'input']],
    ['flag', { kind: 'flag' }, ['reason']],
  ])('refuses what is wrong in %s', (_, step, fields) =>
    expect(whereOf({ id: 'a', ...step })).toEqual(fields.map((field) => `a:${field}`)),
  );

  it.each([
    { for_s: 3_600 },
    { for_s: '${input.s}' },
    { until: '2024-01-01T00:00:00Z' },
    { until: '${input.day}T00:00:00Z' },
    { event: 'paid', timeout_s: 1, on_timeout: 'continue' },
  ])('waits: %j', (wait) => expect(whereOf({ id: 'a', kind: 'wait', ...wait })).toEqual([]));

  it('asks whoever knows forms', () => {
    const definition = { steps: [{ id: 'a', kind: 'human', prompt: 'x', form: { type: 'object' } }] };
    expect(readDefinition(definition, { formFault: () => 'no form' })).toEqual({
      problems: [{ step_id: 'a', field: 'form', problem: 'no form', valid_values: [] }],
    });
    expect(problemsOf(definition)).toEqual([]);
  });

  it('bounds size, number, depth and expressions', () => {
    const nested = (depth: number): object =>
      depth ? { id: `l${depth}`, kind: 'loop', over: [], steps: [nested(depth - 1)] } : say('end');
    const many = (count: number) => Array.from({ length: count }, (_, i) => say(`s${i}`));
    expect(told(nested(9))).toEqual([]);
    expect(told(nested(10))).toEqual([
      expect.objectContaining({ step_id: 'l1', field: 'steps', problem: 'Steps may nest 10 levels deep' }),
    ]);
    expect(told(loop('l', ...many(199)))).toEqual([]);
    expect(told(loop('l', ...many(200)))).toEqual([
      expect.objectContaining({ step_id: null, field: 'steps', problem: expect.stringContaining('200 steps') as string }),
    ]);
    expect(told(say('a', 'x'.repeat(MAX_BYTES)))).toEqual([
      expect.objectContaining({ step_id: null, problem: expect.stringContaining('524288 bytes') as string }),
    ]);
    expect(told(say('a', '${1}'.repeat(2_001)))).toEqual([
      expect.objectContaining({ problem: expect.stringContaining('2000 expressions') as string }),
    ]);
    const asking = (id: string) => ({ id, kind: 'llm', prompt: 'x', output_schema: { title: 'x'.repeat(MAX_SCHEMAS_BYTES / 2 - 12) } });
    expect(told(asking('a'), asking('b'))).toEqual([]);
    expect(problemsOf({ input_schema: {}, steps: [asking('a'), asking('b')] })).toEqual([
      expect.objectContaining({ step_id: 'b', field: 'output_schema', problem: expect.stringContaining('65536 bytes together') as string }),
    ]);
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(told(deep)).toEqual([expect.objectContaining({ problem: 'Definition nests too deeply' })]);
    expect(told(...Array.from({ length: 300 }, () => ({})))).toHaveLength(100);
  });

  it('does not change what it reads', () => {
    const before = JSON.stringify(EVERYTHING);
    read(EVERYTHING);
    expect(JSON.stringify(EVERYTHING)).toBe(before);
  });

  it('has the definition of its type', () => {
    const definition: Definition = read(EVERYTHING);
    expect(definition.output).toBe('${steps.answer.output}');
  });
});
