import { MAX_BYTES, MAX_DEPTH, MAX_LEAVES, readRuleSet } from './rule-set.policy';
import { FIELD_NAMES, fieldKindOf, OPS, OPS_OF, VALUE_OF, type Op } from './rule-set.schema';
import { ruleSetOf } from './testing/facts';

const ACCEPT = { action: 'accept' };
const LEAF = { field: 'subject', op: 'contains', value: 'x' };
const match = (when: unknown, then: unknown = ACCEPT, id = 'a') => ({ id, kind: 'match', when, then });
const classifier = (more: object = {}) => ({
  id: 'c',
  kind: 'classifier',
  instruction: 'What?',
  labels: [{ label: 'a', action: 'drop' }],
  ...more,
});

const problemsOf = (definition: unknown) => {
  const read = readRuleSet(definition);
  return 'problems' in read ? read.problems : [];
};
const placesOf = (definition: unknown) => problemsOf(definition).map(({ loc }) => loc.join('.'));
const placesIn = (when: unknown) => placesOf({ stages: [match(when)] }).map((place) => place.replace(/^stages\.0\.when\.?/, ''));

/** A value that the op takes. */
const valueFor = (op: Op, kind: 'number' | 'text') => {
  const scalar = kind === 'number' ? 1 : 'x';
  return { scalar, scalars: [scalar], fragment: 'x', pattern: 'x+', flag: true, number: 1, domains: ['x.example'] }[VALUE_OF[op]];
};

