import { compile, type Asked } from './rule-set.compile';
import { EMPTY_RULE_SET, type ClassifierStage } from './rule-set.schema';
import { simulate } from './simulate.policy';
import { MAIL, rulesOf } from './testing/facts';
import { afterClassifier, answerOf, type ClassifierAnswer } from './verdict.policy';

const AGENT = { kind: 'agent', id: 'a1' };
const PROCESS = { kind: 'process', id: 'prc_1' };
const YES = { field: 'channel', op: 'eq', value: 'email' };
const NO = { field: 'channel', op: 'eq', value: 'webhook' };
const match = (id: string, when: unknown, then: object) => ({ id, kind: 'match', when, then });
const TRIAGE = {
  id: 'triage',
  kind: 'classifier',
  instruction: 'What is it?',
  labels: [
    { label: 'spam', action: 'drop' },
    { label: 'sales', action: 'accept', target: PROCESS, tags: ['sales'] },
    { label: 'unclear', action: 'hold' },
    { label: 'other', action: 'continue', tags: ['other'] },
  ],
  min_confidence: 0.6,
  below: 'quarantine',
  on_error: 'hold',
};

describe('stages', () => {
  it('are run in their order until the first that ends it', () => {
    const rules = rulesOf({
      stages: [
        match('no', NO, { action: 'drop' }),
        match('tag', YES, { action: 'continue', tags: ['a', 'vip'] }),
        match('asks', { field: 'tags', op: 'eq', value: 'a' }, { action: 'accept', target: AGENT, tags: ['b'] }),
        match('late', YES, { action: 'drop' }),
      ],
    });
    expect(rules.evaluate(MAIL)).toEqual({
      rows: [
        { stage_id: 'no', kind: 'match', matched: false, outcome: 'no_match', detail: null },
        { stage_id: 'tag', kind: 'match', matched: true, outcome: 'continue', detail: { tags: ['a', 'vip'] } },
        { stage_id: 'asks', kind: 'match', matched: true, outcome: 'accept', detail: { target: AGENT, tags: ['b'] } },
      ],
      tags: ['vip', 'EU', 'a', 'b'],
      end: { verdict: 'accepted', state: 'accepted', hold_reason: null, target: AGENT, decided_by: 'asks' },
    });
    expect(rules.evaluate({ ...MAIL, channel: 'webhook' }).end).toMatchObject({ decided_by: 'no' });
    expect([MAIL.tags, rules.evaluate(MAIL).rows.length]).toEqual([['vip', 'EU'], 3]);
  });

  it('see a tag only once it is there', () => {
    const tagged = { field: 'tags', op: 'eq', value: 'new' };
    const rules = rulesOf({
      stages: [
        match('a', tagged, { action: 'drop' }),
        match('b', YES, { action: 'continue', tags: ['new'] }),
        match('c', tagged, { action: 'hold' }),
      ],
    });
    expect(rules.evaluate(MAIL).end).toMatchObject({ decided_by: 'c' });
    expect(rules.evaluate(MAIL, 0, ['NEW']).end).toMatchObject({ decided_by: 'a' });
  });

  it.each<[object | undefined, object]>([
    [undefined, { verdict: 'accepted', state: 'accepted', hold_reason: null, target: null }],
    [
      { action: 'accept', target: PROCESS },
      { verdict: 'accepted', state: 'accepted', hold_reason: null, target: PROCESS },
    ],
    [{ action: 'drop' }, { verdict: 'dropped', state: 'dropped', hold_reason: null, target: null }],
    [{ action: 'quarantine' }, { verdict: 'quarantined', state: 'held', hold_reason: 'quarantined', target: null }],
    [{ action: 'hold' }, { verdict: 'quarantined', state: 'held', hold_reason: 'stage_hold', target: null }],
  ])('that decide nothing leave it to the default %j', (fallback, expected) => {
    const { rows, end } = rulesOf({
      default: fallback,
      stages: [match('a', NO, { action: 'drop' }), match('b', YES, { action: 'continue' })],
    }).evaluate(MAIL);
    expect(end).toEqual({ ...expected, decided_by: 'default' });
    expect(rows.map(({ stage_id, kind, matched }) => [stage_id, kind, matched])).toEqual([
      ['a', 'match', false],
      ['b', 'match', true],
      ['default', 'default', true],
    ]);
  });

  it('are none without a revision, which accepts everything', () =>
    expect(compile(EMPTY_RULE_SET).evaluate(MAIL).end).toEqual({
      verdict: 'accepted',
      state: 'accepted',
      hold_reason: null,
      target: null,
      decided_by: 'default',
    }));
});

