import { EnvelopeCrypto } from '@aps/platform/crypto';
import { MailJobs, MailTransport } from '@aps/platform/mail';
import { Maintenance } from '@aps/platform/maintenance';
import { sql, decodeWords, SmtpServer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { anOrg } from './testing';
import { anInvitation, invite, ORGS } from './testing/orgs';

/** Names that a tenant gives an organization; mails carry them to strangers. */
const NAMES = [
  '=?utf-8?q?Pay_here?=',
  '=?UTF-8?B?UGF5IGhlcmU=?=',
  'Acme =?utf-8?q?Pay_here?= \u00fcber',
  `${'\u00fc'.repeat(120)}=?utf-8?q?Pay_here?=`,
  '==??utf-8?q?Pay_here??==',
  '=\u200b?utf-8?q?Pay_here?\u200b=',
  '=.?utf-8?q?Pay_here?.=',
  '\uff1d\uff1futf-8\uff1fq\uff1fPay_here\uff1f\uff1d',
  'Acme\r\nBcc: thief@evil.example',
  'Acme\r\n\r\nA body of mine',
  'Acme\u2028Bcc: thief@evil.example',
  'Acme\u0085Bcc: thief@evil.example',
  '\u202eemcA',
  'Acme\u2066\u2069\u200f',
  'Acme, thief@evil.example',
  '"Acme" <thief@evil.example>',
  'win at evil.example/now',
  'win at evil\u3002example\uff0fnow',
  'thief\uff20evil\uff0eexample\uff0fnow',
  'Win at https://evil.example/x\r\nBcc: thief@evil.example',
  '\u200b',
  '...',
];

describe('the mail of an invitation, as a mail server gets it', () => {
  const t = testService(ORGS);
  const server = new SmtpServer();
  let transport: MailTransport;
  let jobs: MailJobs;
  beforeAll(async () => {
    t.configure({ SMTP_URL: await server.listen(), MAIL_FROM: 'Agents <no-reply@mail.example>' });
    transport = new MailTransport();
    jobs = new MailJobs(t.db, t.get(EnvelopeCrypto), transport, new Maintenance(t.db));
  });
  afterAll(async () => {
    await transport.onApplicationShutdown();
    server.close();
  });

  /** Invites to an organization of that name, whatever the API thinks of it, and delivers the mail. */
  const mailed = async (name: string) => {
    const { email } = await anInvitation(t, await anOrg(t, { name }));
    const [{ id }] = await t.db.query(sql<{ id: string }>('SELECT id FROM outbound_mails ORDER BY id DESC LIMIT 1'));
    await jobs.send({ mail_id: id });
    return { email, headers: server.headers(), text: server.mails.at(-1)!.split('\r\n\r\n').slice(1).join('\n') };
  };

  it.each(NAMES)('has the headers that we wrote, and no words that a mail program would make of the name %j', async (name) => {
    const { email, headers } = await mailed(name);
    const ours = 'auto-submitted content-transfer-encoding content-type date from message-id mime-version subject to';
    expect([...headers.keys()].sort().join(' ')).toBe(ours);
    expect([headers.get('from'), headers.get('to'), server.recipients.at(-1)]).toEqual(['Agents <no-reply@mail.example>', email, email]);
    const subject = headers.get('subject')!;
    expect(subject).toMatch(/^You are invited to join \S/);
    expect(decodeWords(subject)).toBe(subject);
    expect(subject.normalize('NFKC')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]|=\?|\?=|Pay here|@|evil[.\u3002]example/u);
  });

  it('has one link, ours', async () => {
    for (const name of NAMES) expect((await mailed(name)).text.match(/https?:|evil[.\u3002]example/g)).toEqual(['https:']);
  });

  it.each(['=?utf-8?q?thief=40evil.example?=@x.example', 'a@x.example\r\nBcc: b@x.example', '"a, b"@x.example', 'a\u202eb@x.example'])(
    'goes to no such address: %j',
    async (email) => {
      expect((await invite(t, await anOrg(t), email)).body.code).toBe('validation_error');
    },
  );
});
