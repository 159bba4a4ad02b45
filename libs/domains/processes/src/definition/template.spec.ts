import { ExpressionError, type Scope } from './expression';
import { expressionsOf, isExpressionAlone, render, templateProblems } from './template';

const SCOPE: Scope = {
  input: { n: 3, name: 'Ada', list: [1, 'b'], object: { a: 1.5 }, none: null, yes: true, long: 'é'.repeat(300_000) },
  envelope: {},
  steps: {},
  vars: {},
  run: {},
};

describe('templates', () => {
  it.each<[unknown, unknown]>([
    ['plain', 'plain'],
    ['', ''],
    ['${input.n}', 3],
    ['${ input.list }', [1, 'b']],
    ['${input.none}', null],
    [' ${input.n}', ' 3'],
    ['${input.n}${input.n}', '33'],
    ['Dear ${input.name}, ${input.yes} ${input.none} ${input.list} ${input.object}', 'Dear Ada, true null [1,"b"] {"a":1.5}'],
    ['costs $5 or $${input.n} or $', 'costs $5 or ${input.n} or $'],
    ['${input.n}$${x}${input.n}', '3${x}3'],
    ['$${${input.n}}', '${3}'],
    ['${ {"a": "}"}.a }', '}'],
    ["${ {'a': {'b': '}\\'}'}}.a.b }", "}'}"],
    ['${ """}"""}!', '}!'],
    ['${ r"}" + "{" }', '}{'],
    ['${ 1 // }\n + 1 }', 2],
    ['{"not": "${input.n}"}', '{"not": "3"}'],
    [
      { '${input.n}': ['${input.n}', { deep: 'x${input.n}' }], n: 1, no: null, yes: true },
      { '${input.n}': [3, { deep: 'x3' }], n: 1, no: null, yes: true },
    ],
    [null, null],
    [7, 7],
  ])('%j', (template, expected) => {
    expect(templateProblems(template)).toEqual([]);
    expect(render(template, SCOPE)).toEqual(expected);
  });

  it('keeps keys that are names of the host, and the template as it is', () => {
    const template: unknown = JSON.parse('{"__proto__": "${input.n}", "constructor": ["${input.n}"]}');
    const before = JSON.stringify(template);
    expect(JSON.stringify(render(template, SCOPE))).toBe('{"__proto__":3,"constructor":[3]}');
    expect(JSON.stringify(template)).toBe(before);
  });

  it.each<[string, unknown, string, RegExp]>([
    ['an unclosed expression', 'a ${input.n', '', /not closed/],
    ['a text that is not closed within', '${"}', '', /not closed/],
    ['a comment over the end', '${1 // }', '', /not closed/],
    ['syntax, in its place', { a: [{ b: 'x ${1 +} ${input.n}' }] }, 'a.0.b', /EOF/],
    ['an empty one', '${}', '', /empty/],
    ['unknown names', ['${nope}'], '0', /Unknown variable: nope/],
  ])('tells %s', (_, template, path, problem) => {
    expect(templateProblems(template)).toEqual([{ path, problem: expect.stringMatching(problem) as string }]);
    expect(() => render(template, SCOPE)).toThrow(ExpressionError);
  });

  it('tells every problem, and nesting as one', () => {
    expect(templateProblems({ a: '${', b: ['${1 +}', '${ok'] }).map(({ path }) => path)).toEqual(['a', 'b.0', 'b.1']);
    let deep: unknown = '${1}';
    for (let i = 0; i < 2_000; i++) deep = [deep];
    expect(templateProblems(deep)).toEqual([{ path: '', problem: 'Nests more than 32 levels deep' }]);
    expect(() => render(deep, SCOPE)).toThrow(/32 levels/);
    expect(expressionsOf(deep)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['text', '${input.long}${input.long}'],
    ['values', ['${input.long}', '${input.long}']],
    ['what stands in it', ['${input.long}', 'x'.repeat(500_000)]],
  ])('refuses a result that is too large: %s', (_, template) => expect(() => render(template, SCOPE)).toThrow(/1048576 bytes/));

  it('lists expressions with their places', () => {
    expect(expressionsOf({ a: '${input.n} and ${ vars.x }', b: ['$${no}', { c: '${run.id}' }] })).toEqual([
      { path: 'a', expression: 'input.n' },
      { path: 'a', expression: ' vars.x ' },
      { path: 'b.1.c', expression: 'run.id' },
    ]);
  });

  it.each([
    ['${input.n}', true],
    ['${input.n} ', false],
    ['$${input.n}', false],
    ['${input.n', false],
    ['text', false],
  ])('knows whether an expression is alone: %s', (template, alone) => expect(isExpressionAlone(template)).toBe(alone));
});
