import { compile } from './rule-set.compile';
import { modelsOf, patternProblems, patternsOf, targetsOf } from './rule-set.check';
import { ruleSetOf } from './testing/facts';

const AGENT = { kind: 'agent', id: 'a1' };
const PROCESS = { kind: 'process', id: 'prc_1' };
const matches = (value: string) => ({ field: 'subject', op: 'matches', value });
const stage = (id: string, when: unknown, then: object = { action: 'accept' }) => ({ id, kind: 'match', when, then });
const problemsOf = (...patterns: string[]) =>
  patternProblems(ruleSetOf({ stages: patterns.map((pattern, i) => stage(`s${i}`, matches(pattern))) }));

describe('what is checked at a deployment', () => {
  const ruleSet = ruleSetOf({
    default: { action: 'accept', target: AGENT },
    stages: [
      stage(
        'a',
        { any: [matches('x'), { all: [{ not: matches('y') }, { field: 'subject', op: 'exists' }] }] },
        { action: 'accept', target: PROCESS },
      ),
      {
        id: 'b',
        kind: 'classifier',
        instruction: 'x',
        model: 'm-1',
        labels: [
          { label: 'l', action: 'drop' },
          { label: 'k', action: 'accept', target: AGENT },
        ],
      },
      { id: 'c', kind: 'classifier', instruction: 'x', labels: [{ label: 'l', action: 'drop' }] },
    ],
  });

  it('has a place for each of them', () => {
    expect(patternsOf(ruleSet)).toEqual([
      { stage_id: 'a', field: 'when.any.0.value', pattern: 'x' },
      { stage_id: 'a', field: 'when.any.1.all.0.not.value', pattern: 'y' },
    ]);
    expect(targetsOf(ruleSet)).toEqual([
      { stage_id: null, field: 'default.target', target: AGENT },
      { stage_id: 'a', field: 'then.target', target: PROCESS },
      { stage_id: 'b', field: 'labels.1.target', target: AGENT },
    ]);
    expect(modelsOf(ruleSet)).toEqual([{ stage_id: 'b', field: 'model', model: 'm-1' }]);
    expect(patternProblems(ruleSet)).toEqual([]);
  });
});

describe('patterns', () => {
  it.each(
    ['(?i)re: \\[#\\d+\\]', '^\\pL+$', '(?P<n>a)\\b', '(?s).*\\z', '(a+)+$', '[[:alpha:]]{1,64}', '', 'größe|漢字|😀'].filter(Boolean),
  )('are RE2: %s', (pattern) => expect(problemsOf(pattern)).toEqual([]));

  it.each([
    ['[', /missing closing \]/],
    ['a(', /missing closing \)/],
    ['a**', /repetition/],
    ['(?=a)', /syntax/],
    ['(?<!a)b', /./],
    ['\\1', /escape/],
    ['a{1001}', /repeat count/],
    ['(((a{100}){100}){100}){100}', /repeat count/],
    ['('.repeat(1_000), /./],
  ])('are refused in plain words: %s', (pattern, problem) =>
    expect(problemsOf('fine', pattern)).toEqual([
      { stage_id: 's1', field: 'when.value', problem: expect.stringMatching(problem) as string, valid_values: [] },
    ]),
  );

  it('may not be too large together, and are not compiled beyond that', () => {
    const large = '[a-z]{900}';
    expect(problemsOf(large, large)).toEqual([]);
    expect(problemsOf(large, large, large, '[')).toMatchObject([
      { stage_id: 's2', problem: expect.stringContaining('too large') as string },
    ]);
    expect(problemsOf(...Array.from({ length: 50 }, () => '(?i)(?:\\pL{0,9}){0,99}'))).toHaveLength(1);
  });

  it('that have problems are not compiled', () =>
    expect(() => compile(ruleSetOf({ stages: [stage('a', matches('['))] }))).toThrow('patterns have problems'));
});
