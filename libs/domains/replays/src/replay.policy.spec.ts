import { transcriptRow, type TranscriptRow } from '@aps/chats';
import {
  advance as goOn,
  answerOf,
  begin,
  decidedBefore,
  differencesOf,
  doingsOf,
  journalOf,
  SIMULATED,
  toldOf,
  untoldOf,
  verdictByKind,
  type CheckedDecision,
  type Progress,
} from './replay.policy';
import { judged } from './judge.policy';

const row = (role: TranscriptRow['role'], content: string, more: Partial<TranscriptRow> = {}) => transcriptRow({ role, content, ...more });
const called = (id: string, name: string, args: string, result: string) => [
  row('assistant', '', { tool_calls: [{ id, name, arguments: args }] }),
  row('tool', result, { tool_call_id: id, tool_name: name }),
];
const slugOf = (name: string) => (name === 'shop__find' ? 'con_shop.find' : name);
const said = [[row('user', 'first')], [row('user', 'second')]];
const answer = (text: string, ...calls: [string, string][]) => ({
  ...{ text, toolCalls: calls.map(([name, args]) => ({ id: 'x', name, arguments: args })), providerState: undefined },
});
const advance = (progress: Progress, said: ReturnType<typeof answer>, of: Parameters<typeof goOn>[2]) =>
  goOn(progress, answerOf(said, progress, []), of);
const results = (rows: TranscriptRow[]) => rows.filter(({ role }) => role === 'tool').map(({ content }) => content);

describe('a replay', () => {
  const recorded = [
    ...called('a', 'shop__find', '{"q":"tea","n":1}', 'green'),
    ...called('b', 'shop__find', '{"n":1.0,"q":"tea"}', 'black'),
  ];
  const of = { said, journal: journalOf(recorded, slugOf), slugOf, isLast: false };

  it('answers calls by tool and canonical arguments, in their order, and the last from then on', () => {
    const tea: [string, string] = ['shop__find', '{ "n": 1, "q": "tea" }'];
    const once = advance(begin(said), answer('', tea, tea, tea), of);
    expect(results(once.rows)).toEqual(['green', 'black', 'black']);
    expect(once).toMatchObject({ turn: 0, steps: 1, misses: 0, isOver: false });
    const again = advance(once, answer('', tea, ['shop__find', '{"q":"coffee","n":1}'], ['gone', 'no JSON']), of);
    expect(results(again.rows).slice(3)).toEqual(['black', SIMULATED, SIMULATED]);
    expect(again.misses).toBe(2);
    const ids = again.rows.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says what users said next once the agent has answered, and is over after the last', () => {
    const first = advance(begin(said), answer('one'), of);
    expect(first.rows.map(({ content }) => content)).toEqual(['first', 'one', 'second']);
    expect(first).toMatchObject({ turn: 1, steps: 0, isOver: false });
    expect(advance(first, answer('two'), of)).toMatchObject({ turn: 1, isOver: true });
  });

  it('answers no call of a last step', () => {
    const last = advance(begin(said), answer('', ['shop__find', '{"q":"tea","n":1}']), { ...of, isLast: true });
    expect(results(last.rows)).toEqual([expect.stringContaining('step_limit')]);
    expect(last.turn).toBe(1);
  });
});

describe('what a model is told', () => {
  const long = (role: TranscriptRow['role']) => row(role, 'word '.repeat(100));
  const rows = Array.from({ length: 10 }, () => [long('user'), long('assistant')]).flat();

  it('is all that fits into its window, and else the end, with that something is left out', () => {
    expect(untoldOf(rows, 0, 128_000)).toBe(0);
    expect(toldOf(rows, 0, [])).toBe(rows);
    const untold = untoldOf(rows, 0, 2_000);
    expect(untold).toBeGreaterThan(5);
    // Until it is full again, the beginning of what is told stays.
    expect(untoldOf([...rows, long('user')], untold, 2_000)).toBe(untold);
    const answered = [rows[0]];
    expect(toldOf(rows, untold, answered)).toEqual([
      expect.objectContaining({ role: 'summary', content: '', left_out: untold }),
      rows[0],
      ...rows.slice(untold),
    ]);
    const summarized = [row('summary', 'so far'), ...rows];
    expect(toldOf(summarized, untoldOf(summarized, 0, 2_000), [])[0]).toMatchObject({ role: 'summary', content: 'so far' });
  });
});

