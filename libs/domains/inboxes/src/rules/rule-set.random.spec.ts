import { randomly } from '@aps/platform/testing';
import type { MessageFacts } from './message-facts';
import { readRuleSet } from './rule-set.policy';
import { fieldKindOf, OPS_OF, VALUE_OF, type Condition, type Leaf, type RuleSet, type Scalar } from './rule-set.schema';
import { rulesOf, webhook } from './testing/facts';

/** Few words, so that rules and messages meet often. */
const WORDS = ['a', 'B', 'ab', 'Ab.c', 'b.c', 'x@B.c', 'y@ab.c', '1', '2', 'C', ''];
const NUMBERS = [0, 1, 2, 1.5, -1];
const FIELDS = [
  ...[
    'channel',
    'sender.address',
    'sender.domain',
    'sender.name',
    'recipient',
    'subject',
    'body.text',
    'attachments.count',
    'attachments.types',
  ],
  ...[
    'attachments.names',
    'headers.H',
    'headers.none',
    'payload.a',
    'payload.b.0',
    'payload.b',
    'payload.c.d',
    'auth.spf',
    'size_bytes',
    'tags',
  ],
];

/** Random rule sets and messages, the same in every run. */
class Generator {
  constructor(private readonly next: () => number) {}

  below = (bound: number) => Math.floor(this.next() * bound);
  pick = <T>(of: readonly T[]): T => of[this.below(of.length)];
  some = <T>(make: () => T, max = 3): T[] => Array.from({ length: 1 + this.below(max) }, make);
  word = () => this.pick(WORDS);
  maybe = () => (this.next() < 0.4 ? null : this.word());

  leaf = (): object => {
    const field = this.pick(FIELDS);
    const kind = fieldKindOf(field) ?? 'text';
    const op = this.pick(OPS_OF[kind]);
    const scalar = () => (kind === 'number' || (kind === 'any' && this.next() < 0.4) ? this.pick(NUMBERS) : this.word());
    const value = {
      scalar,
      scalars: () => this.some(scalar),
      fragment: () => this.word() || 'c',
      pattern: () => this.pick(['a', '^b', 'c$', '[ab]+', '(?:a|B)c?', '^$', '\\.', '^[0-9]+$']),
      flag: () => this.next() < 0.7,
      number: () => this.pick(NUMBERS),
      domains: () => this.some(() => this.pick(['b.c', 'C', 'ab.c', 'x.b.c'])),
    }[VALUE_OF[op]]();
    return { field, op, value };
  };
  condition = (depth = 0): object => {
    const inner = () => this.condition(depth + 1);
    const form = depth > 3 ? 9 : this.below(8);
    return form < 2 ? { any: this.some(inner) } : form < 4 ? { all: this.some(inner) } : form < 5 ? { not: inner() } : this.leaf();
  };
  definition = (): object => ({
    default: { action: this.pick(['accept', 'drop', 'quarantine', 'hold']) },
    stages: Array.from({ length: this.below(6) }, (_, i) => ({
      id: `s${i}`,
      kind: 'match',
      when: this.condition(),
      then: {
        action: this.pick(['accept', 'drop', 'quarantine', 'hold', 'continue', 'continue', 'continue']),
        tags: this.some(() => this.word() || 'a'),
      },
    })),
  });
  message = (): MessageFacts => ({
    ...webhook({
      a: this.pick([...WORDS, ...NUMBERS, true, null]),
      b: this.pick([[], [this.word(), 2, {}], 'b', { 0: 'ab' }]),
      c: this.pick([null, { d: this.word() }]),
    }),
    channel: this.pick(['email', 'webhook']),
    sender: this.next() < 0.3 ? null : { address: this.word(), name: this.maybe() },
    recipient: this.maybe(),
    subject: this.maybe(),
    body_text: this.word(),
    attachments: Array.from({ length: this.below(3) }, () => ({ filename: this.word(), media_type: this.word(), size_bytes: 1 })),
    headers: this.next() < 0.5 ? { h: this.word() } : {},
    auth: this.next() < 0.5 ? { spf: this.word(), dkim: 'none', dmarc: 'none' } : null,
    size_bytes: this.below(3),
    tags: Array.from({ length: this.below(3) }, this.word),
  });
}

/** All that a field holds, or null where the message lacks it. */
function heldBy(field: string, message: MessageFacts, tags: string[]): unknown[] | null {
  const { sender, recipient, subject, attachments, headers, auth, payload } = message;
  const { a, b, c } = payload as { a: unknown; b: unknown; c: { d: unknown } | null };
  const written = (value: unknown) => (value === null || value === undefined || value === '' ? null : [value]);
  const listed = (values: string[]) => (values.length ? values : null);
  const given = (value: unknown) =>
    value === null || value === undefined ? null : [value].flat().filter((each) => typeof each !== 'object');
  return {
    channel: [message.channel],
    'sender.address': written(sender?.address),
    'sender.domain': written(sender?.address.split('@')[1]),
    'sender.name': written(sender?.name),
    recipient: written(recipient),
    subject: written(subject),
    'body.text': written(message.body_text),
    'attachments.count': [attachments.length],
    'attachments.types': listed(attachments.map((each) => each.media_type)),
    'attachments.names': listed(attachments.map((each) => each.filename)),
    'headers.H': given(headers.h),
    'headers.none': null,
    'payload.a': given(a),
    'payload.b': given(b),
    'payload.b.0': given(typeof b === 'object' ? (b as Record<number, unknown>)[0] : null),
    'payload.c.d': given(c?.d),
    'auth.spf': written(auth?.spf),
    size_bytes: [message.size_bytes],
    tags: listed(tags),
  }[field] as unknown[] | null;
}

