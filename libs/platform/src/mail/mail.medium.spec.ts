import { NO_CALLER } from '@aps/platform/database';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import { loadConfig } from '@aps/platform/config';
import { EnvelopeCrypto } from '@aps/platform/crypto';
import type { Tx } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { metrics } from '@aps/platform/observability';
import type { Outbox } from '@aps/platform/outbox';
import { PutOff } from '@aps/platform/queues';
import { sql, createTestDatabase, decodeWords, SmtpServer, type TestDatabase } from '@aps/platform/testing';
import { DataKeyEntity } from '../../../entities/src/platform/data-key.entity';
import { OutboundMailEntity } from '../../../entities/src/platform/outbound-mail.entity';
import { appLink, mailConfig } from './mail.config';
import { MailJobs } from './mail.jobs';
import { Mailer } from './mailer';
import { MailTransport } from './transport';

const MAIL = {
  to: 'person@somewhere.example',
  subject: 'You are invited – ünï',
  text: `Open ${'https://app.example/invite/'}the-credential-${'x'.repeat(43)}\n`,
};

describe('mail', () => {
  let database: TestDatabase;
  let crypto: EnvelopeCrypto;
  let mailer: Mailer;
  let jobs: MailJobs;
  let maintenance: Maintenance;
  let transport: MailTransport;
  let dir: string;
  let enqueued: unknown[];
  let logged: string[];

  beforeAll(async () => {
    database = await createTestDatabase({ entities: [DataKeyEntity, OutboundMailEntity] });
    await database.dataSource.synchronize();
    crypto = new EnvelopeCrypto();
  });
  beforeAll(() => {
    maintenance = new Maintenance(database.db);
  });
  beforeEach(() => {
    dir = path.join(mkdtempSync(path.join(tmpdir(), 'mail-')), 'deep', 'mail');
    configure({});
    enqueued = [];
    const outbox = { enqueue: async (_tx: Tx, ...rest: unknown[]) => void enqueued.push(rest) } as unknown as Outbox;
    mailer = new Mailer(crypto, outbox);
    transport = new MailTransport();
    jobs = new MailJobs(database.db, crypto, transport, maintenance);
    logged = [];
    for (const level of ['log', 'warn', 'error'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation((...m: unknown[]) => void logged.push(m.join(' ')));
  });
  afterEach(async () => {
    await transport.onApplicationShutdown();
    rmSync(path.dirname(path.dirname(dir)), { recursive: true });
    jest.restoreAllMocks();
  });
  afterAll(() => database?.drop());

  const configure = (env: NodeJS.ProcessEnv) =>
    loadConfig({ ...process.env, MAIL_DIR: dir, MAIL_FROM: 'Agents <no-reply@mail.example>', APP_URL: 'https://app.example/', ...env });
  const send = (mail = MAIL) => database.db.transaction(NO_CALLER, (tx) => mailer.send(tx, mail));
  const row = async (id: string) =>
    (await database.db.query(sql<OutboundMailEntity & Record<string, unknown>>('SELECT * FROM outbound_mails WHERE id = $1'), [id]))[0];
  const files = () => readdirSync(dir).map((f) => readFileSync(path.join(dir, f), 'utf8'));

  it('leaves with its transaction or not at all, unreadable in the database', async () => {
    const id = await send();
    expect(enqueued).toEqual([['mail.send', { mail_id: id }, { id, requestId: undefined }]]);
    const stored = await row(id);
    expect(stored).toMatchObject({ recipient: MAIL.to, subject: MAIL.subject, status: 'pending', attempts: 0 });
    expect(JSON.stringify(stored)).not.toContain('the-credential');

    let lost = '';
    const rolledBack = database.db.transaction(NO_CALLER, async (tx) => {
      lost = await mailer.send(tx, MAIL);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(await row(lost)).toBeUndefined();
  });

  it('becomes one file in the mail folder, once, and its body is wiped', async () => {
    const id = await send({ ...MAIL, text: 'Hello\nfrom us\n' });
    await jobs.send({ mail_id: id });
    await jobs.send({ mail_id: id });
    expect(readdirSync(dir)).toEqual([`${id}.eml`]);
    expect(statSync(path.join(dir, `${id}.eml`)).mode & 0o777).toBe(0o600);
    const [eml] = files();
    expect(eml).toContain('To: person@somewhere.example');
    expect(eml).toContain('From: Agents <no-reply@mail.example>');
    expect(eml).toContain(`Message-ID: <${id}@mail.example>`);
    expect(eml).toContain('Hello\nfrom us');
    expect(await row(id)).toMatchObject({ status: 'sent', attempts: 1, body: null, claimed_until: null, sent_at: expect.any(Date) });
  });

  it('cannot be given further recipients or headers', async () => {
    for (const to of [
      'a@x.example, b@y.example',
      'a@x.example\r\nBcc: c@z.example',
      'A <a@x.example>',
      '"a, b"@x.example',
      'a@x.example;b@y.example',
      '',
    ]) {
      await expect(send({ ...MAIL, to })).rejects.toThrow('one plain address');
    }
    const id = await send({ ...MAIL, to: "o'neil+tag@x.example", subject: 'S\r\nBcc: d@z.example' });
    await jobs.send({ mail_id: id });
    const [eml] = files();
    expect(eml).toContain("To: o'neil+tag@x.example");
    expect(eml).not.toMatch(/^bcc:/im);
  });

  it.each([
    '=?utf-8?q?Pay_here?=',
    'x =?UTF-8?B?UGF5IGhlcmU=?= ü',
    '==??utf-8?q?Pay_here?=',
    'Pay\u202ehere',
    'Pay\u2028here',
    'Pay\r\n\there',
  ])('shows a subject as it was read by us, whatever a mail program would make of it: %j', async (subject) => {
    const server = new SmtpServer();
    configure({ SMTP_URL: await server.listen() });
    await jobs.send({ mail_id: await send({ ...MAIL, subject }) });
    const shown = server.headers().get('subject') ?? '';
    expect(decodeWords(shown)).toBe(shown);
    expect(shown.replaceAll(' ', '')).toBe(subject.replace(/[\s\u202e]/g, ''));
    expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    server.close();
  });

  it('goes through the SMTP server when there is one', async () => {
    const server = new SmtpServer();
    configure({ SMTP_URL: await server.listen() });
    const id = await send({ ...MAIL, html: '<p>Hello</p>' } as typeof MAIL);
    await jobs.send({ mail_id: id });
    expect(server.mails).toHaveLength(1);
    expect(server.mails[0]).toContain(`Message-ID: <${id}@mail.example>`);
    expect(server.mails[0]).toContain('<p>Hello</p>');
    expect((await row(id)).status).toBe('sent');
    server.close();
  });

  it('is counted by whether the server puts it off, or takes none at all', async () => {
    const server = new SmtpServer();
    configure({ SMTP_URL: await server.listen() });
    const outcomes = async () =>
      Object.fromEntries((await metrics.getSingleMetric('mail_tries_total')!.get()).values.map((v) => [v.labels.outcome, v.value]));
    const counted = async (refuse: string) => {
      server.refuse = refuse;
      const before = await outcomes();
      await expect(jobs.send({ mail_id: await send() })).rejects.toThrow(PutOff);
      const after = await outcomes();
      return Object.keys(after).filter((outcome) => after[outcome] !== before[outcome]);
    };
    expect(await counted('450 4.2.1 greylisted')).toEqual(['later']);
    expect(await counted('421 4.3.2 shutting down')).toEqual(['unreachable']);
    server.close();
    await transport.onApplicationShutdown();
    expect(await counted('')).toEqual(['unreachable']);
  });

  it('is tried again after a passing failure, and given up after a lasting one, without naming anybody', async () => {
    const server = new SmtpServer();
    configure({ SMTP_URL: await server.listen() });
    const id = await send();
    server.refuse = `450 4.2.1 <${MAIL.to}> is busy`;
    const error = await jobs.send({ mail_id: id }).catch((e: Error) => e);
    expect(error).toBeInstanceOf(PutOff);
    expect(String((error as Error).stack)).not.toContain('somewhere');
    expect(await row(id)).toMatchObject({ status: 'pending', attempts: 1, last_error: 'EENVELOPE 450', claimed_until: null });
    server.refuse = `550 5.1.1 <${MAIL.to}> is unknown`;
    await jobs.send({ mail_id: id });
    expect(await row(id)).toMatchObject({ status: 'failed', attempts: 2, last_error: 'EENVELOPE 550', body: null });
    await jobs.send({ mail_id: id });
    expect((await row(id)).attempts).toBe(2);
    expect(logged.join('\n')).toContain(id);
    expect(logged.join('\n')).not.toMatch(/somewhere|credential/);
    server.close();
  });

  it('is not offered again to a server that has looked into it and does not want it', async () => {
    const server = new SmtpServer();
    configure({ SMTP_URL: await server.listen() });
    const id = await send();
    server.refuseMail = '451 4.7.1 later';
    await expect(jobs.send({ mail_id: id })).rejects.toThrow('EMESSAGE 451');
    server.refuseMail = '554 5.7.1 spam';
    await jobs.send({ mail_id: id });
    expect(await row(id)).toMatchObject({ status: 'failed', attempts: 2, last_error: 'EMESSAGE 554', body: null });
    server.close();
  });

  it('is tried for three days in growing waits, and then given up', async () => {
    configure({ SMTP_URL: 'smtp://127.0.0.1:1' });
    const id = await send();
    const waits: number[] = [];
    const tried = () => jobs.send({ mail_id: id }).catch((error: unknown) => void waits.push((error as PutOff).seconds));
    for (const attempts of [0, 5, 100]) {
      await database.db.execute(sql('UPDATE outbound_mails SET attempts = $2 WHERE id = $1'), [id, attempts]);
      await tried();
    }
    for (const [i, most] of [5, 160, 3_600].entries()) {
      expect(waits[i]).toBeLessThanOrEqual(most);
      expect(waits[i]).toBeGreaterThanOrEqual(most / 2);
    }
    expect(await row(id)).toMatchObject({ status: 'pending', body: expect.any(String), last_error: 'ESOCKET' });
    const ageIs = (age: string) =>
      database.db.execute(sql('UPDATE outbound_mails SET created_at = now() - $2::interval WHERE id = $1'), [id, age]);
    await ageIs('71 hours');
    await tried();
    expect(waits).toHaveLength(4);
    expect(await metrics.getSingleMetricAsString('mail_tries_total')).toMatch(/outcome="failed"\} \d/);
    const [, oldest] = /^mail_oldest_waiting_seconds (\d+)/m.exec(await metrics.metrics())!;
    expect(Number(oldest)).toBeGreaterThanOrEqual(71 * 3_600);
    await ageIs('73 hours');
    await tried();
    expect([waits.length, await row(id)]).toEqual([4, expect.objectContaining({ status: 'failed', body: null })]);
  });

  it('is sent by one worker at a time, and by the next when that one died', async () => {
    const id = await send();
    await database.db.execute(sql(`UPDATE outbound_mails SET claimed_until = now() + interval '1 minute' WHERE id = $1`), [id]);
    const putOff = await jobs.send({ mail_id: id }).catch((error: unknown) => error as PutOff);
    expect(putOff).toBeInstanceOf(PutOff);
    // Its claim is over by the next try, which comes then and counts none.
    expect(Math.round((putOff as PutOff).seconds / 10)).toBe(6);
    await database.db.execute(sql(`UPDATE outbound_mails SET claimed_until = now() - interval '1 second' WHERE id = $1`), [id]);
    await jobs.send({ mail_id: id });
    expect((await row(id)).status).toBe('sent');
    await jobs.send({ mail_id: randomUUID() });
  });

  it('leaves no row behind for ever', async () => {
    await database.db.execute(sql('DELETE FROM outbound_mails'));
    const ids = [await send(), await send(), await send()];
    await jobs.send({ mail_id: ids[0] });
    await jobs.send({ mail_id: ids[1] });
    const ageIs = (id: string, age: string) =>
      database.db.execute(sql('UPDATE outbound_mails SET created_at = now() - $2::interval WHERE id = $1'), [id, age]);
    await ageIs(ids[0], '31 days');
    // Its job was given up.
    await ageIs(ids[2], '97 hours');
    const tried = await send();
    await ageIs(tried, '71 hours');
    expect([await jobs.purge(10), await jobs.purge(10)]).toEqual([1, 0]);
    expect([await row(ids[2]), await row(tried)]).toMatchObject([{ status: 'failed', body: null }, { status: 'pending' }]);
  });

  it('makes links into the application', () => {
    expect(appLink('/invite/', 'a/b?c')).toBe('https://app.example/invite/a%2Fb%3Fc');
    expect(mailConfig.value.appUrl).toBe('https://app.example');
    for (const env of [{ MAIL_FROM: 'nobody' }, { MAIL_FROM: 'a@b\r\nBcc: c@d' }, { APP_URL: 'javascript:1' }, { SMTP_URL: 'http://x' }])
      expect(() => configure(env)).toThrow(Object.keys(env)[0]);
  });
});
