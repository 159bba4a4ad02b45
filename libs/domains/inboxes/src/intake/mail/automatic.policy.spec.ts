import { automaticOf } from './automatic.policy';

const asked = (headers: Record<string, string[]>, mailFrom: string | null = 'a@example.com') =>
  automaticOf((name) => headers[name] ?? [], mailFrom);

it.each([
  ['auto-submitted', { 'auto-submitted': ['auto-replied; owner-email="a@b.c"'] }],
  ['auto-submitted', { 'auto-submitted': ['No', ' Auto-Generated'] }],
  ['report', { 'content-type': ['multipart/report; report-type=delivery-status'] }],
  ['bulk', { precedence: ['Bulk'] }],
  ['auto_reply', { precedence: ['first-class', 'auto_reply'] }],
  ['auto-response-suppress', { 'x-auto-response-suppress': ['All'] }],
  ['null-sender', { 'return-path': [' <> '] }],
  ['loop', { received: Array.from({ length: 31 }, () => 'by x') }],
  [null, { received: Array.from({ length: 30 }, () => 'by x') }],
  [
    null,
    {
      'auto-submitted': ['no (a human)', ''],
      precedence: ['first-class'],
      'content-type': ['text/plain; report=multipart/report'],
      'return-path': ['<a@b.c>'],
    },
  ],
])('a mail is automatic as %s', (word, headers) => {
  expect(asked(headers as Record<string, string[]>, null)).toBe(word);
});

it('a mail of the null sender is automatic, and its door knows that better than a header', () => {
  expect([asked({}, ''), asked({}, null), asked({ 'return-path': ['<>'] }, 'a@b.example')]).toEqual(['null-sender', null, null]);
});
