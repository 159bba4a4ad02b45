import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Logger } from '@nestjs/common';
import { loadConfig } from '@aps/platform/config';
import { metrics } from '@aps/platform/observability';
import { RENEWED_EXAMPLE, SHOP_EXAMPLE, testEnvironment } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { InMemoryIntake } from '../../testing/in-memory-intake';
import { MailDoor, MAX_MAIL_BYTES } from './mail-door';
import { MailReader } from './mail-reader';
import { SmtpListener } from './smtp-listener';

const SUPPORT = 'support@acme.inbound.example';
const SETTINGS = { SMTP_LISTEN_PORT: '0', INBOUND_EMAIL_DOMAIN: 'inbound.example' };
const intake = new InMemoryIntake();
const reader = new MailReader({ resolve: () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' })) });
let listener: SmtpListener;

const start = async (settings: Record<string, string> = {}) => {
  loadConfig({ ...testEnvironment(process.env.TEST_DATABASE_URL!), ...SETTINGS, ...settings });
  listener = new SmtpListener(new MailDoor(intake, intake, reader));
  await listener.onApplicationBootstrap();
};
beforeAll(() => Logger.overrideLogger(false));
beforeEach(async () => {
  intake.reset();
  intake.add(SUPPORT);
  await start();
});
afterEach(() => listener.beforeApplicationShutdown());
afterAll(() => reader.onApplicationShutdown());

/** A client that says what it likes. */
class Client {
  private said = '';
  closed = false;
  private constructor(private readonly socket: net.Socket) {
    socket
      .on('data', (data: Buffer) => (this.said += data.toString('latin1')))
      .on('close', () => (this.closed = true))
      .on('error', () => undefined);
  }

  static connecting = (): Client => new Client(net.connect(listener.port, '127.0.0.1'));

  static async connect(): Promise<Client> {
    const client = Client.connecting();
    await client.answer();
    return client;
  }

  /** The next complete answer. */
  async answer(): Promise<string> {
    for (;;) {
      const [all] = /^(?:\d{3}-[^\n]*\n)*\d{3} [^\n]*\n/.exec(this.said) ?? [];
      if (all) {
        this.said = this.said.slice(all.length);
        return all.trim();
      }
      if (this.closed) throw new Error('closed');
      await sleep(5);
    }
  }

  send(text: string): void {
    this.socket.write(Buffer.from(text, 'latin1'));
  }

  async say(line: string): Promise<string> {
    this.send(`${line}\r\n`);
    return this.answer();
  }

  /** Whose certificate is shown behind STARTTLS. */
  async certificate(): Promise<unknown> {
    await this.say('EHLO x');
    await this.say('STARTTLS');
    this.socket.removeAllListeners('data');
    const secured = tls.connect({ socket: this.socket, rejectUnauthorized: false });
    await once(secured, 'secureConnect');
    const { CN } = secured.getPeerCertificate().subject;
    secured.destroy();
    return CN;
  }

  drop(): void {
    this.socket.destroy();
  }
}
const code = (answer: string) => answer.split('\n').at(-1)!.slice(0, 3);
/** Up to where the text of a mail is waited for. */
async function inData(from = 'ada@example.com', ...to: string[]): Promise<Client> {
  const client = await Client.connect();
  for (const line of ['EHLO x', `MAIL FROM:<${from}>`, ...(to.length ? to : [SUPPORT]).map((each) => `RCPT TO:<${each}>`), 'DATA'])
    await client.say(line);
  return client;
}
const mail = (options: SendMailOptions, { requireTLS = false } = {}) =>
  createTransport({ host: '127.0.0.1', port: listener.port, requireTLS, tls: { rejectUnauthorized: false } }).sendMail({
    from: 'ada@example.com',
    text: 'Hello',
    ...options,
  }) as Promise<{ response: string }>;
/** How many connections and mails were refused, for what one address had, and for what all had. */
const refused = async () => {
  const { values } = await metrics.getSingleMetric('inbox_refusals_total')!.get();
  const of = (reason: string) => values.find(({ labels }) => labels.door === 'smtp' && labels.reason === reason)?.value ?? 0;
  return { ofAddress: of('too_many_of_address') + of('too_much_of_address'), ours: of('too_much_at_once') };
};
const bodies = () => intake.received.map(({ body_text }) => body_text);

describe('the listener for mail', () => {
  it('says in the log which messages a mail has become, and nothing of what is in it', async () => {
    const log = jest.spyOn(Logger.prototype, 'log');
    await mail({ to: SUPPORT, subject: 'Bill' });
    await expect(mail({ to: SUPPORT, text: 'x'.repeat(MAX_MAIL_BYTES) })).rejects.toThrow();
    const told = log.mock.calls.map(([line]) => line as { msg?: string }).filter(({ msg }) => msg === 'mail');
    log.mockRestore();
    const line = { msg: 'mail', session_id: expect.any(String), ms: expect.any(Number) };
    expect(told).toEqual([
      { ...line, outcome: 'taken', bytes: expect.any(Number), message_ids: [intake.received[0].message] },
      { ...line, outcome: 'failed', bytes: 0, message_ids: [] },
    ]);
  });

  it('takes a mail in, and says under which id', async () => {
    const { response } = await mail({ to: SUPPORT, subject: 'Bill', attachments: [{ filename: 'a.txt', content: 'x' }] });
    expect(intake.received).toMatchObject([
      {
        subject: 'Bill',
        body_text: 'Hello',
        to: { recipient: SUPPORT },
        auth: { spf: 'none' },
        files: [{ filename: 'a.txt' }],
      },
    ]);
    expect(response).toContain(`Taken as ${intake.received[0].message}`);
    expect(response).toMatch(/^250 /);
  });

  it('announces what it can, which is neither AUTH nor, without a certificate, STARTTLS', async () => {
    const client = await Client.connect();
    const hello = await client.say('EHLO x');
    expect(hello).toMatch(new RegExp(`SIZE ${MAX_MAIL_BYTES}\\r?$`, 'm'));
    expect(hello).not.toMatch(/AUTH|STARTTLS/);
    for (const line of ['AUTH PLAIN AGEAYg==', 'STARTTLS', 'WIZ x']) expect(code(await client.say(line))).toMatch(/^5/);
  });

  it('makes one message for each channel, and one for a channel that is named twice', async () => {
    intake.add('sales@acme.inbound.example');
    await mail({ to: [SUPPORT, 'Support+7@ACME.inbound.example', 'sales@acme.inbound.example'] });
    expect(intake.received.map(({ to }) => to.recipient)).toEqual([SUPPORT, 'sales@acme.inbound.example']);
  });

  it('keeps what stands behind a plus, and the null sender', async () => {
    const client = await inData('', 'Support+A.1@acme.inbound.example');
    expect(code(await client.say('Subject: Failure\r\n\r\nNot delivered\r\n.'))).toBe('250');
    expect(intake.received).toMatchObject([
      { to: { recipient: 'support+a.1@acme.inbound.example' }, automatic: 'null-sender', sender: null },
    ]);
  });

  it.each([
    'nobody@acme.inbound.example',
    'support@elsewhere.example',
    'support@inbound.example',
    'support@acme.inbound.example.evil.example',
    'support',
    'a@b@acme.inbound.example',
    '"support"@acme.inbound.example',
  ])('knows nobody at %s', async (address) => {
    const client = await Client.connect();
    await client.say('EHLO x');
    await client.say('MAIL FROM:<ada@example.com>');
    expect(code(await client.say(`RCPT TO:<${address}>`))).toMatch(/^55[03]|501$/);
    expect(code(await client.say('DATA'))).toBe('503');
    expect(intake.received).toEqual([]);
  });

  it('takes a mail for whom it knows of its recipients', async () => {
    const client = await Client.connect();
    for (const line of ['EHLO x', 'MAIL FROM:<a@example.com>', 'RCPT TO:<nobody@acme.inbound.example>', `RCPT TO:<${SUPPORT}>`, 'DATA'])
      await client.say(line);
    expect(code(await client.say('\r\nHi\r\n.'))).toBe('250');
    expect(bodies()).toEqual(['Hi']);
  });

  it('takes a hundred recipients and no more', async () => {
    const addresses = Array.from({ length: 101 }, (_, i) => `c${i}@acme.inbound.example`);
    for (const address of addresses) intake.add(address);
    const client = await Client.connect();
    for (const line of ['EHLO x', 'MAIL FROM:<a@example.com>']) await client.say(line);
    const codes: string[] = [];
    for (const address of addresses) codes.push(code(await client.say(`RCPT TO:<${address}>`)));
    expect([new Set(codes.slice(0, 100)), codes[100]]).toEqual([new Set(['250']), '452']);
    await client.say('DATA');
    expect(code(await client.say('\r\nHi\r\n.'))).toBe('250');
    expect(intake.received).toHaveLength(100);
  });

  it('keeps of a connection the recipients of no mail but the one that comes', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const client = await Client.connect();
    await client.say('EHLO x');
    const named: WeakRef<object>[] = [];
    for (let i = 0; i < 20; i++) {
      const address = `c${i}@acme.inbound.example`;
      named.push(new WeakRef(intake.add(address).config));
      for (const line of ['MAIL FROM:<a@example.com>', `RCPT TO:<${address}>`, 'RSET']) expect(code(await client.say(line))).toBe('250');
      intake.channels.delete(address);
    }
    const kept = async () => {
      await client.say('NOOP');
      collect();
      return named.filter((channel) => channel.deref()).length;
    };
    expect(await eventually(kept, (n) => n <= 1)).toBeLessThanOrEqual(1);
  });

  it('refuses a mail that is too large, whether it says so or not, and goes on', async () => {
    const client = await Client.connect();
    await client.say('EHLO x');
    expect(code(await client.say(`MAIL FROM:<a@example.com> SIZE=${MAX_MAIL_BYTES + 1}`))).toBe('552');
    for (const line of ['MAIL FROM:<a@example.com>', `RCPT TO:<${SUPPORT}>`, 'DATA']) await client.say(line);
    client.send(`\r\n${`${'x'.repeat(998)}\r\n`.repeat(27_000)}`);
    expect(code(await client.say('.'))).toBe('552');
    for (const line of ['MAIL FROM:<a@example.com>', `RCPT TO:<${SUPPORT}>`, 'DATA']) await client.say(line);
    expect(code(await client.say('\r\nHi\r\n.'))).toBe('250');
    expect(bodies()).toEqual(['Hi']);
  });

  it('says that it has a mail when it is stored, and not before', async () => {
    let open: () => void = () => undefined;
    intake.gate = new Promise<void>((resolve) => (open = resolve));
    const client = await inData();
    let answered = false;
    const answer = client.say('\r\nHi\r\n.').finally(() => (answered = true));
    await sleep(300);
    expect(answered).toBe(false);
    open();
    expect(code(await answer)).toBe('250');
  });

  it('asks to come again where it cannot store', async () => {
    intake.failure = new Error('no database');
    const client = await inData();
    const answer = await client.say('\r\nHi\r\n.');
    expect([code(answer), answer.includes('database')]).toEqual(['451', false]);
    intake.failure = null;
    await mail({ to: SUPPORT });
    expect(bodies()).toEqual(['Hello']);
  });

  it('answers a repeat as the first', async () => {
    const [a, b] = [await mail({ to: SUPPORT, messageId: '<1@x>' }), await mail({ to: SUPPORT, messageId: '<1@x>' })];
    expect([a.response, intake.received.length]).toEqual([b.response, 1]);
  });

  it.each([
    ['\\n.\\n', '\n.\n'],
    ['\\n.\\r\\n', '\n.\r\n'],
    ['\\r.\\r', '\r.\r'],
    ['\\r\\n.\\n', '\r\n.\n'],
    ['\\r.\\r\\n', '\r.\r\n'],
    ['\\r\\n\\0.\\r\\n', '\r\n\0.\r\n'],
  ])('has no second mail smuggled in behind %s', async (_, end) => {
    const client = await inData();
    client.send(
      `Subject: one\r\n\r\nFirst${end}MAIL FROM:<evil@example.com>\r\nRCPT TO:<${SUPPORT}>\r\nDATA\r\nSubject: two\r\n\r\nSmuggled\r\n.\r\n`,
    );
    expect(code(await client.answer())).toBe('250');
    expect(code(await client.say('NOOP'))).toBe('250');
    expect(intake.received).toMatchObject([{ subject: 'one', body_text: expect.stringContaining('Smuggled') }]);
  });

  it('takes dots as they were meant, however the bytes come', async () => {
    const client = await inData();
    for (const piece of ['\r\n', '.', '.', 'dot\r', '\n..\r\n', 'end\r\n.', '\r\n']) {
      client.send(piece);
      await sleep(20);
    }
    expect(code(await client.answer())).toBe('250');
    expect(bodies()).toEqual(['.dot\n.\nend']);
  });

  it('keeps nothing of a mail that breaks off', async () => {
    const client = await inData();
    client.send('Subject: half\r\n\r\nHalf');
    await sleep(100);
    client.drop();
    await sleep(300);
    expect(intake.received).toEqual([]);
  });

  /** Starts it anew with a certificate. @returns the files of that, and of its key */
  const certified = async () => {
    await listener.beforeApplicationShutdown();
    const folder = mkdtempSync(path.join(tmpdir(), 'smtp-'));
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => path.join(folder, name));
    writeFileSync(cert, SHOP_EXAMPLE.cert);
    writeFileSync(key, SHOP_EXAMPLE.key);
    await start({ SMTP_TLS_CERT_FILE: cert, SMTP_TLS_KEY_FILE: key });
    return [cert, key];
  };

  it('encrypts where it has a certificate, and takes nothing that was said before', async () => {
    await certified();
    await mail({ to: SUPPORT }, { requireTLS: true });
    expect(bodies()).toEqual(['Hello']);
    const client = await Client.connect();
    expect(await client.say('EHLO x')).toMatch(/STARTTLS/);
    // What comes in the same breath is of nobody who has been proven.
    client.send(`STARTTLS\r\nMAIL FROM:<evil@example.com>\r\nRCPT TO:<${SUPPORT}>\r\nDATA\r\n\r\nInjected\r\n.\r\n`);
    expect(code(await client.answer())).toBe('220');
    await sleep(200);
    expect(bodies()).toEqual(['Hello']);
  });

  it('shows a certificate that was renewed, once its key is there', async () => {
    const [cert, key] = await certified();
    const shown: unknown[] = [];
    for (const [file, content] of [
      [cert, RENEWED_EXAMPLE.cert],
      [key, RENEWED_EXAMPLE.key],
    ]) {
      writeFileSync(file, content);
      await listener['renewCertificate']();
      shown.push(await (await Client.connect()).certificate());
    }
    expect(shown).toEqual(['shop.example', 'renewed.example']);
  });

  it('does not start with a certificate that has no key', async () => {
    await listener.beforeApplicationShutdown();
    const cert = path.join(mkdtempSync(path.join(tmpdir(), 'smtp-')), 'cert.pem');
    writeFileSync(cert, SHOP_EXAMPLE.cert);
    await expect(start({ SMTP_TLS_CERT_FILE: cert })).rejects.toThrow('SMTP_TLS_KEY_FILE');
  });

  it('ends at once where nothing is under way, and after the mail that is', async () => {
    let open: () => void = () => undefined;
    intake.gate = new Promise<void>((resolve) => (open = resolve));
    const { port } = listener;
    const [idle, busy] = [await Client.connect(), await inData()];
    const stored = busy.say('\r\nHi\r\n.');
    await sleep(200);
    const ended = listener.beforeApplicationShutdown();
    expect(code(await idle.answer())).toBe('421');
    await eventually(
      async () => idle.closed,
      (closed) => closed,
    );
    await expect(once(net.connect(port, '127.0.0.1'), 'connect')).rejects.toThrow();
    open();
    expect(code(await stored)).toBe('250');
    await ended;
    expect(bodies()).toEqual(['Hi']);
    await start();
  });

  it('has room for some connections of one address, and says to others that they come again', async () => {
    await listener.beforeApplicationShutdown();
    await start({ SMTP_CONNECTIONS_PER_ADDRESS: '3' });
    const before = await refused();
    const clients = Array.from({ length: 5 }, () => Client.connecting());
    const answers = await Promise.all(clients.map((client) => client.answer()));
    expect(answers.map(code).sort()).toEqual(['220', '220', '220', '421', '421']);
    // That is no fault of ours, which somebody would be called for.
    expect(await refused()).toEqual({ ...before, ofAddress: before.ofAddress + 2 });
    clients[answers.findIndex((answer) => code(answer) === '220')].drop();
    await eventually(
      async () => code(await Client.connecting().answer()),
      (answer) => answer === '220',
    );
  });

  it.each([
    ['a quarter of what is held, where it has some of the connections', '10', '452'],
    ['all of it, where it has all', '100', '250'],
  ])('holds of one address %s', async (_, connections, third) => {
    await listener.beforeApplicationShutdown();
    await start({ SMTP_CONNECTIONS_PER_ADDRESS: connections });
    let open: () => void = () => undefined;
    intake.gate = new Promise<void>((resolve) => (open = resolve));
    const receive = jest.spyOn(intake, 'receive');
    const large = `\r\n${`${'x'.repeat(998)}\r\n`.repeat(24_000)}.`;
    const stored = [await inData(), await inData()].map((client) => client.say(large));
    await eventually(
      async () => receive.mock.calls.length,
      (n) => n === 2,
    );
    receive.mockRestore();
    const before = await refused();
    // Who waited as long as those may take would be dismissed.
    const answer = (await inData()).say(large);
    if (third === '452') expect(code(await answer)).toBe(third);
    open();
    expect((await Promise.all([...stored, answer])).map(code)).toEqual(['250', '250', third]);
    expect(await refused()).toEqual({ ...before, ofAddress: before.ofAddress + (third === '452' ? 1 : 0) });
  });

  it('waits for nobody who names no recipient of ours', async () => {
    await listener.beforeApplicationShutdown();
    await start();
    Object.assign(listener, { firstRecipientMs: 500 });
    // One that a busy machine has kept from naming its recipient in time comes again.
    const busy = (await eventually(() => inData().catch(() => undefined), Boolean))!;
    const idle = Client.connecting();
    idle.send('EHLO x\r\nMAIL FROM:<a@example.com>\r\n');
    await eventually(
      async () => code(await idle.answer()),
      (answer) => answer === '421',
    );
    expect(code(await busy.say('\r\nHi\r\n.'))).toBe('250');
  });

  it('takes whatever a client says', async () => {
    for (const line of ['\0\0\0', 'RCPT TO:<>', 'MAIL FROM:<a', 'x'.repeat(10_000), 'EHLO \xff', 'DATA', 'BDAT 5 LAST', 'GET / HTTP/1.1']) {
      const client = await Client.connect();
      expect(code(await client.say(line))).toMatch(/^[2345]/);
      client.drop();
    }
    await mail({ to: SUPPORT });
    expect(bodies()).toEqual(['Hello']);
  });
});
