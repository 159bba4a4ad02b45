import { generateKeyPairSync } from 'node:crypto';
import { randomly, times } from '@aps/platform/testing';
import { dkimSign } from 'mailauth/lib/dkim/sign';
import { MailReader, type ReadMail } from './mail-reader';
import { MailResolver } from './mail-resolver';
import { messageOf } from './message.policy';
import type { MailAuth, MailEnvelope } from './mail.types';

/** What senders have published, by name and kind. */
class PublishedRecords extends MailResolver {
  records: Record<string, unknown[] | undefined> = {};
  asked = 0;
  /** What answers wait for. */
  until?: Promise<void>;
  /** Domains whose name servers never answer. */
  silent: string[] = [];
  /** Names that are none. */
  bad?: string;
  /** But for those of policies, which mails have in common here. */
  names = new Set<string>();
  private awaited?: { names: number; found: () => void };

  async resolve(name: string, rrtype: string): Promise<unknown[]> {
    this.asked++;
    if (!name.startsWith('_dmarc.')) this.names.add(name);
    if (this.names.size === this.awaited?.names) this.awaited.found();
    await this.until;
    if (this.silent.some((domain) => name.endsWith(domain))) await new Promise(() => undefined);
    if (this.bad && name.startsWith(this.bad)) throw Object.assign(new Error('bad'), { code: 'EBADNAME' });
    const found = this.records[`${name} ${rrtype}`];
    if (!found) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
    return found;
  }

  /** No answers, until what it returns is called. */
  hold(): () => void {
    let answer!: () => void;
    this.until = new Promise((resolve) => (answer = resolve));
    return answer;
  }

  /** When so many names have been asked for. */
  askedFor(names: number): Promise<string> {
    return new Promise((resolve) => (this.awaited = { names, found: () => resolve('asked') }));
  }
}

const dns = new PublishedRecords();
const reader = new MailReader(dns);
const ENVELOPE: MailEnvelope = { mail_from: 'ada@example.com', client: { ip: '192.0.2.1', helo: 'mx.example.com' } };
beforeEach(() => Object.assign(dns, { records: {}, until: undefined, silent: [], bad: undefined, asked: 0, names: new Set() }));
afterAll(() => reader.onApplicationShutdown());

const MIB = 1024 * 1024;
const read = (mail: string | Buffer, envelope = ENVELOPE) => reader.read(Buffer.from(mail as string), envelope);
const text = async (mail: string | Buffer) => messageOf(await read(mail), Buffer.from(mail as string), ENVELOPE).body_text;
const MAIL = 'From: Ada <ada@example.com>\r\nTo: x@acme.example\r\nSubject: Hi\r\nMessage-ID: <1@example.com>\r\n\r\nHello\r\n';

