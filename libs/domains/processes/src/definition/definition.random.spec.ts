import { randomly } from '@aps/platform/testing';
import { readDefinition } from './definition.reader';
import { compileExpression, evaluate, ExpressionError, type Scope } from './expression';
import { referencesIn, stepsOf } from './steps';
import { expressionsOf, render, templateProblems } from './template';
import { EVERYTHING, read } from './testing/definitions';
import { warningsOf } from './warnings';

const ODD: unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e308, '', ' ', 'a', 'x'.repeat(3_000), '${', '${}', '$${', '${steps.extract.output}', '${error}', '${a}}'],
  ...[
    '__proto__',
    'constructor',
    '\0',
    '\ud800',
    '${"}',
    "${'",
    '*',
    '1 +',
    'steps',
    'vars.x == 1',
    [],
    {},
    [null],
    { id: 'a' },
    { kind: 'loop' },
  ],
  ...[
    { id: 'a', kind: 'flag', reason: '${x}' },
    JSON.parse('{"__proto__": {"kind": "flag"}}'),
    { $ref: '#' },
    { type: 'object', properties: 1 },
  ],
];

/** Most are of a type that only values tell, so that little is refused before. */
const LEAVES = [
  'input.n',
  'input.a',
  'input.list',
  'input.yes',
  'steps.a.output',
  'vars.x',
  'dyn(2)',
  'dyn(null)',
  'dyn("a")',
  '1',
  'true',
  'input',
  '[]',
  '{}',
  'b"a"',
  'x',
];

/** Random JSON and changed definitions, the same in every run. */
class Generator {
  constructor(private readonly next: () => number) {}

  below = (bound: number) => Math.floor(this.next() * bound);
  pick = <T>(of: readonly T[]): T => of[this.below(of.length)];
  json = (depth = 0): unknown => {
    const form = depth > 4 ? 0 : this.below(4);
    if (form < 2) return this.pick(ODD);
    const size = this.below(4);
    if (form === 2) return Array.from({ length: size }, () => this.json(depth + 1));
    return Object.fromEntries(Array.from({ length: size }, () => [this.key(), this.json(depth + 1)]));
  };
  key = () =>
    this.pick(['id', 'kind', 'steps', 'when', 'over', 'as', 'set', 'input', 'retry', '__proto__', 'constructor', 'branches', 'else', 'x']);

  /** A definition with a few of its parts changed, gone, or somewhere else. */
  changed = (): unknown => {
    const definition: unknown = structuredClone(EVERYTHING);
    for (let i = 0; i <= this.below(3); i++) this.change(definition);
    return definition;
  };
  private change(definition: unknown): void {
    const places = placesIn(definition);
    const { holder, key } = this.pick(places);
    const other = this.pick(places);
    const how = this.below(4);
    if (how === 0) holder[key] = this.json();
    else if (how === 1) delete holder[key];
    else if (how === 2) holder[key] = structuredClone(other.holder[other.key]);
    else holder[this.key()] = this.json();
  }

  /** A text that is an expression more often than not. */
  expression = (depth = 0): string => {
    const inner = () => this.expression(depth + 1);
    if (depth > 3) return this.pick(LEAVES);
    return this.pick([
      () => `${inner()} ${this.pick(['+', '-', '*', '/', '%', '==', '!=', '<', '>=', 'in', '&&', '||'])} ${inner()}`,
      () =>
        `(${inner()})${this.pick(['.a', '.constructor', '["__proto__"]', '[0]', '[-1]', '.size()', '.matches("(a+)+$")', '.split("a")', ''])}`,
      () =>
        `${this.pick(['size', 'sum', 'lower', 'string', 'int', 'double', 'type', 'duration', 'timestamp', 'has', 'dyn', '!', '-'])}(${inner()})`,
      () => `default(${inner()}, ${inner()})`,
      () => `join(${inner()}, ${inner()})`,
      () => `[${inner()}, ${inner()}].${this.pick(['map', 'filter', 'exists', 'all', 'exists_one'])}(x, ${inner()})`,
      () => `${inner()} ? ${inner()} : ${inner()}`,
      () => `{"a": ${inner()}, "constructor": ${inner()}}`,
      inner,
    ])();
  };
}

interface At {
  holder: Record<string | number, unknown>;
  key: string | number;
}
const placesIn = (value: unknown): At[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [{ holder: value as At['holder'], key }, ...placesIn(inner)])
    : [];

const SCOPE: Scope = {
  input: { list: [1, 2.5, 'a', null], a: 'b', n: 2, yes: true },
  envelope: {},
  steps: { a: { output: 1 } },
  vars: { x: [[]] },
  run: {},
};

describe('random definitions', () => {
  it('are read, or refused with places in them', () => {
    const generator = new Generator(randomly(5));
    let accepted = 0;
    for (let i = 0; i < 800; i++) {
      // As it comes in: nothing but JSON.
      const before = JSON.stringify(i % 3 ? generator.changed() : generator.json());
      const definition: unknown = JSON.parse(before);
      const found = readDefinition(definition);
      expect(JSON.stringify(definition)).toBe(before);
      if ('problems' in found) {
        expect(found.problems.length).toBeGreaterThan(0);
        for (const { step_id, problem } of found.problems) {
          expect(problem).toMatch(/\S/);
          if (step_id !== null) expect(before).toContain(JSON.stringify(step_id));
        }
        continue;
      }
      accepted += 1;
      // Written out, it says the same.
      expect(read(found.definition)).toEqual(found.definition);
      expect(stepsOf(found.definition).length).toBeGreaterThan(0);
      referencesIn(found.definition);
      warningsOf(found.definition);
    }
    expect(accepted).toBeGreaterThan(30);
  });
});

describe('random expressions', () => {
  it('come to JSON or to an ExpressionError, and leave all else as it is', () => {
    const generator = new Generator(randomly(9));
    const scope = JSON.stringify(SCOPE);
    const outcomes = { none: 0, value: 0, error: 0 };
    for (let i = 0; i < 2_500; i++) {
      const compiled = compileExpression(generator.expression(i % 4));
      if ('problem' in compiled) {
        expect(compiled.problem).toMatch(/\S/);
        outcomes.none += 1;
        continue;
      }
      try {
        const value = evaluate(compiled, SCOPE);
        expect(JSON.parse(JSON.stringify(value))).toEqual(value);
        expect(evaluate(compiled, SCOPE)).toEqual(value);
        outcomes.value += 1;
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        outcomes.error += 1;
      }
    }
    expect(JSON.stringify(SCOPE)).toBe(scope);
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(100);
  });

  it('stand in templates of anything', () => {
    const generator = new Generator(randomly(3));
    for (let i = 0; i < 1_000; i++) {
      const template = [
        generator.json(),
        `a ${generator.pick(['$', '{', '}', '"', ''])}\${${generator.expression(3)}${generator.pick(['}', '"}', ''])}`,
      ];
      expressionsOf(template);
      if (templateProblems(template).length) expect(() => render(template, SCOPE)).toThrow(ExpressionError);
      else
        try {
          render(template, SCOPE);
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error;
        }
    }
  });
});