describe('a definition', () => {
  it('is read as it is meant, with all that was left out', () => {
    const target = { kind: 'agent', id: '0190f3a5-7a2b-7c3d-8e4f-5a6b7c8d9e0f' };
    const when = {
      any: [{ field: 'sender.domain', op: 'in', value: ['acme.com'] }, { all: [LEAF, { not: { field: 'subject', op: 'exists' } }] }],
    };
    const labels = [
      { label: 'spam', action: 'drop' },
      { label: 'sales', action: 'accept', target: { kind: 'process', id: 'prc_x' }, tags: null },
    ];
    expect(
      ruleSetOf({
        stages: [
          match(when, { action: 'accept', target: { ...target, id: target.id.toUpperCase() }, tags: ['vip'] }, 'vip-1_a'),
          classifier({ labels, model: null, min_confidence: 0.6, below: 'quarantine' }),
        ],
        gates: { max_attachments: 0 },
      }),
    ).toEqual({
      schema_version: 1,
      default: { action: 'accept', target: null, tags: [] },
      gates: { auto_submitted: 'drop', dmarc_fail: 'accept', max_attachments: 0 },
      stages: [
        {
          id: 'vip-1_a',
          kind: 'match',
          when: { any: [when.any[0], { all: [LEAF, { not: { field: 'subject', op: 'exists', value: true } }] }] },
          then: { action: 'accept', target, tags: ['vip'] },
        },
        {
          id: 'c',
          kind: 'classifier',
          instruction: 'What?',
          labels: [
            { label: 'spam', action: 'drop', target: null, tags: [] },
            { label: 'sales', action: 'accept', target: { kind: 'process', id: 'prc_x' }, tags: [] },
          ],
          model: null,
          min_confidence: 0.6,
          below: 'quarantine',
          on_error: 'hold',
        },
      ],
    });
    expect(ruleSetOf({})).toEqual({ ...ruleSetOf({ schema_version: 1, default: ACCEPT, stages: [] }), stages: [] });
  });

  it.each<[string, unknown, string[]]>([
    ['no object', [], ['']],
    ['null', null, ['']],
    ['a text', 'x', ['']],
    ['unknown keys', { stagess: [], default: { action: 'accept', x: 1 }, gates: { spam: 'drop' } }, ['stagess', 'default.x', 'gates.spam']],
    ['another version', { schema_version: 2 }, ['schema_version']],
    ['a version in a text', { schema_version: '1' }, ['schema_version']],
    ['a default that goes on', { default: { action: 'continue' } }, ['default.action']],
    ['a default without action', { default: {} }, ['default.action']],
    [
      'gates',
      { gates: { auto_submitted: 'hold', dmarc_fail: 1, max_attachments: -1 } },
      ['gates.auto_submitted', 'gates.dmarc_fail', 'gates.max_attachments'],
    ],
    ['a fraction of attachments', { gates: { max_attachments: 1.5 } }, ['gates.max_attachments']],
    ['stages that are none', { stages: {} }, ['stages']],
    [
      'stages without kind or with another',
      { stages: [{ id: 'a', when: LEAF, then: ACCEPT }, { id: 'b', kind: 'agent' }, null, 7] },
      ['stages.0.kind', 'stages.1.kind', 'stages.2', 'stages.3'],
    ],
    ['51 stages', { stages: Array.from({ length: 51 }, (_, i) => match(LEAF, ACCEPT, `a${i}`)) }, ['stages']],
    [
      'ids',
      { stages: ['A', '1', '', 'a b', `a${'b'.repeat(64)}`, 'é', 5].map((id) => match(LEAF, ACCEPT, id as string)) },
      Array.from({ length: 7 }, (_, i) => `stages.${i}.id`),
    ],
    ['an id twice', { stages: [match(LEAF), match(LEAF, ACCEPT, 'b'), match(LEAF)] }, ['stages.2.id']],
    [
      'a stage with nothing in it',
      { stages: [{ kind: 'match' }, { kind: 'classifier' }] },
      ['0.id', '0.when', '0.then', '1.id', '1.instruction', '1.labels'].map((place) => `stages.${place}`),
    ],
    [
      'a target of what is not accepted',
      { stages: [match(LEAF, { action: 'drop', target: { kind: 'agent', id: 'x' } })] },
      ['stages.0.then.target'],
    ],
    [
      'targets',
      { default: { action: 'accept', target: { kind: 'team', id: 7, x: 1 } } },
      ['default.target.x', 'default.target.kind', 'default.target.id'],
    ],
    [
      'tags',
      { default: { action: 'accept', tags: ['', ' a', 'x'.repeat(65), 1, 'ok'] } },
      ['0', '1', '2', '3'].map((i) => `default.tags.${i}`),
    ],
    [
      'a classifier',
      { stages: [classifier({ labels: [], model: 1, min_confidence: 1.1, below: 'skip', on_error: null, then: ACCEPT })] },
      ['then', 'labels', 'model', 'min_confidence', 'below'].map((key) => `stages.0.${key}`),
    ],
    [
      'labels',
      {
        stages: [
          classifier({
            labels: [
              { label: 'a', action: 'drop' },
              { label: 'a', action: 'hold', target: { kind: 'agent', id: 'x' } },
              { action: 'x' },
              'b',
            ],
          }),
        ],
      },
      ['1.target', '2.label', '2.action', '3', '1.label'].map((place) => `stages.0.labels.${place}`),
    ],
    [
      'NUL and half a pair',
      { stages: [classifier({ instruction: 'a\0', labels: [{ label: 'a\ud800', action: 'drop' }] })] },
      ['stages.0.labels.0.label', 'stages.0.instruction'],
    ],
  ])('has all its problems told with their places: %s', (_, definition, places) => expect(placesOf(definition)).toEqual(places));

  it.each<[unknown, string[]]>([
    [{}, ['field', 'op']],
    [[], ['']],
    [7, ['']],
    [{ any: [] }, ['any']],
    [{ all: {} }, ['all']],
    [{ not: [LEAF] }, ['not']],
    [{ not: null }, ['not']],
    [{ any: [LEAF], all: [LEAF] }, ['all']],
    [{ not: LEAF, field: 'subject' }, ['field']],
    [{ any: [LEAF, { ...LEAF, op: 'like' }, { ...LEAF, feild: 1 }] }, ['any.1.op', 'any.2.feild']],
    [{ field: 'subject', op: 'contains' }, ['value']],
    [{ field: 'subject', op: 'contains', value: '' }, ['value']],
    [{ field: 'subject', op: 'contains', value: 'x'.repeat(251) }, ['value']],
    [{ field: 'subject', op: 'contains', value: ['x'] }, ['value']],
    [{ field: 'subject', op: 'eq', value: 1 }, ['value']],
    [{ field: 'subject', op: 'eq', value: 'a\0' }, ['value']],
    [{ field: 'subject', op: 'in', value: 'x' }, ['value']],
    [{ field: 'subject', op: 'in', value: [] }, ['value']],
    [{ field: 'subject', op: 'in', value: ['x', 1, null, '\ud800'] }, ['value.1', 'value.2', 'value.3']],
    [{ field: 'subject', op: 'exists', value: 'yes' }, ['value']],
    [{ field: 'subject', op: 'gt', value: 1 }, ['op']],
    [{ field: 'attachments.count', op: 'contains', value: '1' }, ['op']],
    [{ field: 'attachments.count', op: 'eq', value: '1' }, ['value']],
    [{ field: 'size_bytes', op: 'gt', value: 1e300 }, ['value']],
    [{ field: 'size_bytes', op: 'gt', value: Infinity }, ['value']],
    [{ field: 'size_bytes', op: 'gt', value: NaN }, ['value']],
    [{ field: 'payload.a', op: 'eq', value: { a: 1 } }, ['value']],
    [{ field: 'payload.a', op: 'eq', value: null }, ['value']],
    [
      { field: 'sender.address', op: 'domain_in', value: ['@acme.com', 'a..b', 'acme.com.', ' a', 'acme.com'] },
      ['value.0', 'value.1', 'value.2', 'value.3'],
    ],
    ...[
      'Subject',
      'subject ',
      'headers.',
      'headers.a b',
      'headers.ä',
      'payload',
      'payload.',
      'payload.a..b',
      'payload.a[0]',
      'payload.a b',
      '__proto__',
    ].map((field): [unknown, string[]] => [{ field, op: 'eq', value: 'x' }, ['field']]),
  ])('has conditions of which %j is none', (when, places) => expect(placesIn(when)).toEqual(places));

  it.each(FIELD_NAMES)('takes of %s the ops that it has, and no others', (name) => {
    const field = name.replace('<name>', 'X-Y').replace('<path>', 'a.0.b-c_d$');
    const kind = fieldKindOf(field);
    for (const op of OPS) {
      const taken = kind !== null && OPS_OF[kind].includes(op);
      const places = placesIn({ field, op, value: valueFor(op, kind === 'number' ? 'number' : 'text') });
      expect([op, places]).toEqual([op, taken ? [] : ['op']]);
    }
  });
});