describe('the reader of mails', () => {
  it('reads mails side by side, attachments and all', async () => {
    const mail = (body: string) =>
      `Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: image/png\r\n\r\n${body}\r\n--x--`;
    const all = await times(9, (i) => read(mail(`bytes ${i}`)));
    expect(all.map(({ parts }) => parts?.files[0].content.toString())).toEqual(all.map((_, i) => `bytes ${i}`));
    expect(Buffer.isBuffer(all[0].parts?.files[0].content)).toBe(true);
  });

  /** Signs the mail for a domain, and publishes the key of it. */
  const signedFor = async (domain: string, mail = MAIL) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const key = { signingDomain: domain, selector: 's', privateKey };
    dns.records[`s._domainkey.${domain} TXT`] = [[`v=DKIM1; p=${publicKey.toString('base64')}`]];
    // Or the library takes one time for what it signs, and another for what it says.
    const signTime = new Date();
    return (await dkimSign(mail, { ...key, signTime, signatureData: [key] })).signatures;
  };
  const REJECTS = { '_dmarc.example.com TXT': [['v=DMARC1; p=reject']] };

  it('says who vouches for a mail', async () => {
    dns.records = { ...REJECTS, 'example.com TXT': [['v=spf1 ip4:192.0.2.1 -all']] };
    const signed = (await signedFor('example.com')) + MAIL;
    expect((await read(signed)).auth).toEqual({ spf: 'pass', dkim: 'pass', dmarc: 'pass' });
    const elsewhere = { ...ENVELOPE, client: { ip: '192.0.2.2', helo: 'x' } };
    expect((await read(signed, elsewhere)).auth).toEqual({ spf: 'fail', dkim: 'pass', dmarc: 'pass' });
    expect((await read(MAIL)).auth).toEqual({ spf: 'pass', dkim: 'none', dmarc: 'pass' });
    expect((await read(signed.replace('Hello', 'Hullo'), elsewhere)).auth).toMatchObject({ spf: 'fail', dmarc: 'fail' });
    expect((await read(MAIL, { mail_from: null, client: null })).auth).toMatchObject({ spf: 'none', dkim: 'none' });
  });

  it('says so where nobody has published anything', async () => {
    expect((await read(MAIL)).auth).toEqual({ spf: 'none', dkim: 'none', dmarc: 'none' });
  });

  // All at once, since each takes the time that answers have.
  it('takes what it hears in time of name servers that never answer, and fails no mail that one could vouch for who was not heard', async () => {
    const mailOf = (domain: string) => MAIL.replaceAll('example.com', domain);
    /** From a domain that rejects what nobody vouches for. */
    const from = (domain: string, signatures = '', mail_from = `ada@${domain}`) => {
      dns.records[`_dmarc.${domain} TXT`] = [['v=DMARC1; p=reject']];
      return read(signatures + mailOf(domain), { ...ENVELOPE, mail_from });
    };
    dns.silent = ['mute.example', 'evil.example', '_domainkey.keyless.example', 'spf.example'];
    dns.records['hostless.example TXT'] = [['v=spf1 include:spf.example -all']];
    const own = (domain: string) => signedFor(domain, mailOf(domain));
    const evil = await signedFor('evil.example');
    const NONE = { spf: 'none', dkim: 'none' };
    const cases: [silent: string, Promise<ReadMail>, MailAuth][] = [
      ['all', from('mute.example', await own('mute.example')), { spf: 'temperror', dkim: 'temperror', dmarc: 'temperror' }],
      ['those of another sender', from('a.example', evil, 'eve@evil.example'), { spf: 'temperror', dkim: 'temperror', dmarc: 'fail' }],
      ['those of its keys', from('keyless.example', await own('keyless.example')), { ...NONE, dkim: 'temperror', dmarc: 'temperror' }],
      ['those of its hosts', from('hostless.example'), { ...NONE, spf: 'temperror', dmarc: 'temperror' }],
      ['those of its hosts, and another has sent it', from('hostless.example', '', 'eve@b.example'), { ...NONE, dmarc: 'fail' }],
      [
        'those of a key that takes all of the time away from its own',
        from('c.example', `${evil.trim()}\r\n${evil.replace('d=evil.example', 'd=c.example')}`),
        { spf: 'none', dkim: expect.any(String) as string, dmarc: 'fail' },
      ],
    ];
    for (const [silent, mail, auth] of cases)
      expect([silent, await mail]).toEqual([silent, { parts: expect.objectContaining({ subject: 'Hi' }), auth }]);
  });

  it.each([
    ['two headers', MAIL.replace('From:', 'From: Eve <eve@evil.example>\r\nFrom:')],
    ['two headers, the other way round', MAIL.replace('\r\nTo:', '\r\nFrom: Eve <eve@evil.example>\r\nTo:')],
    ['two headers, one of them empty', MAIL.replace('From:', 'From: \r\nFrom:').replace('Ada <ada@example.com>', '')],
    ['two addresses', MAIL.replace('From: ', 'From: Eve <eve@evil.example>, ')],
    ['a group of two', MAIL.replace('Ada <ada@example.com>', 'us: ada@example.com, eve@evil.example;')],
    ['what is no address', MAIL.replace('Ada <ada@example.com>', 'Ada <ada@example>')],
    ['nobody, while its reverse-path names somebody', MAIL.replace(/From:.*\r\n/, '')],
  ])('lets nobody vouch for a mail from %s', async (_, mail) => {
    dns.records = { ...REJECTS, 'example.com TXT': [['v=spf1 ip4:192.0.2.1 -all']], 'evil.example TXT': [['v=spf1 +all']] };
    expect((await read((await signedFor('evil.example')) + mail)).auth.dmarc).toBe('fail');
  });

  it('asks a bounded number of questions about one mail, and whom it is from all the same', async () => {
    dns.records = { ...REJECTS };
    const signature = (await signedFor('evil.example')).trim();
    const signatures = Array.from({ length: 300 }, (_, i) => `${signature.replace('d=evil', `d=d${i}.evil`)}\r\n`);
    expect((await read(signatures.join('') + MAIL)).auth).toMatchObject({ spf: 'none', dmarc: 'fail' });
    expect(dns.asked).toBeGreaterThan(10);
    expect(dns.asked).toBeLessThanOrEqual(50);
  });

  it('fails a mail whose sender takes many questions away from whom it is from', async () => {
    dns.records = { ...REJECTS };
    const evil = (await signedFor('evil.example')).trim();
    const forged = evil.replace('d=evil.example', 'd=example.com');
    expect((await read(`${evil}\r\n`.repeat(20) + `${forged}\r\n${MAIL}`)).auth.dmarc).toBe('fail');
  });

  it('fails a mail that names a key where none can be', async () => {
    dns.records = { ...REJECTS };
    const forged = (await signedFor('evil.example')).replace('d=evil.example', 'd=example.com');
    dns.bad = 's._domainkey';
    expect((await read(forged + MAIL)).auth.dmarc).toBe('fail');
  });

  const parts = (n: number) =>
    Array.from({ length: n }, (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`).join('') +
    'Content-Type: text/plain\r\n\r\nDeep\r\n';
  it.each([
    ['300 nested parts', () => parts(300), /Deep|could not be read/],
    ['5,000 nested parts', () => parts(5_000), /could not be read|^$|Deep/],
    [
      '100,000 parts',
      () => `Content-Type: multipart/mixed; boundary=x\r\n\r\n${'--x\r\n\r\na\r\n'.repeat(100_000)}`,
      /could not be read|left out/,
    ],
    ['base64 that is none', () => 'Content-Transfer-Encoding: base64\r\n\r\n!!!$$$SGVsbG8=====%%', /./],
    ['an endless header line', () => `Subject: ${'x'.repeat(20 * MIB)}\r\n\r\nHello`, /could not be read|Hello/],
    ['an endless folded header', () => `Subject: x\r\n${' y\r\n'.repeat(200_000)}\r\nHello`, /could not be read|Hello/],
    ['a million headers', () => `${'X: y\r\n'.repeat(1_000_000)}\r\nHello`, /could not be read|Hello/],
    ['headers alone', () => 'Subject: x', /^$/],
    ['nothing', () => '', /^$/],
    ['NULs', () => '\0'.repeat(MIB), /^$|could not be read/],
    ['addresses without end', () => `To: ${'<a@b.example>,('.repeat(100_000)}\r\n\r\nHello`, /Hello|could not be read/],
    ['encoded words without end', () => `Subject: ${'=?utf-8?q?a?= '.repeat(50_000)}\r\n\r\nHello`, /Hello|could not be read/],
    ['parameters without end', () => `Content-Type: text/plain; ${"a*0*=''a;".repeat(50_000)}\r\n\r\nHello`, /Hello|could not be read/],
    ['HTML that nests', () => `Content-Type: text/html\r\n\r\n${'<div>'.repeat(200_000)}Hello`, /./],
    ['HTML of 24 MiB', () => `Content-Type: text/html\r\n\r\n${'<p>Hello</p>\r\n'.repeat((24 * MIB) / 14)}`, /Hello|could not be read/],
    ['a table that spans', () => `Content-Type: text/html\r\n\r\n<table>${'<tr><td colspan=9999999 rowspan=9999999>a'.repeat(1_000)}`, /./],
    [
      '25 MiB in base64',
      () => `Content-Type: a/b\r\nContent-Transfer-Encoding: base64\r\n\r\n${`${'QUJD'.repeat(19)}\r\n`.repeat((24 * MIB) / 78)}`,
      /^$/,
    ],
    ['a text of 25 MiB', () => `\r\n${`${'Hello world '.repeat(6)}\r\n`.repeat((25 * MIB) / 74)}`, /Hello/],
  ] as [string, () => string, RegExp][])('survives %s', async (_, mail, expected) => {
    expect(await text(mail())).toMatch(expected);
    expect(await text(MAIL)).toBe('Hello');
  });

  it('reads whatever comes', async () => {
    const next = randomly(11);
    const words = [
      'From: ',
      'To: ',
      'Subject: ',
      'Content-Type: ',
      'multipart/mixed; boundary=',
      'text/html',
      '\r\n',
      '\r\n\r\n',
      '--',
      'x',
      '"',
      '<',
      '>',
      '@',
      '=?utf-8?b?',
      '?=',
      'Content-Transfer-Encoding: ',
      'base64',
      'quoted-printable',
      '=\r\n',
      '\0',
      '\n',
      ';',
      'charset=',
      'iso-2022-jp',
      'message/rfc822',
      '\xff',
      'DKIM-Signature: v=1; ',
      'd=a.b; s=c; ',
    ];
    for (let i = 0; i < 300; i++) {
      const mail = Buffer.from(
        Array.from({ length: Math.floor(next() * 60) }, () => words[Math.floor(next() * words.length)]).join(''),
        'latin1',
      );
      expect((await read(mail)).auth).toBeDefined();
    }
  });
});

describe('mails that wait for the DNS', () => {
  let own: MailReader;
  beforeEach(() => (own = new MailReader(dns)));
  afterEach(() => own.onApplicationShutdown());

  /** Each from a domain of its own. */
  const from = (i: number, mail = MAIL) => own.read(Buffer.from(mail), { ...ENVELOPE, mail_from: `ada@d${i}.example` });
  const fromMany = (n: number) => {
    for (let i = 0; i < n; i++) dns.records[`d${i}.example TXT`] = [['v=spf1 ip4:192.0.2.1 -all']];
    return Array.from({ length: n }, (_, i) => from(i));
  };
  /** To the process in which the first of all mails is. */
  const signal = (name: NodeJS.Signals) => {
    const { places } = own as unknown as { places: { all: { holds?: { child: { child: { pid: number } } } }[] } };
    process.kill(places.all[1].holds!.child.child.pid, name);
  };
  const ALL_SPF = (n: number) => Array.from({ length: n }, () => ['Hi', 'pass']);
  const told = (reads: ReturnType<typeof fromMany>) =>
    Promise.all(reads).then((all) => all.map(({ parts: found, auth }) => [found?.subject, auth.spf]));

  it('let those behind them be parsed', async () => {
    const answer = dns.hold();
    const asked = dns.askedFor(20);
    const reads = fromMany(20);
    expect(await Promise.race([asked, ...reads])).toBe('asked');
    answer();
    expect(await told(reads)).toEqual(ALL_SPF(20));
  });

  it('are a hundred in a process, and those behind them wait', async () => {
    dns.hold();
    const reads = fromMany(250);
    expect(await Promise.race([dns.askedFor(250), ...reads])).toMatchObject({ parts: { subject: 'Hi' }, auth: { spf: 'temperror' } });
    expect(dns.names.size).toBeLessThanOrEqual(200);
    dns.until = undefined;
    expect((await told(reads)).map(([subject]) => subject)).toEqual(reads.map(() => 'Hi'));
  });

  it('lose nothing when their process ends, nor does what is being parsed there', async () => {
    const answer = dns.hold();
    const asked = dns.askedFor(8);
    const reads = fromMany(8);
    await asked;
    const [parsed, alsoParsed] = [from(8), from(9)];
    signal('SIGKILL');
    answer();
    expect(await told(reads)).toEqual(ALL_SPF(8));
    expect(await told([parsed, alsoParsed])).toEqual([
      ['Hi', 'none'],
      ['Hi', 'none'],
    ]);
  });

  it('are asked about once more when it is their process that is slow', async () => {
    const read = async () => {
      const answer = dns.hold();
      const asked = dns.askedFor(1);
      const reads = fromMany(1);
      await asked;
      signal('SIGSTOP');
      answer();
      return told(reads);
    };
    let found = await read();
    // On a busy machine the next process may take longer than its five seconds, too.
    for (let tries = 1; tries < 4 && found[0][1] === 'temperror'; tries++) {
      own.onApplicationShutdown();
      own = new MailReader(dns);
      found = await read();
    }
    expect(found).toEqual(ALL_SPF(1));
  });

  it('come again, as do those that are parsed or come behind them, where this process ends before', async () => {
    const answer = dns.hold();
    const asked = dns.askedFor(1);
    const [waiting] = fromMany(1);
    await asked;
    const parsed = from(1);
    own.onApplicationShutdown();
    answer();
    const ended = { status: 'rejected', reason: { code: 'service_unavailable' } };
    expect(await Promise.allSettled([waiting, parsed, from(2)])).toMatchObject([ended, ended, ended]);
  });

  it('lose nothing by a mail that takes more memory than there is', async () => {
    const answer = dns.hold();
    const asked = dns.askedFor(8);
    const reads = fromMany(8);
    await asked;
    const hostile = from(8, `Content-Type: text/plain; format=flowed\r\n\r\n${'>\r\n'.repeat(8_500_000)}`);
    answer();
    expect(await told(reads)).toEqual(ALL_SPF(8));
    expect(await hostile).toEqual({ parts: null, auth: { spf: 'temperror', dkim: 'temperror', dmarc: 'fail' } });
  });
});