const folded = (value: unknown) => String(value).toLowerCase();
const numeric = (value: unknown) => (typeof value === 'number' || /^[0-9]+$/.test(String(value)) ? Number(value) : NaN);
const isSame = (held: unknown, value: Scalar) => (typeof value === 'number' ? numeric(held) === value : folded(held) === folded(value));

function leafHolds({ field, op, value }: Leaf, message: MessageFacts, tags: string[]): boolean {
  const held = heldBy(field, message, tags);
  if (op === 'exists') return (held !== null) === value;
  const values = [value].flat();
  const any = (holds: (each: unknown) => boolean) => held !== null && held.some(holds);
  if (op === 'neq' || op === 'not_in') return !any((each) => values.some((one) => isSame(each, one)));
  if (op === 'eq' || op === 'in') return any((each) => values.some((one) => isSame(each, one)));
  if (op === 'contains') return any((each) => folded(each).includes(folded(value)));
  if (op === 'not_contains') return !any((each) => folded(each).includes(folded(value)));
  if (op === 'starts_with') return any((each) => folded(each).startsWith(folded(value)));
  if (op === 'ends_with') return any((each) => folded(each).endsWith(folded(value)));
  if (op === 'matches') return any((each) => new RegExp(String(value)).test(String(each)));
  if (op === 'domain_in') return any((each) => values.some((one) => `.${folded(each).split('@').at(-1)}`.endsWith(`.${folded(one)}`)));
  const bound = Number(value);
  return any(
    (each) => ({ gt: numeric(each) > bound, gte: numeric(each) >= bound, lt: numeric(each) < bound, lte: numeric(each) <= bound })[op],
  );
}

function holds(condition: Condition, message: MessageFacts, tags: string[]): boolean {
  if ('any' in condition) return condition.any.some((inner) => holds(inner, message, tags));
  if ('all' in condition) return condition.all.every((inner) => holds(inner, message, tags));
  if ('not' in condition) return !holds(condition.not, message, tags);
  return leafHolds(condition, message, tags);
}

/** The rules as they are written down, without a thought of speed. */
function expectedOf({ stages, default: fallback }: RuleSet, message: MessageFacts) {
  const seen: string[] = [];
  let tags = [...new Set(message.tags)];
  for (const stage of stages) {
    if (stage.kind !== 'match') continue;
    const matched = holds(stage.when, message, tags);
    seen.push(`${stage.id} ${matched}`);
    if (!matched) continue;
    tags = [...new Set([...tags, ...stage.then.tags])];
    if (stage.then.action !== 'continue') return { seen, tags, by: stage.id, action: stage.then.action };
  }
  return { seen: [...seen, 'default true'], tags, by: 'default', action: fallback.action };
}

const VERDICTS = { accept: 'accepted', drop: 'dropped', quarantine: 'quarantined', hold: 'quarantined' };

describe('random rule sets', () => {
  it('decide over random messages as they are written', () => {
    const generator = new Generator(randomly(7));
    const deciders = new Set<string>();
    for (let i = 0; i < 1_500; i++) {
      const rules = rulesOf(generator.definition());
      for (let j = 0; j < 8; j++) {
        const message = generator.message();
        const { rows, tags, end } = rules.evaluate(message);
        const { seen, by, action, tags: expectedTags } = expectedOf(rules.ruleSet, message);
        const told = { i, message, ruleSet: rules.ruleSet };
        expect({ ...told, rows: rows.map(({ stage_id, matched }) => `${stage_id} ${matched}`), tags: [...new Set(tags)], end }).toEqual({
          ...told,
          rows: seen,
          tags: expectedTags,
          end: expect.objectContaining({ decided_by: by, verdict: VERDICTS[action] }) as unknown,
        });
        deciders.add(by);
      }
    }
    expect(deciders.size).toBe(6);
  });

  it('that something is done to are read, or refused with places in them', () => {
    const random = randomly(11);
    const generator = new Generator(random);
    const JUNK: unknown[] = [
      null,
      0,
      -1,
      1e308,
      Infinity,
      '',
      'x',
      '\0',
      '\ud800',
      true,
      [],
      {},
      [[]],
      { any: [] },
      JSON.parse('{"__proto__":{"a":1}}'),
    ];
    let refused = 0;
    for (let i = 0; i < 3_000; i++) {
      const definition = generator.definition();
      const objects: Record<string, unknown>[] = [];
      const walk = (value: unknown): void => {
        if (typeof value !== 'object' || value === null) return;
        objects.push(value as Record<string, unknown>);
        Object.values(value).forEach(walk);
      };
      walk(definition);
      const hit = generator.pick(objects);
      const keys = Object.keys(hit);
      const what = generator.below(3);
      if (what === 0) hit[generator.pick(keys)] = generator.pick(JUNK);
      else if (Array.isArray(hit)) hit.push(generator.pick(JUNK));
      else if (what === 1) delete hit[generator.pick(keys)];
      else hit[generator.pick(['x', '9', 'constructor', 'value', 'not'])] = generator.pick(JUNK);
      const read = readRuleSet(definition);
      if ('problems' in read) {
        refused++;
        for (const { loc, msg } of read.problems) expect([Array.isArray(loc), msg.length > 0]).toEqual([true, true]);
      } else rulesOf(definition).evaluate(generator.message());
    }
    expect(refused).toBeGreaterThan(1_500);
  });
});
