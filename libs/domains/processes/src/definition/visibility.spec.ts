import { readDefinition } from './definition.reader';
import { branch, flag, loop, parallel, say } from './testing/definitions';

/** Problems as `step:field problem`. */
function problemsOf(...steps: unknown[]): string[] {
  const found = readDefinition({ steps });
  return 'problems' in found ? found.problems.map(({ step_id, field, problem }) => `${step_id}:${field} ${problem}`) : [];
}
const set = (id: string, name: string) => ({ id, kind: 'transform', set: { [name]: 1 } });
const whilst = (id: string, condition: string, ...steps: unknown[]) => ({ id, kind: 'loop', while: condition, steps });

const A = '${steps.a.output}';
const NOT_YET = /'a' has not ended before this/;
const WITHIN = (outer: string) => new RegExp(`'a' is seen within '${outer}' alone; steps\\.${outer}\\.output`);

describe('what a step may name', () => {
  it.each<[string, unknown[]]>([
    ['steps before it', [say('a'), say('b', A)]],
    ['steps before what holds it', [say('a'), loop('l', branch('b', [parallel('p', [say('x', A)])], []))]],
    ['steps before it in a loop', [loop('l', say('a'), say('b', A))]],
    ['steps before it in the way that is taken', [branch('b', [say('a'), say('x', A)], [])]],
    ['what comes of a branch', [branch('b', [say('a')], []), say('x', '${steps.b.output}')]],
    [
      'steps within the ways of a branch before it',
      [branch('b', [say('z')], [branch('c', [say('a')], [])]), say('x', `${A} ${'${steps.z.output}'}`)],
    ],
    ['steps within a way, in the loop that holds it', [loop('l', branch('b', [say('a')], []), say('x', A))]],
    ['in `while`, a step in a way of the loop', [whilst('l', 'has(steps.a)', branch('b', [say('a')], []))]],
    ['steps that are computed', [say('x', '${steps[vars].output}')]],
    ['a loop’s own variables', [loop('l', say('x', '${vars.item} ${vars.item_index}'))]],
    ['variables of outer loops', [{ ...loop('l', loop('m', say('x', '${vars.line} ${vars.item}'))), as: 'line' }]],
    ['variables that were set', [set('s', 'v'), say('x', '${vars.v}')]],
    [
      'variables that were set in a way',
      [branch('b', [set('s', 'v')], [branch('c', [set('t', 'w')], [])]), say('x', '${vars.v} ${vars.w}')],
    ],
    [
      'in `while`, what the iteration before has left',
      [whilst('l', 'has(steps.a) && vars.v && vars.item_index < 3', say('a'), set('s', 'v'))],
    ],
    ['names that a macro binds', [say('x', '${input.list.map(steps, steps.x)}')]],
    ['text that looks like it', [say('x', 'steps.a $${steps.a} ${"steps.a"}')]],
  ])('is %s', (_, steps) => expect(problemsOf(...steps)).toEqual([]));

  it.each<[string, unknown[], string, RegExp]>([
    ['a step that is not there', [say('x', A)], 'x:prompt', /There is no step 'a'/],
    ['itself', [say('a', A)], 'a:prompt', /'a' has not ended yet: it is what this is in/],
    ['what it is in', [{ ...loop('a', say('x', A)) }], 'x:prompt', /what this is in/],
    ['a later step', [say('x', A), say('a')], 'x:prompt', NOT_YET],
    ['a step within a later one', [say('x', A), loop('l', say('a'))], 'x:prompt', NOT_YET],
    ['a later step of its loop', [loop('l', say('x', A), say('a'))], 'x:prompt', NOT_YET],
    ['a step beside it', [parallel('p', [say('a')], [say('x', A)])], 'x:prompt', NOT_YET],
    ['a step of another way', [branch('b', [say('a')], [say('x', A)])], 'x:prompt', NOT_YET],
    ['a step within a loop', [loop('l', say('a')), say('x', A)], 'x:prompt', WITHIN('l')],
    ['a step within a loop in a way', [branch('b', [loop('l', say('a'))], []), say('x', A)], 'x:prompt', WITHIN('l')],
    ['a step within a parallel', [parallel('p', [say('a')]), say('x', A)], 'x:prompt', WITHIN('p')],
    ['a branch of a parallel', [parallel('p', []), say('x', '${steps.p_0.output}')], 'x:prompt', /There is no step 'p_0'/],
    ['in `over`, a step of the loop', [{ id: 'l', kind: 'loop', over: A, steps: [say('a')] }], 'l:over', NOT_YET],
    [
      'in `when`, a step of the way',
      [{ id: 'b', kind: 'branch', branches: [{ when: 'steps.a.output', steps: [say('a')] }] }],
      'b:branches.0.when',
      NOT_YET,
    ],
    ['in `while`, a step deep in the loop', [whilst('l', 'has(steps.a)', loop('m', say('a')))], 'l:while', WITHIN('m')],
    ['a variable that nothing has set', [say('x', '${vars.v}'), set('s', 'v')], 'x:prompt', /Nothing has set 'v' in vars/],
    ['a variable of a loop that is over', [loop('l', set('s', 'v')), say('x', '${vars.v}')], 'x:prompt', /'v'/],
    ['an item of `while`', [whilst('l', 'true', say('x', '${vars.item}'))], 'x:prompt', /'item'/],
    ['an error', [say('x', '${error.code}')], 'x:prompt', /within on_error alone/],
    ['an unknown root', [say('x', '${now}')], 'x:prompt', /Unknown variable: now/],
    ['names of the host', [say('x', '${steps.constructor}')], 'x:prompt', /no step 'constructor'/],
    [
      'deep within a template',
      [{ id: 'x', kind: 'tool', tool: 't', arguments: { a: [{ b: `at ${A}` }] } }],
      'x:arguments.a.0.b',
      /no step/,
    ],
    ['in a set', [{ id: 'x', kind: 'transform', set: { v: A, w: '${vars.v}' } }], 'x:set.v', /no step/],
  ])('is not %s', (_, steps, place, problem) => {
    const [first] = problemsOf(...steps);
    expect(first).toMatch(problem);
    expect(first.startsWith(`${place} `)).toBe(true);
  });

  it('tells what may be named', () => {
    const found = readDefinition({ steps: [say('a'), set('s', 'v'), loop('l', say('x', '${steps.z} ${vars.z}'))] });
    expect(found).toMatchObject({ problems: [{ valid_values: ['a', 's'] }, { valid_values: ['v', 'item', 'item_index'] }] });
  });

  it.each<[string, object, string[]]>([
    [
      'output, all steps of the top',
      { output: '${steps.a.output} ${steps.b.output} ${vars.v}', steps: [say('a'), flag('b'), set('s', 'v')] },
      [],
    ],
    [
      'output, no others',
      { output: { x: ['${steps.a.output}', '${error.code}'] }, steps: [loop('l', say('a'))] },
      ['output.x.0', 'output.x.1'],
    ],
    [
      'on_error, all steps of the top and the error',
      { steps: [say('a')], on_error: [{ match: '*', steps: [say('x', `${A} \${error.code}`)] }] },
      [],
    ],
    [
      'on_error, no other handler',
      {
        steps: [say('b')],
        on_error: [
          { match: 'x', steps: [say('a')] },
          { match: '*', steps: [say('c', A)] },
        ],
      },
      ['prompt'],
    ],
    ['the key of concurrency, input and envelope', { steps: [say('a')], concurrency: { key: '${input.x} ${envelope.id}' } }, []],
    [
      'the key of concurrency, nothing else',
      { steps: [say('a')], concurrency: { key: `\${run.id}${A}` } },
      ['concurrency.key', 'concurrency.key'],
    ],
  ])('is in %s', (_, definition, fields) => {
    const found = readDefinition(definition);
    expect('problems' in found ? found.problems.map(({ field }) => field) : []).toEqual(fields);
  });
});