describe('a hostile definition', () => {
  const nested = (levels: number): unknown => {
    let when: unknown = LEAF;
    for (let i = 1; i < levels; i++) when = { not: when };
    return when;
  };
  const flat = (leaves: number) => ({ any: Array.from({ length: leaves }, () => LEAF) });
  const parsed = (text: string): unknown => JSON.parse(text);

  it('is bounded in depth, comparisons and bytes', () => {
    expect(placesIn(nested(MAX_DEPTH))).toEqual([]);
    expect(placesIn(nested(MAX_DEPTH + 1))).toEqual([Array.from({ length: MAX_DEPTH }, () => 'not').join('.')]);
    expect(placesOf({ stages: [match(flat(MAX_LEAVES - 1)), match(LEAF, ACCEPT, 'b')] })).toEqual([]);
    expect(placesOf({ stages: [match(flat(MAX_LEAVES)), match(LEAF, ACCEPT, 'b')] })).toEqual(['stages']);
    const sized = (bytes: number) => ({ stages: [match({ field: 'subject', op: 'in', value: Array.from({ length: bytes }, () => 'é') })] });
    const fits = Math.floor((MAX_BYTES - JSON.stringify(sized(0)).length) / 5);
    expect([placesOf(sized(fits)), placesOf(sized(fits + 2))]).toEqual([[], ['']]);
  });

  it.each<[string, unknown]>([
    ['lists 10,000 deep', parsed('['.repeat(10_000) + ']'.repeat(10_000))],
    ['conditions 10,000 deep', { stages: [match(nested(10_000))] }],
    ['conditions 1,000,000 deep', { stages: [match(nested(1_000_000))] }],
    [
      'keys of every object',
      parsed(
        '{"__proto__":{"stages":[]},"constructor":{"prototype":{}},"toJSON":1,"hasOwnProperty":0,"stages":[{"__proto__":{"kind":"match"}}]}',
      ),
    ],
    [
      'its own end',
      (() => {
        const round: Record<string, unknown> = {};
        round.stages = [round];
        return round;
      })(),
    ],
    ['10,000 unknown keys', Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i]))],
    ['60,000 stages', { stages: Array.from({ length: 60_000 }, () => 1) }],
    ['a long key', { ['x'.repeat(100_000)]: 1 }],
    ['a megabyte', { stages: 'x'.repeat(1_000_000) }],
  ])('is refused at once: %s', (_, definition) => {
    const problems = problemsOf(definition);
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(problems).length).toBeLessThan(50_000);
  });

  it('leaves nothing behind', () => {
    problemsOf(parsed('{"__proto__":{"polluted":1},"gates":{"__proto__":{"max_attachments":1}}}'));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
