import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Module } from '@nestjs/common';
import { Egress } from '@aps/platform/egress';
import { metrics } from '@aps/platform/observability';
import { signed, times, WEBHOOK_SECRET } from '@aps/platform/testing';
import { BASE_MODULES, eventually, testService } from '@aps/testing';
import { ChannelDirectory, Intake } from '../intake/intake.port';
import { InMemoryIntake } from '../testing/in-memory-intake';
import { SNS_HOST, snsEnvelope, SnsServer, TOPIC } from '../testing/sns-server';
import { DoorsModule } from './doors.module';

const intake = new InMemoryIntake();
const sns = new SnsServer();

@Module({
  providers: [
    { provide: ChannelDirectory, useValue: intake },
    { provide: Intake, useValue: intake },
  ],
  exports: [ChannelDirectory, Intake],
})
class InMemoryModule {}

const SECRETS = {
  INBOUND_EMAIL_SECRET_GENERIC: WEBHOOK_SECRET,
  INBOUND_EMAIL_SECRET_MAILGUN: 'mailgun-key',
  INBOUND_EMAIL_SECRET_POSTMARK: 'inbound:p:w',
  INBOUND_EMAIL_SECRET_SES: TOPIC,
};
const SETTINGS = {
  SMTP_LISTEN_PORT: '0',
  HOOK_BUFFER_BYTES: String(80 * 1024 * 1024),
  INBOUND_EMAIL_DOMAIN: 'inbound.example',
  TRUST_PROXY: '1',
  ...SECRETS,
};
const t = testService([...BASE_MODULES, DoorsModule.over(InMemoryModule)], {
  settings: SETTINGS,
  played: [[Egress, sns.egress]],
});
beforeAll(() => sns.listen());
afterAll(() => sns.close());
beforeEach(() => {
  intake.reset();
  sns.asked.length = 0;
  sns.status = 200;
});

const TOKEN = 'a-token';
const SUPPORT = 'support@acme.inbound.example';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const post = (body: string, headers: Record<string, string> = JSON_TYPE, token = TOKEN) =>
  t.call('POST', `/api/hooks/in/${token}`, { body, headers });

const refusedAs = async (door: string, reason: string): Promise<number> => {
  const { values } = await metrics.getSingleMetric('inbox_refusals_total')!.get();
  return values.find(({ labels }) => labels.door === door && labels.reason === reason)?.value ?? 0;
};

