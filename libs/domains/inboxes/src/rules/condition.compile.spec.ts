import type { MessageFacts } from './message-facts';
import { MAIL, rulesOf, webhook } from './testing/facts';

const holds = (when: unknown, facts: MessageFacts = MAIL): boolean =>
  rulesOf({ stages: [{ id: 'a', kind: 'match', when, then: { action: 'drop' } }] }).evaluate(facts).rows[0].matched;

/** field, op, value, whether it holds of {@link MAIL} */
type Case = [string, string, unknown, boolean];

const BARE = webhook(null);
const LACKING: Record<string, boolean> = { neq: true, not_in: true, not_contains: true };

describe('an op', () => {
  it.each<Case>([
    ['channel', 'eq', 'EMAIL', true],
    ['channel', 'neq', 'webhook', true],
    ['subject', 'eq', 'your invoice of may', true],
    ['subject', 'eq', 'invoice', false],
    ['subject', 'neq', 'YOUR INVOICE OF MAY', false],
    ['subject', 'in', ['x', 'Your invoice of May'], true],
    ['subject', 'in', ['x', 'invoice'], false],
    ['subject', 'not_in', ['x', 'YOUR invoice of May'], false],
    ['subject', 'not_in', ['invoice'], true],
    ['subject', 'contains', 'Invoice', true],
    ['subject', 'contains', 'receipt', false],
    ['subject', 'not_contains', 'invoice', false],
    ['subject', 'not_contains', 'receipt', true],
    ['subject', 'starts_with', 'YOUR', true],
    ['subject', 'starts_with', 'invoice', false],
    ['subject', 'ends_with', 'of MAY', true],
    ['subject', 'ends_with', 'invoice', false],
    ['subject', 'matches', 'INV[A-Z]+ of', true],
    ['subject', 'matches', 'invoice', false],
    ['subject', 'matches', '(?i)invoice', true],
    ['subject', 'matches', '^Your .* May$', true],
    ['subject', 'matches', '^INVOICE', false],
    ['subject', 'exists', undefined, true],
    ['subject', 'exists', true, true],
    ['subject', 'exists', false, false],
    ['sender.address', 'eq', 'ADA@mail.acme.com', true],
    ['sender.name', 'contains', 'lovelace', true],
    ['sender.domain', 'eq', 'mail.acme.com', true],
    ['sender.domain', 'eq', 'acme.com', false],
    ['sender.domain', 'domain_in', ['x.example', 'ACME.com'], true],
    ['sender.domain', 'domain_in', ['mail.acme.com'], true],
    ['sender.domain', 'domain_in', ['me.com', 'cme.com', 'x.mail.acme.com'], false],
    ['sender.address', 'domain_in', ['acme.com'], true],
    ['sender.address', 'domain_in', ['com'], true],
    ['sender.address', 'domain_in', ['ada', 'acme.co'], false],
    ['recipient', 'domain_in', ['acme.example'], true],
    ['recipient', 'contains', '+EU@', true],
    ['headers.Reply-To', 'contains', 'ADA', true],
    ['headers.reply-to', 'domain_in', ['acme.com'], true],
    ['headers.X-SPAM-score', 'gt', 7, true],
    ['headers.x-spam-score', 'eq', '7.5', true],
    ['headers.x-spam-score', 'eq', 7.5, true],
    ['headers.x-spam-score', 'lt', 7.5, false],
    ['headers.x-empty', 'exists', true, true],
    ['headers.x-empty', 'eq', '', true],
    ['headers.constructor', 'exists', true, false],
    ['body.text', 'contains', 'invoice 4711', true],
    ['body.text', 'matches', '\\d{4}', true],
    ['attachments.count', 'eq', 2, true],
    ['attachments.count', 'neq', 2, false],
    ['attachments.count', 'in', [1, 2], true],
    ['attachments.count', 'not_in', [1, 2], false],
    ['attachments.count', 'gt', 2, false],
    ['attachments.count', 'gte', 2, true],
    ['attachments.count', 'lt', 2, false],
    ['attachments.count', 'lte', 2, true],
    ['attachments.types', 'eq', 'image/PNG', true],
    ['attachments.types', 'neq', 'image/png', false],
    ['attachments.types', 'neq', 'text/html', true],
    ['attachments.types', 'starts_with', 'image/', true],
    ['attachments.types', 'in', ['text/html', 'application/pdf'], true],
    ['attachments.types', 'not_in', ['text/html', 'application/pdf'], false],
    ['attachments.names', 'ends_with', '.pdf', true],
    ['attachments.names', 'matches', '\\.pdf$', false],
    ['attachments.names', 'contains', 'png', true],
    ['attachments.names', 'not_contains', 'png', false],
    ['auth.spf', 'eq', 'pass', true],
    ['auth.dkim', 'in', ['fail', 'none'], true],
    ['auth.dmarc', 'neq', 'pass', true],
    ['size_bytes', 'gt', 4_095, true],
    ['size_bytes', 'exists', true, true],
    ['tags', 'eq', 'VIP', true],
    ['tags', 'in', ['x', 'eu'], true],
    ['tags', 'not_in', ['x'], true],
    ['tags', 'contains', 'ip', true],
    ['payload.a', 'exists', true, false],
  ])('of a mail: %s %s %j is %s', (field, op, value, expected) => expect(holds({ field, op, value })).toBe(expected));

  const TEXT_OPS = {
    eq: 'x',
    neq: 'x',
    in: ['x'],
    not_in: ['x'],
    contains: 'x',
    not_contains: 'x',
    starts_with: 'x',
    ends_with: 'x',
    matches: '.*',
    exists: true,
  };
  const NUMBER_OPS = { gt: -1, gte: 0, lt: 1, lte: 0 };
  it.each([
    'sender.address',
    'sender.domain',
    'sender.name',
    'recipient',
    'subject',
    'body.text',
    'attachments.types',
    'attachments.names',
    'headers.x',
    'payload.x',
    'auth.spf',
    'auth.dkim',
    'auth.dmarc',
    'tags',
  ])('of %s, which the message lacks, holds when it says what is not', (field) => {
    const others = field.includes('.x') ? { ...NUMBER_OPS, domain_in: ['x'] } : {};
    for (const [op, value] of Object.entries({ ...TEXT_OPS, ...others }))
      expect([op, holds({ field, op, value }, BARE)]).toEqual([op, LACKING[op] ?? false]);
    expect(holds({ field, op: 'exists', value: false }, BARE)).toBe(true);
    expect(holds({ not: { field, op: 'exists' } }, BARE)).toBe(true);
  });

  it('finds no domain in a sender that has none, and one of another alphabet in both its forms', () => {
    const from = (address: string) => ({ ...BARE, sender: { address, name: null } });
    expect(holds({ field: 'sender.domain', op: 'exists' }, from('acme.com'))).toBe(false);
    expect(holds({ field: 'sender.address', op: 'domain_in', value: ['acme.com'] }, from('shop.acme.com'))).toBe(true);
    for (const value of ['GRÖßE.example', 'xn--gre-6ka8i.example'])
      expect(holds({ field: 'sender.address', op: 'domain_in', value: [value] }, from('a@mail.xn--gre-6ka8i.example'))).toBe(true);
    expect(holds({ field: 'headers.from', op: 'domain_in', value: ['acme.com'] }, { ...BARE, headers: { from: 'A <a@acme.com>' } })).toBe(
      true,
    );
  });

  it.each<[string, string, unknown, boolean]>([
    ['n', 'eq', 12, true],
    ['n', 'eq', '12', true],
    ['n', 'gt', 11.5, true],
    ['n', 'in', [1, 12], true],
    ['n', 'starts_with', '1', true],
    ['text', 'eq', 12, true],
    ['text', 'eq', '12.0', true],
    ['text', 'gt', 11, true],
    ['text', 'neq', 12, false],
    ['word', 'gt', 0, false],
    ['word', 'lt', 0, false],
    ['word', 'neq', 1, true],
    ['word', 'matches', '^Open$', true],
    ['yes', 'eq', true, true],
    ['yes', 'eq', 'TRUE', true],
    ['yes', 'neq', false, true],
    ['no', 'exists', true, true],
    ['null', 'exists', true, false],
    ['empty', 'exists', true, true],
    ['empty', 'eq', '', true],
    ['list', 'exists', true, true],
    ['list', 'contains', 'bug', true],
    ['list', 'in', ['x', 3], true],
    ['list', 'gt', 2, true],
    ['list', 'not_in', ['Bug'], false],
    ['list.0', 'eq', 'bug', true],
    ['list.1', 'eq', 3, true],
    ['list.9', 'exists', true, false],
    ['list.length', 'exists', true, false],
    ['list.-1', 'exists', true, false],
    ['none', 'exists', true, true],
    ['none', 'neq', 'x', true],
    ['object', 'exists', true, true],
    ['object', 'eq', '[object Object]', false],
    ['object.deep.0.$id', 'eq', 'a', true],
    ['object.Deep', 'exists', true, false],
    ['text.length', 'exists', true, false],
    ['constructor.name', 'exists', true, false],
    ['__proto__.toString', 'exists', true, false],
    ['hasOwnProperty', 'eq', 1, true],
  ])('of a payload: %s %s %j is %s', (path, op, value, expected) => {
    const payload = {
      ...{ n: 12, text: '12.0', word: 'Open', yes: true, no: false, null: null, empty: '', list: ['bug', 3, {}, null], none: [] },
      ...{ object: { deep: [{ $id: 'a' }] }, hasOwnProperty: 1 },
    };
    expect(holds({ field: `payload.${path}`, op, value }, webhook(payload))).toBe(expected);
  });

  it.each([null, 'text', 7, [], undefined])('of a payload that is %j finds nothing', (payload) =>
    expect(holds({ field: 'payload.a.b', op: 'exists' }, webhook(payload))).toBe(false),
  );
});