describe('what an agent did', () => {
  const decided = (kind: string, summary = 'Refund it', tool_slug = 'con_shop.find') =>
    called('d', 'record_decision', JSON.stringify({ kind, summary, basis: 'Rule 1', tool_slug }), 'recorded');

  it('is what it called and decided, and what it said last', () => {
    const rows = [...called('a', 'shop__find', '{}', 'green'), ...decided('act'), ...decided('perhaps'), row('assistant', 'Done.')];
    expect(doingsOf(rows, slugOf)).toEqual({
      tools: ['con_shop.find', 'record_decision', 'record_decision'],
      decisions: [{ kind: 'act', basis: 'Rule 1', summary: 'Refund it', tool_slug: 'con_shop.find' }],
      final_text: 'Done.',
    });
  });

  it('has no decision of what the tool refuses, and the others in the places of their calls', () => {
    const refused = (id: string, args: object, answer = 'refused') =>
      called(id, 'record_decision', JSON.stringify({ kind: 'act', summary: 'Refund it', basis: 'Rule 1', ...args }), answer);
    const rows = [
      ...refused('l', { basis: 'x'.repeat(501) }),
      ...refused('n', { tool_slug: null }),
      ...refused('c', { confidence: 95 }),
      ...refused('e', { kind: 'escalate' }, 'The arguments of pay are not valid. amount: Required Nothing was recorded.'),
      ...decided('act'),
      ...called('a', 'shop__find', '{}', 'green'),
    ];
    expect(doingsOf(rows, slugOf).decisions).toHaveLength(1);
    expect(['l', 'd', 'a', 'z'].map((id) => decidedBefore(rows, id, slugOf))).toEqual([0, 0, 1, null]);
  });

  it('differs where other tools were called, something else was decided or said', () => {
    const of = (rows: TranscriptRow[]) => doingsOf(rows, slugOf);
    expect(differencesOf(of(decided('act')), of(decided('act', 'Pay it back')))).toEqual([]);
    expect(differencesOf(of(decided('act')), of(decided('no_act')))).toEqual(['decisions']);
    // A tool is named by its slug, or as models call it.
    expect(differencesOf(of(decided('act')), of(decided('act', 'Refund it', 'shop__find')))).toEqual([]);
    expect(differencesOf(of(decided('act')), of(decided('act', 'Refund it', 'other')))).toEqual(['decisions']);
    expect(differencesOf(of(decided('act')), of([row('assistant', 'No.')]))).toEqual(['tools', 'decisions', 'final_text']);
  });
});

describe('a verdict', () => {
  const checked: CheckedDecision = {
    ...{ decision_id: 'd', turn_id: 't', tool_call_id: 'c', set: 'regression', kind: 'act', basis: 'Rule 1', summary: 'Refund it' },
    ...{ should_have: 'Ask', should_have_kind: 'escalate' },
  };
  const now = { kind: 'escalate', basis: 'Rule 2', summary: 'Ask', tool_slug: null } as const;

  it('goes by kinds where they are known, and by words else', () => {
    expect(verdictByKind(checked, now)).toBe('agrees');
    expect(verdictByKind(checked, { ...now, kind: 'act' })).toBe('differs');
    expect(verdictByKind(checked, undefined)).toBe('no_decision');
    expect(verdictByKind({ ...checked, should_have_kind: null }, now)).toBeNull();
    expect(verdictByKind({ ...checked, set: 'guard', should_have_kind: null }, now)).toBe('differs');
  });

  it.each([
    ['{"verdict":"agrees"}', 'agrees'],
    ['{"verdict":"differs"}', 'differs'],
    ['{"verdict":"unclear"}', 'unjudged'],
    ['It agrees.', 'unjudged'],
    ['null', 'unjudged'],
  ])('of a judge who says %s is %s', (text, verdict) => expect(judged(text)).toBe(verdict));
});