describe('a classifier', () => {
  const rules = rulesOf({
    stages: [
      match('a', YES, { action: 'continue', tags: ['mail'] }),
      TRIAGE,
      match('b', { field: 'tags', op: 'in', value: ['other'] }, { action: 'drop' }),
    ],
  });
  const asked = rules.evaluate(MAIL);
  const { classifier, index } = asked.end as Asked;
  const after = (answer: ClassifierAnswer | null, more: Partial<ClassifierStage> = {}) =>
    afterClassifier({ ...classifier, ...more }, answer, asked.tags);

  it('is asked when its turn comes', () => {
    expect([classifier.id, index, asked.rows.map(({ stage_id }) => stage_id), asked.tags]).toEqual([
      'triage',
      1,
      ['a'],
      ['vip', 'EU', 'mail'],
    ]);
  });

  it.each<[string, ClassifierAnswer | null, object]>([
    ['a label that drops', { label: 'spam', confidence: 0.9 }, { verdict: 'dropped', state: 'dropped', hold_reason: null, target: null }],
    [
      'a label with a target',
      { label: 'sales', confidence: 0.6 },
      { verdict: 'accepted', state: 'accepted', hold_reason: null, target: PROCESS },
    ],
    [
      'a label that holds',
      { label: 'unclear', confidence: 1 },
      { verdict: 'quarantined', state: 'held', hold_reason: 'stage_hold', target: null },
    ],
    [
      'too little confidence',
      { label: 'sales', confidence: 0.59 },
      { verdict: 'quarantined', state: 'held', hold_reason: 'low_confidence', target: null },
    ],
    ['no answer', null, { verdict: 'quarantined', state: 'held', hold_reason: 'classifier_error', target: null }],
    [
      'a label of another',
      { label: 'toString', confidence: 1 },
      { verdict: 'quarantined', state: 'held', hold_reason: 'classifier_error', target: null },
    ],
  ])('decides by %s', (_, answer, expected) => expect(after(answer).verdict).toEqual({ ...expected, decided_by: 'triage' }));

  it('adds what its label adds, and nothing of one that it is not sure of', () => {
    expect(after({ label: 'sales', confidence: 1 })).toMatchObject({
      row: { stage_id: 'triage', kind: 'classifier', matched: true, outcome: 'accept', detail: { target: PROCESS, tags: ['sales'] } },
      tags: ['vip', 'EU', 'mail', 'sales'],
    });
    expect(after({ label: 'sales', confidence: 0 })).toMatchObject({
      row: { matched: false, outcome: 'quarantine', detail: { reason: 'low_confidence' } },
      tags: ['vip', 'EU', 'mail'],
    });
    expect(after({ label: 'sales', confidence: 0 }, { below: 'accept' }).verdict).toMatchObject({
      verdict: 'accepted',
      target: null,
      hold_reason: null,
    });
    expect(after(null, { on_error: 'drop' }).verdict).toMatchObject({ verdict: 'dropped', hold_reason: null });
  });

  it('hands on what continues', () => {
    const on = after({ label: 'other', confidence: 1 });
    expect(on.verdict).toBeNull();
    expect(rules.evaluate(MAIL, index + 1, on.tags)).toMatchObject({
      rows: [{ stage_id: 'b' }],
      end: { verdict: 'dropped', decided_by: 'b' },
      tags: ['vip', 'EU', 'mail', 'other'],
    });
    expect(after(null, { on_error: 'continue' }).verdict).toBeNull();
  });

  it.each<[unknown, boolean]>([
    [{ label: 'spam', confidence: 0 }, true],
    [{ label: 'spam', confidence: 1, more: 'x' }, true],
    [{ label: 'SPAM', confidence: 1 }, false],
    [{ label: 'spam', confidence: 1.1 }, false],
    [{ label: 'spam', confidence: -0.1 }, false],
    [{ label: 'spam', confidence: NaN }, false],
    [{ label: 'spam', confidence: '1' }, false],
    [{ label: 'spam' }, false],
    [{ confidence: 1 }, false],
    ['spam', false],
    [null, false],
    [[], false],
  ])('has answered by %j: %s', (answer, expected) => expect(answerOf(classifier, answer) !== null).toBe(expected));
});

describe('a simulation', () => {
  const rules = rulesOf({ stages: [TRIAGE, { ...TRIAGE, id: 'again' }] });
  const said = (...answers: [string, ClassifierAnswer][]) => simulate(MAIL, new Map(answers), rules);
  it('takes what classifiers have said, and asks none', () => {
    const first = { end: null, recorded: 0, missing: { id: 'triage' } };
    expect(said()).toMatchObject(first);
    expect(said(['triage', { label: 'spam', confidence: 1 }])).toEqual({
      end: { verdict: 'dropped', state: 'dropped', decided_by: 'triage', target: null },
      recorded: 1,
      missing: null,
    });
    expect(said(['triage', { label: 'other', confidence: 1 }])).toMatchObject({ end: null, recorded: 1, missing: { id: 'again' } });
    expect(said(['triage', { label: 'other', confidence: 1 }], ['again', { label: 'sales', confidence: 1 }])).toEqual({
      end: { verdict: 'accepted', state: 'accepted', decided_by: 'again', target: PROCESS },
      recorded: 2,
      missing: null,
    });
    expect(said(['triage', { label: 'sales', confidence: 0.1 }]).end).toMatchObject({ state: 'held', decided_by: 'triage' });
    expect(said(['triage', { label: 'gone', confidence: 1 }])).toMatchObject(first);
    expect(simulate(MAIL, new Map(), rulesOf({ default: { action: 'drop' } })).end).toMatchObject({
      verdict: 'dropped',
      decided_by: 'default',
    });
  });
});
