import { SmtpServer, WEBHOOK_SECRET } from '@aps/platform/testing';
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPlatform, until, type Platform } from '../../api-gateway-e2e/support';
import { DOORS, mailTo, openInbox, pathOf, putRulesInForce, Senders, type OpenInbox, type Sending } from './senders';
import { ALL_WELL, verdictOf } from './verdict';

const KILLS = 3;

/** What comes from outside, by built apps as processes, while parts of the platform are away. */
describe('intake', () => {
  let platform: Platform;
  /** The mail server of everybody else. */
  const outside = new SmtpServer();
  let inboxes = 0;
  let inbox: OpenInbox;
  let senders: Senders;

  beforeAll(async () => {
    platform = await startPlatform({
      apps: ['api-gateway', 'chat-worker', 'inbox-intake'],
      own: ['postgres', 'redis'],
      env: { INBOUND_EMAIL_SECRET_GENERIC: WEBHOOK_SECRET, SMTP_URL: await outside.listen() },
    });
  });
  afterAll(async () => {
    await platform?.stop();
    outside.close();
  });
  beforeEach(async () => {
    inbox = await openInbox(platform, `orders-${++inboxes}`);
    senders = new Senders(platform, inbox);
  });

  /** By every door in turn. */
  const sendings = (n: number): Sending[] => Array.from({ length: n }, (_, i) => ({ key: `order-${inboxes}-${i}`, door: DOORS[i % 3] }));
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    platform.call('POST', path, { as: null, body, headers });
  const refusals = async (door: string) => {
    const line = new RegExp(`^inbox_refusals_total\\{door="${door}",reason="failed"\\} (\\d+)$`, 'm');
    return Number(line.exec(await platform.app('inbox-intake').metrics())?.[1] ?? 0);
  };

  it('a message by any door is stored once, evaluated, and answered by the agent', async () => {
    for (const sending of sendings(3)) {
      const id = await senders.untilTaken(sending);
      expect(await senders.send(sending)).toMatchObject({ message_id: id });
    }
    expect(await senders.send(sendings(1)[0])).toMatchObject({ code: 200, duplicate: true });
    // A mail is the same by either door.
    const [, mail] = sendings(2);
    expect([...senders.taken.get(mail.key)!]).toEqual([await senders.untilTaken({ ...mail, door: 'smtp' })]);
    expect(await verdictOf(platform, senders)).toEqual({ acknowledged: 3, ...ALL_WELL });
    const { items } = (await platform.call('GET', platform.chatsPath())).body as { items: { id: string; title: string }[] };
    const { messages } = (await platform.getChat(items.find(({ title }) => title === mail.key)!.id)).body;
    const [, answer] = messages.map(({ content }: { content: string }) => content) as string[];
    expect(answer.startsWith(`You said: From: Ann <${mail.key}@example.com>`)).toBe(true);
  });

  it('two inboxes that answer each other stop at once, though both take what machines send', async () => {
    const [ours, theirs] = [await openInbox(platform, 'ours', { reply: 'auto' }), await openInbox(platform, 'theirs', { reply: 'auto' })];
    for (const each of [ours, theirs]) await putRulesInForce(platform, each, { gates: { auto_submitted: 'accept' }, stages: [] });
    const ann = 'ann@example.com';
    const mail = (headers: string[]) => [`From: ${ann}`, `To: ${ours.address}`, ...headers, '', 'Hello', ''].join('\r\n');
    const settled = async ({ path }: OpenInbox, { message_id }: { message_id?: string }) => {
      const read = async () => (await platform.call('GET', `${path}/messages/${message_id}`)).body;
      await until('a message is evaluated', async () => (await read()).state !== 'evaluating');
      return read();
    };
    const ownAddress = { state: 'dropped', decided_by: 'auto_submitted', dispatched: null, reply: { state: 'none' } };

    const first = await mailTo(platform.smtpPort, { from: ann, to: ours.address, raw: mail(['Subject: A question']) });
    expect(await settled(ours, first)).toMatchObject({ state: 'accepted' });
    await until('the agent has answered', () => outside.mails.length > 0);
    const [reply] = outside.mails;
    expect(reply).toMatch(new RegExp(`^From: ${ours.address}\r$`, 'm'));
    // Ann has all her mail forwarded to the other one, which would answer to where it is from.
    const forwarded = await mailTo(platform.smtpPort, { from: ann, to: theirs.address, raw: reply });
    const there = await settled(theirs, forwarded);
    expect(there).toMatchObject(ownAddress);
    expect(there.trace).toContainEqual(expect.objectContaining({ outcome: 'dropped', detail: { reason: 'own_address' } }));
    // Or somebody has the one answer to the other: the mail is heard, and nobody is answered.
    const planted = await mailTo(platform.smtpPort, { from: ann, to: ours.address, raw: mail([`Reply-To: ${theirs.address}`]) });
    expect(await settled(ours, planted)).toMatchObject({ state: 'accepted' });
    const replyTo = async () => (await platform.call('GET', `${ours.path}/messages/${planted.message_id}`)).body.reply.state;
    await until('the agent has answered', async () => (await replyTo()) !== 'none');
    expect(await replyTo()).toBe('suppressed');
    expect(outside.recipients).toEqual([ann]);
  });

  it('a webhook is refused without the signature that its channel asks for, and at once under an address that was rotated', async () => {
    const channel = `${inbox.path}/channels/${inbox.webhook.id}`;
    const signature = { scheme: 'github', secret: 'known-to-both' };
    expect((await platform.call('PATCH', channel, { body: { config: { signature } } })).status).toBe(200);
    const body = '{"id":"signed"}';
    const mac = createHmac('sha256', signature.secret).update(body).digest('hex');
    const headers = { 'X-Hub-Signature-256': `sha256=${mac}` };
    expect([(await post(inbox.webhook.path, body)).body.code, (await post(inbox.webhook.path, body, headers)).status]).toEqual([
      'bad_signature',
      202,
    ]);
    const { webhook_url } = (await platform.call('POST', `${channel}/rotate-token`)).body;
    expect([
      (await post(inbox.webhook.path, body, headers)).status,
      (await post(pathOf(webhook_url as string), body, headers)).status,
    ]).toEqual([404, 200]);
    expect(await senders.send({ key: 'unsigned', door: 'webhook' })).toEqual({ code: 404 });
  });

  it('what was acknowledged is evaluated once, though inbox-intake is killed again and again', async () => {
    let done = false;
    const sending = senders.allTaken(sendings(90), 6).finally(() => (done = true));
    for (let kill = 0; kill < KILLS && !done; kill++) {
      await sleep(200);
      await platform.restart('inbox-intake');
    }
    await sending;
    expect(senders.sent).toBeGreaterThan(90);
    expect(await verdictOf(platform, senders)).toEqual({ acknowledged: 90, ...ALL_WELL });
  });

  it('without Redis it is acknowledged, and evaluated when Redis is back', async () => {
    await platform.redis!.kill();
    for (const sending of sendings(3)) expect([sending.door, await senders.send(sending)]).toEqual([sending.door, expect.objectContaining({ message_id: expect.any(String) })]); // prettier-ignore
    await platform.redis!.restart();
    expect(await verdictOf(platform, senders)).toEqual({ acknowledged: 3, ...ALL_WELL });
  });

  it('without PostgreSQL nothing is acknowledged, and senders are asked to come again', async () => {
    const before = await Promise.all(DOORS.map(refusals));
    await platform.postgres!.kill();
    const told = [];
    for (const sending of sendings(3)) told.push((await senders.send(sending)).code);
    expect(told).toEqual([503, 503, 451]);
    for (const [i, door] of DOORS.entries()) expect([door, await refusals(door)]).toEqual([door, before[i] + 1]);
    await platform.postgres!.restart();
    await until('inbox-intake is ready', async () => (await platform.app('inbox-intake').readyz()).body.ready);
    await senders.allTaken(sendings(3), 3);
    expect(await verdictOf(platform, senders)).toEqual({ acknowledged: 3, ...ALL_WELL });
  });
});