describe('a webhook', () => {
  it('is taken in, once', async () => {
    intake.add(TOKEN, { dedupe_path: '$.id', subject_path: '$.title' });
    const first = await post('{"id":1,"title":"Hi"}', { ...JSON_TYPE, authorization: 'Bearer none' });
    expect(first).toMatchObject({ status: 202, body: { message_id: intake.received[0].message, status: 'received' } });
    expect(intake.received).toMatchObject([{ subject: 'Hi', payload: { id: 1, title: 'Hi' }, headers: { authorization: '***' } }]);
    const again = await post('{"id":1}');
    expect(again).toMatchObject({ status: 200, body: { message_id: intake.received[0].message, duplicate: true } });
    expect(Object.keys(again.body)).toEqual(['message_id', 'duplicate']);
  });

  it.each([
    ['an empty body', '', {}],
    ['a malformed body', '{"a":', JSON_TYPE],
    ['an unknown type', 'x', { 'Content-Type': 'what/ever' }],
    ['no type that can be read', 'x', { 'Content-Type': '%%%' }],
    ['several parts that are none', '--x\r\n?\r\n\r\n'.repeat(3), { 'Content-Type': 'multipart/form-data; boundary=x' }],
    ['an encoding that it does not have', 'x', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
  ])('is taken in with %s', async (_, body, headers) => {
    intake.add(TOKEN);
    expect((await post(body, headers as Record<string, string>)).status).toBe(202);
    expect(intake.received[0].size_bytes).toBe(body.length);
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'is no %s, which learns nothing of addresses that are none',
    async (method) => {
      intake.add(TOKEN);
      const known = await t.call(method, `/api/hooks/in/${TOKEN}`);
      expect([known.status, known.headers.get('allow')]).toEqual([405, 'POST']);
      const [unknown, asPosted] = [await t.call(method, '/api/hooks/in/other'), await post('{}', JSON_TYPE, 'other')];
      expect([unknown.status, asPosted.status, asPosted.body.code]).toEqual([404, 404, 'not_found']);
    },
  );

  it('is refused by what comes first: address, size, signature', async () => {
    const large = 'x'.repeat(5 * 1024 * 1024 + 1);
    expect((await post(large)).status).toBe(404);
    intake.add(TOKEN, { signature: { scheme: 'github' } }, 'secret');
    expect(await post(large)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    expect(await post('{}')).toMatchObject({ status: 401, body: { code: 'bad_signature' } });
    expect(intake.received).toEqual([]);
    const signature = `sha256=${createHmac('sha256', 'secret').update(large.slice(1)).digest('hex')}`;
    expect((await post(large.slice(1), { 'Content-Type': 'text/plain', 'x-hub-signature-256': signature })).status).toBe(202);
  });

  it('answers a signed challenge, and keeps nothing of it', async () => {
    intake.add(TOKEN, { signature: { scheme: 'slack' } }, 'secret');
    const body = '{"type":"url_verification","challenge":"abc"}';
    const at = String(Math.floor(Date.now() / 1_000));
    const headers = {
      ...JSON_TYPE,
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${createHmac('sha256', 'secret').update(`v0:${at}:${body}`).digest('hex')}`,
    };
    const { status, body: answer } = await post(body, headers);
    expect([status, answer, intake.received]).toEqual([200, { challenge: 'abc' }, []]);
    expect((await post(body)).status).toBe(401);
  });

  it('may come so often a minute on one channel', async () => {
    t.configure({ ...SETTINGS, RATE_LIMITS: 'on', RATE_LIMIT_WEBHOOK_CHANNEL: '3' });
    intake.add(TOKEN);
    intake.add('another');
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await post('{}')).status);
    expect(statuses).toEqual([202, 202, 202, 429]);
    const refused = await post('{}');
    expect([refused.body.code, Number(refused.headers.get('retry-after')) > 0, refused.headers.get('ratelimit-limit')]).toEqual([
      'rate_limited',
      true,
      '3',
    ]);
    expect((await post('{}', JSON_TYPE, 'another')).status).toBe(202);
    t.configure(SETTINGS);
  });
});

const MAIL = 'From: Ada <ada@example.com>\r\nSubject: Hi\r\nMessage-ID: <1@example.com>\r\n\r\nHello';
const deliver = (provider: string, body: string, headers: Record<string, string> = JSON_TYPE) =>
  t.call('POST', `/api/hooks/email/${provider}`, { body, headers });
const generic = (delivery: object, options = {}, more: Record<string, string> = {}) => {
  const { body, headers } = signed(delivery, options);
  const { 'content-type': type, ...rest } = headers;
  return deliver('generic', body, { ...rest, ...more, 'Content-Type': type });
};
const raw = Buffer.from(MAIL).toString('base64');

describe('a mail of any provider', () => {
  beforeEach(() => void intake.add(SUPPORT));

  it('is taken in for whom it knows, and says for whom not', async () => {
    intake.add('sales@acme.inbound.example');
    const recipients = ['Support+x@acme.inbound.example', SUPPORT, 'sales@acme.inbound.example', 'nobody@acme.inbound.example', 'x'];
    const { status, body } = await generic({ raw, recipients, mail_from: 'bounce@example.com' });
    expect([status, intake.received.map(({ to }) => to.recipient)]).toEqual([
      202,
      ['support+x@acme.inbound.example', 'sales@acme.inbound.example'],
    ]);
    expect(body).toEqual({
      messages: intake.received.map(({ to, message }) => ({ recipient: to.recipient, message_id: message })),
      rejected: [
        { recipient: 'nobody@acme.inbound.example', code: 'unknown_recipient' },
        { recipient: 'x', code: 'unknown_recipient' },
      ],
    });
    expect(intake.received[0]).toMatchObject({ subject: 'Hi', body_text: 'Hello', auth: { spf: 'none' }, automatic: null });
  });

  it.each(['', '<>'])('has the null sender as %j', async (mail_from) => {
    await generic({ raw, recipients: [SUPPORT], mail_from });
    expect(intake.received).toMatchObject([{ automatic: 'null-sender' }]);
  });

  it('is for somebody here', async () => {
    expect(await generic({ raw, recipients: ['nobody@acme.inbound.example'] })).toMatchObject({ status: 404 });
  });

  it('is signed, now, and by the secret of the installation', async () => {
    const delivery = { raw, recipients: [SUPPORT] };
    for (const options of [{ secret: 'whsec_b3RoZXI=' }, { at: new Date(Date.now() - 302_000) }])
      expect(await generic(delivery, options)).toMatchObject({ status: 401, body: { code: 'bad_signature' } });
    expect((await deliver('generic', JSON.stringify(delivery))).status).toBe(401);
    expect(intake.received).toEqual([]);
  });

  it.each([
    [{}],
    [[]],
    ['x'],
    [{ raw: '!', recipients: [SUPPORT] }],
    [{ raw, recipients: [] }],
    [{ raw, recipients: Array.from({ length: 101 }, () => SUPPORT) }],
    [{ raw, recipients: [null] }],
  ])('is refused as %j', async (delivery) => {
    expect(await generic(delivery as object)).toMatchObject({ status: 422, body: { code: 'validation_error' } });
  });

  it('has a size', async () => {
    expect(await generic({ raw: Buffer.alloc(26_214_401, 'x').toString('base64'), recipients: [SUPPORT] })).toMatchObject({ status: 413 });
    expect(
      (
        await generic({
          raw: Buffer.concat([Buffer.from('\r\n'), Buffer.alloc(26_214_398, 'x')]).toString('base64'),
          recipients: [SUPPORT],
        })
      ).status,
    ).toBe(202);
  });

  it('comes from a provider that is served', async () => {
    t.configure({ ...SETTINGS, INBOUND_EMAIL_SECRET_GENERIC: '' });
    expect((await generic({ raw, recipients: [SUPPORT] })).status).toBe(404);
    t.configure(SETTINGS);
    for (const name of ['gmail', 'constructor', '__proto__', 'smtpHost']) expect((await deliver(name, '{}')).status).toBe(404);
    expect((await t.call('GET', '/api/hooks/email/generic')).status).toBe(405);
  });

  it('is asked to come again where it cannot be stored', async () => {
    intake.failure = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
    expect((await generic({ raw, recipients: [SUPPORT] })).status).toBe(503);
  });
});

describe('deliveries that come at once', () => {
  const MIB = 1024 * 1024;
  /** Sends so much of a delivery of 40 MiB, and stays. */
  const begun = async (bytes: number): Promise<Socket> => {
    const { hostname, port } = new URL(t.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write(
      `POST /api/hooks/email/generic HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${40 * MIB}\r\n\r\n`,
    );
    await new Promise((resolve) => socket.write(Buffer.alloc(bytes, ' '), resolve));
    return socket;
  };
  const mail = () => generic({ raw, recipients: [SUPPORT] });

  it('are held up by none that is slow', async () => {
    intake.add(SUPPORT);
    const slow = await times(20, () => begun(1));
    expect((await mail()).status).toBe(202);
    for (const socket of slow) socket.destroy();
  });

  it('are asked to come again while too much of them is in memory', async () => {
    intake.add(SUPPORT);
    const beside = async () => {
      const large = await begun(40 * MIB - 100);
      const answer = await mail();
      large.destroy();
      return answer;
    };
    // The large one may be the one that there is no room for.
    const refused = await eventually(beside, ({ status }) => status === 503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await eventually(mail, ({ status }) => status === 202);
  });

  it('have a share of memory for each address that mails are delivered from', async () => {
    intake.add(SUPPORT);
    t.configure({ ...SETTINGS, HOOK_BUFFER_BYTES: String(100 * MIB) });
    const beside = async () => {
      const large = await begun(40 * MIB - 100);
      const [own, another] = [await mail(), await generic({ raw, recipients: [SUPPORT] }, {}, { 'x-forwarded-for': '203.0.113.1' })];
      large.destroy();
      return [own.status, own.body.code, another.status];
    };
    // As above.
    expect(await eventually(beside, ([own]) => own === 503)).toEqual([503, 'service_unavailable', 202]);
    expect(await refusedAs('mail_hook', 'too_much_of_sender')).toBeGreaterThan(0);
    t.configure(SETTINGS);
  });

  it('have a share of memory for each door, and one of it for each channel', async () => {
    for (const at of [SUPPORT, TOKEN, 'b', 'c']) intake.add(at);
    let store!: () => void;
    intake.gate = new Promise<void>((resolve) => (store = resolve));
    const storing = jest.spyOn(intake, 'receive');
    const sent: Promise<{ status: number }>[] = [];
    /** One that is taken in ends with the others. */
    const takenIn = async (delivery: Promise<{ status: number }>) => {
      sent.push(delivery);
      await eventually(
        async () => storing.mock.calls.length,
        (calls) => calls === sent.length,
      );
    };
    const large = JSON.stringify({ text: 'x'.repeat(5 * MIB - 20) });
    await takenIn(post(large));
    const ofChannel = await post(large);
    expect([ofChannel.status, ofChannel.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refusedAs('webhook', 'too_much_of_sender')).toBe(1);
    await takenIn(post(large, JSON_TYPE, 'b'));
    expect((await post('x'.repeat(1_000), {}, 'c')).status).toBe(503);
    await takenIn(mail());
    storing.mockRestore();
    store();
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([202, 202, 202]);
    expect((await post(large)).status).toBe(202);
  });
});

describe('a mail of Mailgun', () => {
  const form = (fields: Record<string, string> = {}, at = Math.floor(Date.now() / 1_000), key = 'mailgun-key') => ({
    ...{ timestamp: String(at), token: 'tok', signature: createHmac('sha256', key).update(`${at}tok`).digest('hex') },
    ...{ 'body-mime': MAIL, recipient: SUPPORT, sender: 'ada@example.com', ...fields },
  });
  const encoded = (fields: Record<string, string>) =>
    deliver('mailgun', new URLSearchParams(fields).toString(), { 'Content-Type': 'application/x-www-form-urlencoded' });

  it('is a form, of either kind', async () => {
    intake.add(SUPPORT);
    expect((await encoded(form())).status).toBe(202);
    const parts = Object.entries(form({ 'body-mime': MAIL.replace('<1@', '<2@') })).map(
      ([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    expect((await deliver('mailgun', `${parts.join('')}--x--\r\n`, { 'Content-Type': 'multipart/form-data; boundary=x' })).status).toBe(
      202,
    );
    expect(intake.received).toMatchObject([{ message_id: '1@example.com' }, { message_id: '2@example.com', body_text: 'Hello' }]);
  });

  it('arrives by its bytes, whatever they are written in', async () => {
    intake.add(SUPPORT);
    const mime = (id: string) =>
      Buffer.from(MAIL.replace('1@', id).replace('\r\n\r\n', '\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n') + ': é', 'latin1');
    const fields = form({ 'body-mime': '', sender: 'jörg@example.com' });
    const percent = mime('1@').toString('hex').replace(/../g, '%$&');
    const text = new URLSearchParams(fields).toString().replace('body-mime=', `body-mime=${percent}`);
    expect((await deliver('mailgun', text, { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' })).status).toBe(202);
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value || '(mail)');
    const sent = new Response(body);
    const [before, after] = Buffer.from(await sent.arrayBuffer())
      .toString('latin1')
      .split('(mail)');
    const inParts = (id: string, named: string) => {
      const naming = (part: string) => Buffer.from(part.replace(/ name="[^"]*"/g, `$&${named}`), 'latin1');
      return fetch(`${t.url}/api/hooks/email/mailgun`, {
        method: 'POST',
        headers: { 'Content-Type': sent.headers.get('content-type')! },
        body: Buffer.concat([naming(before), mime(id), naming(after)]),
      });
    };
    expect((await inParts('2@', '')).status).toBe(202);
    expect((await inParts('3@', '\r\nContent-Type: text/plain;\r\n charset="utf-8"')).status).toBe(202);
    expect(intake.received.map(({ body_text, size_bytes, headers }) => [body_text, size_bytes, headers['return-path']])).toEqual(
      Array(3).fill(['Hello: é', mime('1@').length, 'jörg@example.com']),
    );
  });

  it('is read as far as a form of a provider has parts, whatever they are', async () => {
    intake.add(SUPPORT);
    const fields = Object.entries(form()).map(
      ([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const among = (parts: number) =>
      deliver('mailgun', `${'--x\r\nX: y\r\n\r\n\r\n'.repeat(parts)}${fields.join('')}--x--\r\n`, {
        'Content-Type': 'multipart/form-data; boundary=x',
      });
    expect([(await among(1_000)).status, (await among(2_000)).status]).toEqual([202, 401]);
  });

  it('may come hours late', async () => {
    intake.add(SUPPORT);
    expect((await encoded(form({}, Math.floor(Date.now() / 1_000) - 9 * 3_600))).status).toBe(202);
  });

  it('is signed', async () => {
    intake.add(SUPPORT);
    const { signature: _, ...unsigned } = form();
    for (const fields of [form({}, undefined, 'other'), form({}, 1_000), form({ token: 'other' }), unsigned])
      expect((await encoded(fields)).status).toBe(401);
    const { 'body-mime': __, ...empty } = form();
    expect((await encoded(empty)).status).toBe(422);
  });
});

describe('a mail of Postmark', () => {
  const body = JSON.stringify({ RawEmail: MAIL, OriginalRecipient: SUPPORT, From: 'ada@example.com' });
  const basic = (credentials: string) => ({ ...JSON_TYPE, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` });

  it('is posted by who knows the password', async () => {
    intake.add(SUPPORT);
    expect((await deliver('postmark', body, basic('inbound:p:w'))).status).toBe(202);
    expect(intake.received).toMatchObject([{ body_text: 'Hello', to: { recipient: SUPPORT } }]);
    for (const headers of [JSON_TYPE, basic('inbound:other'), { ...JSON_TYPE, authorization: 'Basic %%' }])
      expect((await deliver('postmark', body, headers)).status).toBe(401);
    expect((await deliver('postmark', '{}', basic('inbound:p:w'))).status).toBe(422);
  });
});

describe('a mail of Amazon SES', () => {
  const notification = (content = MAIL, encoding = 'UTF8') =>
    JSON.stringify({
      notificationType: 'Received',
      mail: { source: 'ada@example.com' },
      receipt: { recipients: [SUPPORT], action: { type: 'SNS', encoding } },
      content,
    });
  const ses = (envelope: string) => deliver('ses', envelope, { 'Content-Type': 'text/plain; charset=UTF-8' });

  it.each(['1', '2'] as const)('is signed by the certificate of SNS, version %s, which is asked for once', async (version) => {
    intake.add(SUPPORT);
    expect((await ses(snsEnvelope({ Message: notification(), Subject: 'Amazon SES' }, version))).status).toBe(202);
    expect((await ses(snsEnvelope({ Message: notification(raw, 'BASE64') }, version))).status).toBe(202);
    expect(intake.received).toMatchObject([{ subject: 'Hi', body_text: 'Hello', to: { recipient: SUPPORT } }]);
    expect(sns.asked.length).toBeLessThanOrEqual(1);
  });

  it('confirms the subscription of its topic, and of no other', async () => {
    const confirmation = {
      Type: 'SubscriptionConfirmation',
      Message: 'Confirm',
      Token: 't',
      SubscribeURL: `https://${SNS_HOST}/?Action=ConfirmSubscription&Token=t`,
    };
    expect(await ses(snsEnvelope(confirmation))).toMatchObject({ status: 202, body: { messages: [], rejected: [] } });
    expect(sns.asked.filter((url) => url.includes('ConfirmSubscription'))).toHaveLength(1);
    expect((await ses(snsEnvelope({ ...confirmation, TopicArn: 'arn:aws:sns:eu-west-1:666:mine' }))).status).toBe(401);
    expect((await ses(snsEnvelope({ ...confirmation, SubscribeURL: 'https://evil.example/' }))).status).toBe(401);
    sns.status = 500;
    expect((await ses(snsEnvelope(confirmation))).status).toBe(502);
    expect((await ses(snsEnvelope({ Message: 'Successfully validated SNS topic' }))).status).toBe(202);
  });

  it.each([
    ['http', `http://${SNS_HOST}/a.pem`],
    ['another host', 'https://evil.example/a.pem'],
    ['a host that ends alike', 'https://sns.eu-west-1.amazonaws.com.evil.example/a.pem'],
    ['another service', 'https://s3.eu-west-1.amazonaws.com/sns/a.pem'],
    ['a user name', `https://${SNS_HOST}@evil.example/a.pem`],
    ['another port', `https://${SNS_HOST}:8443/a.pem`],
    ['no certificate', `https://${SNS_HOST}/a`],
    ['nothing', 'x.pem'],
  ])('is not believed by a certificate at %s', async (_, SigningCertURL) => {
    expect((await ses(snsEnvelope({ Message: notification(), SigningCertURL }))).status).toBe(401);
    expect(sns.asked).toEqual([]);
  });

  it('is not believed when it was changed', async () => {
    const envelope = JSON.parse(snsEnvelope({ Message: notification() })) as object;
    for (const change of [
      { Message: notification('Subject: x\r\n\r\n') },
      { Subject: 'x' },
      { Signature: 'eA==' },
      { SignatureVersion: '3' },
      { Type: 'Other' },
    ])
      expect((await ses(JSON.stringify({ ...envelope, ...change }))).status).toBe(401);
    for (const body of ['', '{}', '[]', 'null', '{']) expect((await ses(body)).status).toBe(401);
  });
});