describe('conditions', () => {
  const YES = { field: 'channel', op: 'eq', value: 'email' };
  const NO = { field: 'channel', op: 'eq', value: 'webhook' };
  it.each<[unknown, boolean]>([
    [{ any: [NO, YES] }, true],
    [{ any: [NO, NO] }, false],
    [{ all: [YES, YES] }, true],
    [{ all: [YES, NO] }, false],
    [{ not: NO }, true],
    [{ not: { any: [NO, { all: [YES, { not: NO }] }] } }, false],
  ])('%j is %s', (when, expected) => expect(holds(when)).toBe(expected));
});

describe('hostile messages', () => {
  const body = (text: string) => ({ ...MAIL, body_text: text });

  it.each<[string, unknown, MessageFacts]>([
    ['a pattern that others go back over', { field: 'body.text', op: 'matches', value: '(a+)+$' }, body(`${'a'.repeat(60_000)}!`)],
    [
      'one that makes states without end',
      { field: 'body.text', op: 'matches', value: '[ab]*a[ab]{100}[QR]' },
      body('abbabaab'.repeat(12_500)),
    ],
    [
      'text that is almost what is looked for',
      { field: 'body.text', op: 'contains', value: `${'a'.repeat(125)}b${'a'.repeat(124)}` },
      body('a'.repeat(1_000_000)),
    ],
    [
      'a domain of dots',
      { field: 'sender.address', op: 'domain_in', value: ['x'] },
      { ...MAIL, sender: { address: `a@${'.'.repeat(1_000_000)}`, name: null } },
    ],
    [
      'a million of elements',
      { field: 'payload.a', op: 'in', value: ['x', 2] },
      webhook({ a: Array.from({ length: 1_000_000 }, () => 1) }),
    ],
    ['a number of many digits', { field: 'payload.a', op: 'gt', value: 2 }, webhook({ a: '1'.repeat(1_000_000) })],
    ['half a pair', { field: 'body.text', op: 'matches', value: '^\\x{D83D}a$' }, body('\ud83d')],
  ])('come to an end: %s', (_, when, facts) => expect(holds(when, facts)).toBe(false));

  it('are searched to the bound of a message, all elements of a list together', () => {
    const found = { field: 'body.text', op: 'matches', value: 'needle' };
    for (const when of [found, { ...found, op: 'contains' }]) {
      expect(holds(when, body(`${'x'.repeat(99_994)}needle`))).toBe(true);
      expect(holds(when, body(`${'x'.repeat(100_000)}needle`))).toBe(false);
    }
    expect(holds({ ...found, op: 'ends_with' }, body(`${'x'.repeat(100_000)}needle`))).toBe(true);
    const list = { ...found, field: 'payload.a' };
    expect(holds(list, webhook({ a: ['x'.repeat(60_000), 'x'.repeat(30_000), 'needle'] }))).toBe(true);
    expect(holds(list, webhook({ a: ['x'.repeat(60_000), 'x'.repeat(40_000), 'needle'] }))).toBe(false);
  });
});
