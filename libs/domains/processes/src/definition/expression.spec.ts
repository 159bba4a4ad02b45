import { compileExpression, evaluate, ExpressionError, MAX_EXPRESSION, type Scope } from './expression';

const odd: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": {"b": 2}}');
const SCOPE: Scope = {
  input: {
    price: 2.5,
    count: 3,
    name: 'Ada',
    none: null,
    yes: true,
    huge: 1e300,
    list: [1, 2.5, 3],
    lines: [{ x: 1 }, { x: 2, y: 'b' }],
    many: Array.from({ length: 10_001 }, (_, i) => i),
    long: 'a'.repeat(100_000),
    odd,
  },
  envelope: { id: 'e' },
  steps: { a: { output: { total: 4 } } },
  vars: { line: { x: 7 } },
  run: { id: 'r' },
};

function compiled(text: string) {
  const expression = compileExpression(text);
  if ('problem' in expression) throw new Error(expression.problem);
  return expression;
}
const valueOf = (text: string, scope = SCOPE) => evaluate(compiled(text), scope);
const times = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i)).join('');

describe('expressions', () => {
  it.each<[string, unknown]>([
    ['input.price * 2', 5],
    ['2 * input.price', 5],
    ['input.price - input.count', -0.5],
    ['input.count / 2', 1],
    ['input.count / 2.0', 1.5],
    ['1 + 0.5', 1.5],
    ['input.count % 2', 1],
    ['input.count == 3.0 && 3.0 == input.count && 1 == 1.0', true],
    ['input.count != 3.5 && input.price < 3 && 3 > input.price', true],
    ['input.count == "3"', false],
    ['input.none == null', true],
    ['input.huge', 1e300],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['string(9007199254740993)', '9007199254740993'],
    ['input.list', [1, 2.5, 3]],
    ['input.list + ["x"]', [1, 2.5, 3, 'x']],
    ['[1, "a", null, {"k": 2u}]', [1, 'a', null, { k: 2 }]],
    ['input.lines[1] == {"x": 2.0, "y": "b"}', true],
    ['3 in input.list && !("x" in input.list)', true],
    ['input.count > 2 ? "many" : null', 'many'],
    ['input.yes ? 1 : "x"', 1],
    ['has(input.name) && !has(input.nope)', true],
    ['has(steps.b) ? steps.b.output : "none"', 'none'],
    ['default(steps.b.output.total, 1)', 1],
    ['default(steps.a.output.total, 1)', 4],
    ['default(input.none, input.count)', 3],
    ['default(input.list[9], 9)', 9],
    ['default(error.code, "none")', 'none'],
    ['sum(input.list)', 6.5],
    ['sum([1, 2])', 3],
    ['sum([])', 0],
    ['join(input.list, ", ")', '1, 2.5, 3'],
    ['["a", "b"].join("-")', 'a-b'],
    ['lower("ÄB") + upper("äb")', 'äbÄB'],
    ['size(input.name) + size(input.list) + size(input.odd)', 8],
    ['input.name.startsWith("A") && input.name.contains("d") && input.name.endsWith("a")', true],
    ['input.name.matches("^A.a$")', true],
    ['input.lines.map(l, l.x * 2)', [2, 4]],
    ['input.lines.filter(l, has(l.y)).map(l, l.y)', ['b']],
    ['input.lines.exists(l, l.x == 2) && input.lines.all(l, l.x > 0) && input.lines.exists_one(l, l.x == 1)', true],
    ['input.lines.exists(l, l.y == "b")', true],
    ['cel.bind(n, input.count, n * n)', 9],
    ['timestamp("2024-02-28T12:00:00Z") + duration("24h")', '2024-02-29T12:00:00.000Z'],
    ['timestamp("2024-02-29T00:00:00Z").getFullYear()', 2024],
    ['duration("90s")', '90s'],
    ['steps["a"]["output"].total', 4],
    ['{1: "a"}', { 1: 'a' }],
    ['vars.line', { x: 7 }],
  ])('%s', (text, expected) => expect(valueOf(text)).toEqual(expected));

  it.each<[string, RegExp]>([
    ['', /empty/],
    [' ', /empty/],
    ['1 +', /EOF/],
    ['1 = 1', /Unexpected character/],
    ['nope.x', /Unknown variable: nope; known are input, envelope, steps, vars, run/],
    ['nope(1)', /nope/],
    ['1 + "a"', /int \+ string/],
    ['"a".length', /string/],
    ['has("a")', /has/],
    ['x'.repeat(MAX_EXPRESSION + 1), /at most 2000/],
    ['('.repeat(500) + '1' + ')'.repeat(500), /maxDepth/],
    ['!'.repeat(1_500) + 'true', /maxAstNodes/],
    [`1${'+1'.repeat(300)}`, /200 levels/],
    ['__proto__', /Reserved/],
    ['constructor', /Unknown variable/],
    ['globalThis', /Unknown variable/],
    ['[].constructor', /index/],
  ])('is none: %s', (text, problem) => expect(compileExpression(text)).toEqual({ problem: expect.stringMatching(problem) as string }));

  it.each<[string, RegExp]>([
    ['steps.b.output.total', /No such key: b, in steps\.b/],
    ['input.nope', /No such key: nope, in input\.nope/],
    ['input.none.x', /No such key: x/],
    ['input.list[3]', /out of bounds/],
    ['error.code', /error/],
    ['input.name + 1', /string \+ int/],
    ['!input.name', /!string/],
    ['input.name ? 1 : 2', /must be bool/],
    ['input.name && true', /bool/],
    ['1 / 0', /division by zero/],
    ['1.5 / 0', /division by zero/],
    ['input.count % 0', /modulo by zero/],
    ['default(1 / 0, 1)', /division by zero/],
    ['9223372036854775807 + 1', /overflow/],
    ['-(-9223372036854775807 - 1)', /64 bits/],
    ['99999999999999999999', /64 bits/],
    ['9007199254740993', /too large for JSON/],
    ['input.huge * 1e300', /not finite/],
    ['double("NaN")', /not finite/],
    ['b"abc"', /not JSON/],
    ['type(1)', /not JSON/],
    ['cel', /not JSON/],
    ['sum(["a"])', /numbers/],
    ['join([null], "")', /texts/],
    ['"a".matches("(?=a)")', /RE2/],
    ['b"1".json()', /json/],
    ['timestamp("yesterday")', /timestamp/],
    ['timestamp("9999-12-31T23:59:59Z") + duration("99999999h")', /out of range/],
  ])('has no value: %s', (text, message) => {
    const expression = compiled(text);
    expect(() => evaluate(expression, SCOPE)).toThrow(ExpressionError);
    expect(() => evaluate(expression, SCOPE)).toThrow(message);
  });

  it.each([
    'vars.constructor',
    'vars.toString',
    'vars["__proto__"]',
    'vars["hasOwnProperty"]',
    'input.name.constructor',
    'input.list.constructor',
    'input.list["length"]',
    '{}.constructor',
    '{"a": 1}["__proto__"]',
    'input.odd.constructor.constructor',
    'cel.constructor',
    'google.protobuf.constructor',
    'timestamp("2024-01-01T00:00:00Z").constructor',
    'timestamp("2024-01-01T00:00:00Z").getTime',
    'duration("1s").seconds',
    'type(1).name',
    'b"a".buffer',
    'bytes("a").byteOffset',
  ])('reaches nothing of the host: %s', (text) => expect(() => valueOf(text)).toThrow(ExpressionError));

  it('has names of the host as keys, where JSON has them', () => {
    expect(valueOf('input.odd.__proto__.a + input.odd["constructor"].b')).toBe(3);
    expect(JSON.stringify(valueOf('input.odd'))).toBe(JSON.stringify(odd));
  });

  it('changes nothing, and hands out no part of what it was given', () => {
    const scope = structuredClone(SCOPE);
    const before = [Object.getOwnPropertyNames(Object.prototype), Object.getOwnPropertyNames(Array.prototype)];
    const lines = valueOf('input.lines', scope) as { x: number }[];
    lines[0].x = 99;
    valueOf('input.lines.map(l, {"__proto__": l, "constructor": l})', scope);
    expect(scope).toEqual(SCOPE);
    expect([Object.getOwnPropertyNames(Object.prototype), Object.getOwnPropertyNames(Array.prototype)]).toEqual(before);
  });

  const ten = '[1,2,3,4,5,6,7,8,9,10]';
  it.each<[string, string, RegExp]>([
    ['nested lists', `${ten}.map(a, ${ten}.map(b, ${ten}.map(c, ${ten}.map(d, a))))`, /steps/],
    ['errors that CEL goes on after', `${ten}.exists(a, ${ten}.exists(b, ${ten}.exists(c, ${ten}.exists(d, false)))) || true`, /steps/],
    ['a list that is too long', 'input.many.all(x, true)', /steps/],
    ['a list that is too long, left early', 'input.many.exists(x, true)', /steps/],
    ['a list that is too long, beside what is true', 'input.many.exists(x, true) || true', /steps/],
    [
      'a text that doubles',
      `${times(16, (i) => `cel.bind(x${i}, x${i - 1} + x${i - 1}, `).replace('x-1 + x-1', 'input.long')}1${')'.repeat(16)}`,
      /larger than/,
    ],
    [
      'a list that doubles',
      `${times(16, (i) => `cel.bind(x${i}, x${i - 1} + x${i - 1}, `).replace('x-1 + x-1', 'input.many')}1${')'.repeat(16)}`,
      /items|steps/,
    ],
    ['long texts, over and over', `${ten}.map(a, ${ten}.map(b, (input.long + input.long).startsWith("b")))`, /steps/],
    ['a join', `join(input.many, input.long)`, /larger than/],
    ['a join, as a method', `input.many.map(x, "a").join(input.long)`, /steps|larger than/],
    [
      'a result of shared parts',
      `${times(15, (i) => `cel.bind(x${i}, [x${i - 1}, x${i - 1}], `).replace('[x-1, x-1]', `"${'0'.repeat(100)}"`)}x14${')'.repeat(15)}`,
      /larger than/,
    ],
    ['a pattern over a long text', 'input.long.matches("(a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z|[0-9]{200})+$")', /too long/],
    ['a pattern that is long itself', 'input.long.matches(input.long)', /1000 characters/],
    ['a long fragment', 'input.long.contains("b" + input.long)', /too long/],
    ['digits without a unit', 'duration(input.long)', /100 characters/],
  ])('stops: %s', (_, text, message) => {
    const expression = compiled(text);
    expect(() => evaluate(expression, SCOPE)).toThrow(ExpressionError);
    expect(() => evaluate(expression, SCOPE)).toThrow(message);
  });

  it('compares parts that are shared as often as it has time', () => {
    const often = (name: string) => Array.from({ length: 20 }, () => name).join();
    const shared = (name: string) => times(7, (i) => `cel.bind(${name}${i}, [${i ? often(`${name}${i - 1}`) : 1}], `);
    const text = `${shared('x')}${shared('y')}x6 == y6${')'.repeat(14)}`;
    expect(() => valueOf(text)).toThrow(/50 ms/);
    expect(() => valueOf(text.replace('== y6', 'in [y6]'))).toThrow(ExpressionError);
  });

  it('searches by patterns that never go back', () => {
    expect(valueOf(`"${'a'.repeat(100)}!".matches("(a+)+$")`)).toBe(false);
  });

  it('goes on after one that was stopped', () => {
    expect(() => valueOf('input.many.all(x, true)')).toThrow();
    expect(valueOf('input.lines.all(l, l.x > 0)')).toBe(true);
    expect(compileExpression('input.lines.all(l, l.x > 0)')).toBe(compileExpression('input.lines.all(l, l.x > 0)'));
  });

  it.each<[string, string[]]>([
    ['steps.extract.output.total + vars.line.x', ['steps.extract.output.total', 'vars.line.x']],
    ['input', ['input']],
    ['steps[vars.which].output', ['steps', 'vars.which']],
    ['steps["a"].output[0].b', ['steps.a.output']],
    ['input.list.map(input, input.x)', ['input.list']],
    ['input.list.map(x, steps.a.output + x, vars.b)', ['input.list', 'steps.a.output', 'vars.b']],
    ['cel.bind(steps, steps.a, steps.b)', ['steps.a']],
    ['has(steps.a.output) ? {"k": run.id} : [-envelope.n]', ['steps.a.output', 'run.id', 'envelope.n']],
    ['default(steps.a, error.code) == null', ['steps.a', 'error.code']],
    ['"steps.a" + string(1)', []],
  ])('names paths: %s', (text, paths) => expect(compiled(text).references.map((path) => path.join('.'))).toEqual(paths));
});
