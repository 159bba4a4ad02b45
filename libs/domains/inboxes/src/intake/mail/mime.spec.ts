import { messageOf } from './message.policy';
import { NOBODY_ASKED, type MailEnvelope } from './mail.types';
import { parseMail } from './mime';

const FROM: MailEnvelope = { mail_from: 'ada@example.com', client: null };
const bytes = (text: string) => Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1');
const read = async (mail: string | Buffer, envelope = FROM) => {
  const raw = Buffer.isBuffer(mail) ? mail : bytes(mail);
  return messageOf({ parts: await parseMail(raw, envelope), auth: NOBODY_ASKED }, raw, envelope);
};

const PLAIN = `Received: from a by b
From: =?utf-8?q?Ad=C3=A1?= <Ada@Example.com>
To: Support <support@acme.example>, friends: eve@example.com, Bob <bob@EXAMPLE.com>;
Cc: not an address, ada@example.com
Reply-To: <desk@example.com>
Subject: =?utf-8?b?SGVsbG8g8J+YgA==?=
 again
Message-ID: <1@example.com>
In-Reply-To: <0@example.com>
References: <-1@example.com> <0@example.com>
X-Tag: a
X-Tag: b

Hello`;

describe('a mail', () => {
  it('says who sent it to whom, what about, and what it answers', async () => {
    expect(await read(PLAIN)).toMatchObject({
      ...{ sender: { address: 'ada@example.com', name: 'Adá' }, reply_to: 'desk@example.com', subject: 'Hello 😀 again' },
      ...{ message_id: '1@example.com', dedupe_key: '1@example.com', references: ['0@example.com', '-1@example.com'], body_text: 'Hello' },
      participants: ['ada@example.com', 'support@acme.example', 'eve@example.com', 'bob@example.com'],
      headers: {
        'x-tag': expect.stringMatching(/^(a, b|b, a)$/),
        subject: 'Hello 😀 again',
        to: expect.stringContaining('support@acme.example'),
      },
      ...{ automatic: null, files: [], payload: null },
    });
  });

  it('has its reverse-path as its door knows it', async () => {
    const path = async (mail_from: string | null) =>
      (await read('Return-Path: <forged@example.com>\n\n', { mail_from, client: null })).headers['return-path'];
    expect([await path('ada@example.com'), await path(''), await path(null)]).toEqual(['ada@example.com', '<>', 'forged@example.com']);
  });

  it('has its sender of the envelope, and the bytes as its key, where it names none', async () => {
    const [a, again, b] = [await read('Subject: x\n\nA'), await read('Subject: x\n\nA'), await read('Subject: x\n\nB')];
    expect([a.sender, a.reply_to, a.message_id]).toEqual([{ address: 'ada@example.com', name: null }, null, null]);
    expect([a.dedupe_key === again.dedupe_key, a.dedupe_key === b.dedupe_key]).toEqual([true, false]);
    expect((await read('From: undisclosed\n\n', { mail_from: '', client: null })).sender).toBeNull();
  });

  it.each(['<>', '< >', 'x', '@'])('has the bytes as its key where its id is %s, as that of another is', async (id) => {
    const [a, b] = [await read(`Message-ID: ${id}\n\nA`), await read(`Message-ID: ${id}\n\nB`)];
    expect([a.message_id, a.dedupe_key === b.dedupe_key]).toEqual([null, false]);
    expect((await read('Message-ID: 1@example.com\n\nA')).message_id).toBe('1@example.com');
  });

  it('has the text of its HTML where it has no other', async () => {
    const html = '<style>p{}</style><h1>Bill</h1><p>See <a href="https://x.example/">here</a></p><script>x()</script><img src="cid:1">';
    const only = await read(`Content-Type: text/html; charset=utf-8\n\n${html}`);
    expect(only.body_text).toMatch(/^BILL\n+See here \[https:\/\/x\.example\/\]$/);
    const both = `Content-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/plain\n\nPlain\n--x\nContent-Type: text/html\n\n${html}\n--x--`;
    expect((await read(both)).body_text).toBe('Plain');
    expect((await read(both.replace('Plain', ' '))).body_text).toBe(only.body_text);
  });

  it('has the texts of all of its parts, in their order', async () => {
    const part = (type: string, body: string) => `--x\nContent-Type: text/${type}\n\n${body}\n`;
    const mixed = (...parts: string[]) => `Content-Type: multipart/mixed; boundary=x\n\n${parts.join('')}--x--`;
    const footer = part('plain', '-- \nTo leave: <list@a.example>\n  a & b');
    expect((await read(mixed(part('html', '<p>Bill</p><img src="cid:1">'), footer))).body_text).toMatch(
      /^Bill\n+-- \nTo leave: <list@a.example>\n {2}a & b$/,
    );
    expect((await read(mixed(part('plain', 'Look:'), part('html', '<p>Bill</p>')))).body_text).toMatch(/^Look:\n+Bill$/);
    expect((await read(mixed(part('plain', 'Look:'), footer))).body_text).toMatch(/^Look:\n+-- \nTo leave/);
    const alternative =
      '--x\nContent-Type: multipart/alternative; boundary=y\n\n--y\n\nBill\n--y\nContent-Type: text/html\n\n<p>BILL</p>\n--y--\n';
    expect((await read(mixed(alternative, footer))).body_text).toMatch(/^Bill\n+-- \nTo leave/);
  });

  it.each([
    ['iso-8859-1', '\xfc'],
    ['windows-1252', '\xfc'],
    ['koi8-r', '\xd4'],
    ['utf-8', '\xc3\xbc'],
    ['klingon', 'u'],
    ['"broken', 'u'],
  ])('is read in %s', async (charset, text) => {
    const { body_text } = await read(`Content-Type: text/plain; charset=${charset}\n\n${text}`);
    expect(body_text).toBe(charset === 'koi8-r' ? 'т' : text === 'u' ? 'u' : 'ü');
  });

  it('keeps its attachments, under names that harm nobody', async () => {
    const part = (headers: string, body: string) => `--x\n${headers}\n\n${body}\n`;
    const mail =
      'From: a@example.com\nContent-Type: multipart/mixed; boundary=x\n\n' +
      part('Content-Type: text/plain', 'Hello') +
      part(
        'Content-Type: application/pdf\nContent-Disposition: attachment; filename="../../etc/p\u0001.pdf"\nContent-Transfer-Encoding: base64',
        'JVBERg==',
      ) +
      part('Content-Type: image/PNG\nContent-Disposition: inline\nContent-Transfer-Encoding: base64', 'iVBOR!!w0K') +
      part('Content-Type: message/rfc822\nContent-Disposition: attachment', 'Subject: inner\n\nInner') +
      '--x--';
    const { files, body_text } = await read(mail);
    expect(body_text).toBe('Hello');
    expect(files.map(({ filename }) => filename)).toEqual(['p.pdf', 'attachment-2', 'message.eml']);
    expect(files[0].content.toString()).toBe('%PDF');
  });

  it('keeps nothing that a database refuses', async () => {
    const { subject, body_text, headers } = await read(
      'Subject: a\0b\nX-A: \0\nContent-Type: text/plain; charset=utf-16le\n\na\0\0\0\x00\xd8',
    );
    expect(JSON.stringify([subject, body_text, headers])).not.toMatch(/\\u0000|\\ud8/i);
  });

  it('has headers that are no keys of objects', async () => {
    const { headers } = await read('__proto__: a\nconstructor: b\n\n');
    expect([Object.hasOwn(headers, '__proto__'), headers.constructor]).toEqual([true, 'b']);
  });

  it('is its own attachment where it cannot be read', () => {
    const raw = Buffer.from('?');
    const message = messageOf({ parts: null, auth: NOBODY_ASKED }, raw, { mail_from: '', client: null });
    expect(message).toMatchObject({
      automatic: 'null-sender',
      sender: null,
      reply_to: null,
      body_text: expect.stringContaining('message.eml'),
    });
    expect(message.files).toEqual([{ filename: 'message.eml', content: raw }]);
  });
});
