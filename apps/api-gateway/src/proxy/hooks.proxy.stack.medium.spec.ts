import http from 'node:http';
import { BillingModule } from '@aps/billing';
import { IntakeModule } from '@aps/inboxes';
import { DoorsModule } from '@aps/inboxes/http';
import { outcome } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { ProxyModule } from '.';

const CREDENTIALS = 'inbound:a-password';

describe('the way of mail through the gateway', () => {
  const t = testService([...BASE_MODULES, BillingModule, ProxyModule], {
    settings: {
      SMTP_LISTEN_PORT: '0',
      INBOUND_EMAIL_DOMAIN: 'inbound.example',
      INBOUND_EMAIL_SECRET_POSTMARK: CREDENTIALS,
      TRUST_PROXY: '1',
    },
  });
  beforeAll(async () => t.configure({ INBOX_INTAKE_URL: await t.serve([...BASE_MODULES, BillingModule, DoorsModule.over(IntakeModule)]) }));

  const body = { RawEmail: 'Subject: Hi\r\n\r\nHello', OriginalRecipient: 'nobody@acme.inbound.example' };
  const deliver = (headers: Record<string, string>) => t.call('POST', '/api/hooks/email/postmark', { body, headers });
  const authorization = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

  it('leaves a provider the password that it proves itself by', async () => {
    expect(outcome(await deliver({ authorization: authorization(CREDENTIALS) }))).toEqual([404, 'not_found']);
    expect(outcome(await deliver({ authorization: authorization('inbound:another') }))).toEqual([401, 'bad_signature']);
    expect(outcome(await deliver({}))).toEqual([401, 'bad_signature']);
  });

  it.each(['chunked', 'of a length that is told'])('takes a mail that is too large to be read whole: %s', async (form) => {
    const mail = JSON.stringify({ ...body, RawEmail: `${body.RawEmail}${'x'.repeat(6 * 1024 * 1024)}` });
    const headers = { authorization: authorization(CREDENTIALS), ...(form !== 'chunked' && { 'content-length': mail.length }) };
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) =>
      http.request(`${t.url}/api/hooks/email/postmark`, { method: 'POST', headers }, resolve).on('error', reject).end(mail),
    );
    // Of a recipient that there is not: it has been read to its end.
    expect([answer.statusCode, JSON.parse((await answer.toArray()).join(''))]).toEqual([
      404,
      expect.objectContaining({ code: 'not_found' }),
    ]);
  });

  it.each([
    ['webhooks', '/api/hooks/in/x', 1_000],
    ['large mails', '/api/hooks/email/postmark', 6 * 1024 * 1024],
  ])('is not held up by who sends many %s slowly, from many addresses', async (_, path, length) => {
    t.configure({ RATE_LIMITS: 'on', REDIS_PREFIX: `slow${Math.random().toString(36).slice(2)}` });
    // More than there are connections to the service behind. Those that are refused come last.
    const refused = new Map<http.ClientRequest, number>();
    const slow = await new Promise<http.ClientRequest[]>((resolve) => {
      const requests = Array.from({ length: 5 * 70 }, (_, i) => {
        const headers = { 'x-forwarded-for': `203.0.113.${i % 5}`, authorization: authorization(CREDENTIALS), 'content-length': length };
        const request = http.request(`${t.url}${path}`, { agent: false, method: 'POST', headers });
        request.on('response', ({ statusCode }) => refused.set(request, statusCode!).size === 5 * (70 - 64) && resolve(requests));
        request.on('error', () => undefined).write('{');
        return request;
      });
    });
    expect(new Set(refused.values())).toEqual(new Set([503]));
    for (let i = 0; i < 5; i++) expect(outcome(await deliver({ authorization: authorization(CREDENTIALS) }))).toEqual([404, 'not_found']);
    // None of them had its time over meanwhile.
    expect(slow.filter((request) => !request.destroyed && !refused.has(request))).toHaveLength(5 * 64);
    slow.forEach((request) => request.destroy());
    t.configure({ RATE_LIMITS: 'off' });
  });

  it('is not closed by the few addresses that send as much as they may, all but the last byte', async () => {
    // Four times a quarter of what is held for all, in bodies that are read whole.
    const sizes = [5, 5, 5, 1].map((mib) => mib * 1024 * 1024 - 1);
    const sent = Array.from({ length: 4 }, (_, i) =>
      sizes.map((size) => ({ size: size + (size < 2 ** 20 ? 4 : 0), from: `203.0.113.${i}` })),
    );
    const open = await Promise.all(
      sent.flat().map(async ({ size, from }) => {
        const headers = { 'x-forwarded-for': from, 'content-length': size + 1 };
        const request = http.request(`${t.url}/api/hooks/in/x`, { agent: false, method: 'POST', headers });
        await new Promise((resolve) => request.on('error', resolve).on('response', resolve).write(Buffer.alloc(size), resolve));
        return request;
      }),
    );
    const hook = () => t.call('POST', '/api/hooks/in/x', { body, headers: { 'x-forwarded-for': '198.51.100.1' } });
    for (let i = 0; i < 20; i++) expect(outcome(await hook())).toEqual([404, 'not_found']);
    expect(outcome(await deliver({ authorization: authorization(CREDENTIALS) }))).toEqual([404, 'not_found']);
    open.forEach((request) => request.destroy());
  });
});
