import { randomUUID } from 'node:crypto';
import { readFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { calls, script, type TestOrg } from '@aps/chats/testing';
import { NO_CALLER, type Tx } from '@aps/platform/database';
import { PutOff } from '@aps/platform/queues';
import { eventually, sql } from '@aps/platform/testing';
import { keyOf } from '../intake/text.policy';
import { inboxesService, type TestInbox } from '../testing';
import { RepliesRepository } from './replies.repository';
import { RepliesService } from './replies.service';

const MAILS = mkdtempSync(path.join(tmpdir(), 'replies-'));
const t = inboxesService({ MAIL_DIR: MAILS });
let org: TestOrg;
let inbox: TestInbox;
beforeEach(async () => {
  org = await t.org();
  inbox = await t.inbox(org);
});

interface Row {
  id: string;
  state: string;
  reason: string | null;
  message_ref: string | null;
  due_at: Date;
  sent_at: Date | null;
}
const repliesTo = (id: string) => t.db.query(sql<Row>('SELECT * FROM inbox_replies WHERE message_id = $1 ORDER BY created_at, id'), [id]);
const settings = (values: Record<string, unknown>) => t.call('PATCH', inbox.path, { as: org.owner, body: { settings: values } });
const answered = async (message: Parameters<typeof t.mail>[1] = {}) => {
  const id = await t.mail(inbox, message);
  const { dispatched } = await t.evaluated(id);
  await t.settled(org, dispatched!.chat_id, 1);
  return { id, chat: dispatched!.chat_id };
};
const act = (id: string, action: string) => t.make('POST', `${inbox.path}/messages/${id}/${action}`, { as: org.owner });
const retried = async (chat: string) => (await t.make('POST', `${org.path}/${chat}/retry`, { as: org.owner })).id as string;
const turnOf = async (id: string) =>
  (
    await t.db.query(
      sql<{ id: string }>('SELECT t.id FROM turns t JOIN inbox_messages m ON m.chat_message_id = t.message_id WHERE m.id = $1'),
      [id],
    )
  )[0].id;
const sent = async (id: string) =>
  (
    await eventually(
      () => repliesTo(id),
      (rows) => rows.some(({ state }) => state === 'sent'),
    )
  )[0];
const mailOf = async ({ message_ref }: Row) => {
  const file = path.join(MAILS, `${message_ref!.split('@')[0]}.eml`);
  return eventually(
    () =>
      Promise.resolve()
        .then(() => readFileSync(file, 'utf8'))
        .catch(() => ''),
    (text) => text !== '',
  );
};

describe('a reply', () => {
  it('is not made where the inbox does not want any', async () => {
    const { id } = await answered();
    expect(await repliesTo(id)).toEqual([]);
  });

  it('is mailed once, with the last words of the turn, in the thread of the mail', async () => {
    await settings({ reply: 'auto', from_name: 'Acme: "Orders"' });
    const { id } = await answered({
      subject: 'Order 7',
      message_id: 'm7@acme.com',
      references: ['m6@acme.com', 'm5@acme.com'],
    });
    const mail = await mailOf(await sent(id));
    expect(mail).toMatch(/^From: .*Acme: \\"Orders\\".*<orders-\d+@.*inbound\.localhost>$/m);
    for (const line of ['To: ann@acme.com', 'Subject: Re: Order 7', 'In-Reply-To: <m7@acme.com>', 'Auto-Submitted: auto-replied'])
      expect(mail).toContain(line);
    expect(mail.replace(/\r?\n /g, ' ')).toContain('References: <m5@acme.com> <m6@acme.com> <m7@acme.com>');
    expect(mail).toContain('You said:');
    expect(await repliesTo(id)).toHaveLength(1);
  });

  it.each([
    ['none', null],
    ['one that is too long to be kept', keyOf(`${'x'.repeat(300)}@acme.com`)],
  ])('says that it is one also where the Message-ID of the mail is %s', async (_, message_id) => {
    await settings({ reply: 'auto' });
    const references = ['m6@acme.com', keyOf(`${'y'.repeat(300)}@acme.com`)!, 'm5@acme.com'];
    const { id } = await answered({ message_id, references });
    const mail = await mailOf(await sent(id));
    expect(mail).toContain('Auto-Submitted: auto-replied');
    expect(mail.replace(/\r?\n /g, ' ')).toContain('References: <m5@acme.com> <m6@acme.com>\n');
    expect(mail).not.toMatch(/In-Reply-To|sha256/);
  });

  it('is mailed when its chat has failed, and goes on', async () => {
    await settings({ reply: 'auto' });
    const error = { status: 400, message: 'no', times: 2 };
    const id = await t.mail(inbox, { body_text: script({ error, text: 'Ten are left.' }) });
    const chat = (await t.evaluated(id)).dispatched!.chat_id;
    for (let n = 1; n <= 2; n++) {
      await eventually(
        () => t.db.query(sql<{ n: number }>(`SELECT count(*)::int AS n FROM turns WHERE chat_id = $1 AND status = 'failed'`), [chat]),
        ([failed]) => failed.n === n,
      );
      expect(await repliesTo(id)).toEqual([]);
      await t.make('POST', `${org.path}/${chat}/continue`, { as: org.owner });
    }
    expect(await mailOf(await sent(id))).toContain('Ten are left.');
    // What a member says there is not from whom the mail came.
    await t.send(org, chat, 'And now?');
    await t.settled(org, chat, 2);
    expect(await repliesTo(id)).toHaveLength(1);
  });

  it('is mailed when its chat has failed, and is retried, and goes on there', async () => {
    await settings({ reply: 'auto' });
    const error = { status: 400, message: 'no', times: 2 };
    const id = await t.mail(inbox, { message_id: 'm1@acme.com', body_text: script({ error, text: `Ten are left, ${randomUUID()}.` }) });
    const failed = async (chat: string) => {
      await eventually(
        () => t.db.query(sql(`SELECT 1 FROM turns WHERE chat_id = $1 AND status = 'failed'`), [chat]),
        (turns) => turns.length === 1,
      );
      return chat;
    };
    const chat = await failed((await t.evaluated(id)).dispatched!.chat_id);
    const again = await failed(await retried(chat));
    expect(await repliesTo(id)).toEqual([]);
    await t.make('POST', `${org.path}/${again}/continue`, { as: org.owner });
    const reply = await sent(id);
    expect(await mailOf(reply)).toContain('Ten are left');
    expect((await t.evaluated(await t.mail(inbox, { references: [reply.message_ref!] }))).dispatched!.chat_id).toBe(again);
    await act(id, 'terminate');
    expect((await t.read(org, again)).body.stop_reason).toBe('terminated');
  });

  it('is not mailed again when a chat that has answered is retried', async () => {
    await settings({ reply: 'auto' });
    const { id, chat } = await answered();
    await sent(id);
    await t.settled(org, await retried(chat), 1);
    expect(await repliesTo(id)).toHaveLength(1);
  });

  it('is sent in the end, however often that has failed, and leaves no job', async () => {
    await settings({ reply: 'auto', reply_delay_s: 3600 });
    const { id } = await answered();
    const [{ id: reply }] = await repliesTo(id);
    await t.db.execute(sql('UPDATE outbox SET failures = 20, available_at = now() WHERE id = $1'), [reply]);
    await mailOf(await sent(id));
    const left = 'SELECT id FROM outbox WHERE id = $1 UNION ALL SELECT id FROM dead_letters WHERE id = $1';
    expect(await t.db.query(sql(left), [reply])).toEqual([]);
  });

  it('that is answered goes on in its chat', async () => {
    await settings({ reply: 'auto' });
    const { id, chat } = await answered({ message_id: 'm1@acme.com' });
    const { message_ref } = await sent(id);
    const next = await t.evaluated(await t.mail(inbox, { references: [message_ref!] }));
    expect(next.dispatched!.chat_id).toBe(chat);
  });

  it('that is answered goes on in its chat, also where its mail has begun another since', async () => {
    await settings({ reply: 'auto' });
    const { id, chat } = await answered({ message_id: 'm1@acme.com' });
    const { message_ref } = await sent(id);
    await act(id, 'replay');
    const again = (await t.evaluated(id)).dispatched!.chat_id;
    expect(again).not.toBe(chat);
    const chatAfter = async (references: string[]) => (await t.evaluated(await t.mail(inbox, { references }))).dispatched!.chat_id;
    expect([await chatAfter([message_ref!]), await chatAfter(['m1@acme.com'])]).toEqual([chat, again]);
  });

  it('that is answered by whom it went to goes on in its chat, though the mail came from another address', async () => {
    await settings({ reply: 'auto' });
    const { id, chat } = await answered({ reply_to: 'desk@acme.com' });
    const { message_ref } = await sent(id);
    const from = async (address: string) =>
      (await t.evaluated(await t.mail(inbox, { references: [message_ref!], sender: { address, name: null } }))).dispatched!.chat_id;
    expect(await from('eve@evil.com')).not.toBe(chat);
    expect(await from('desk@acme.com')).toBe(chat);
  });

  it('is sent for a mail that was terminated and is evaluated again, and not for what was terminated', async () => {
    await settings({ reply: 'auto', reply_delay_s: 3600 });
    const { id } = await answered();
    await act(id, 'terminate');
    expect(await repliesTo(id)).toMatchObject([{ state: 'stood_down' }]);
    await act(id, 'replay');
    await t.settled(org, (await t.evaluated(id)).dispatched!.chat_id, 1);
    expect(await repliesTo(id)).toMatchObject([{ state: 'stood_down' }, { state: 'armed' }]);
  });

  it('waits for as long as the inbox says, and does not go out when it stands down', async () => {
    await settings({ reply: 'auto', reply_delay_s: 600 });
    const { id } = await answered();
    const [{ state, due_at }] = await repliesTo(id);
    expect(state).toBe('armed');
    expect(due_at.getTime()).toBeGreaterThan(Date.now() + 500_000);
  });

  it('waits while its organization is suspended, and does not go out once that is deleted', async () => {
    await settings({ reply: 'auto', reply_delay_s: 3600 });
    const [first, second] = [await answered(), await answered()];
    const organization = (columns: string) => t.db.execute(sql(`UPDATE organizations SET ${columns} WHERE id = $1`), [org.id]);
    const send = async ({ id }: { id: string }) => t.get(RepliesService).send((await repliesTo(id))[0].id);
    await organization('suspended_at = now()');
    await expect(send(first)).rejects.toThrow(PutOff);
    expect(await repliesTo(first.id)).toMatchObject([{ state: 'armed' }]);
    await organization('suspended_at = NULL');
    await send(first);
    expect(await repliesTo(first.id)).toMatchObject([{ state: 'sent' }]);
    await organization('suspended_at = now(), deleted_at = now()');
    await send(second);
    expect(await repliesTo(second.id)).toMatchObject([{ state: 'stood_down' }]);
  });

  it.each([
    ['auto_submitted', { automatic: 'auto-submitted' }],
    ['no_sender', { reply_to: null }],
    ['own_address', { reply_to: 'orders@acme.inbound.localhost' }],
  ])('is suppressed: %s', async (reason, message) => {
    await t.rules(inbox, { gates: { auto_submitted: 'accept' } });
    await settings({ reply: 'auto' });
    const { id } = await answered(message);
    expect(await repliesTo(id)).toMatchObject([{ state: 'suppressed', reason }]);
  });

  it('is not sent to one sender more than ten times an hour', async () => {
    await settings({ reply: 'auto', reply_delay_s: 3600 });
    const { id } = await answered();
    await t.db.execute(
      sql(`INSERT INTO inbox_replies (id, org_id, inbox_id, message_id, chat_id, source_id, call_key, to_address, body_text, state, due_at)
           SELECT gen_random_uuid(), org_id, inbox_id, message_id, chat_id, gen_random_uuid(), n::text, to_address, 'x', 'sent', now() FROM inbox_replies, generate_series(1, 9) n WHERE message_id = $1`),
      [id],
    );
    const { id: next } = await answered();
    expect(await repliesTo(next)).toMatchObject([{ state: 'suppressed', reason: 'too_many' }]);
  });

  it('is not armed an eleventh time where two are at the same moment', async () => {
    await settings({ reply: 'tool', reply_delay_s: 3600 });
    const { id } = await answered();
    const message = (await t.get(RepliesRepository).answeredBy(t.db, await turnOf(id)))!;
    const arm = (tx: Tx) => t.get(RepliesService).arm(tx, message, { chat_id: null, source_id: randomUUID(), call_key: '', text: 'x' });
    for (let i = 0; i < 9; i++) await t.db.transaction(NO_CALLER, arm);
    let other: ReturnType<typeof arm>;
    const first = await t.db.transaction(NO_CALLER, async (tx) => {
      const armed = await arm(tx);
      other = t.db.transaction(NO_CALLER, arm);
      // Long enough for who waits for nobody.
      await Promise.race([other, new Promise((r) => setTimeout(r, 500))]);
      return armed;
    });
    expect([first, await other!]).toEqual([{ due_at: expect.any(Date) }, { suppressed: 'too_many' }]);
  });

  it('is the agent’s to send where the inbox says so, call by call', async () => {
    await settings({ reply: 'tool' });
    const { id } = await answered({ body_text: calls('reply_to_sender', { text: 'Ten are on their way.' }) });
    expect(await mailOf(await sent(id))).toContain('Ten are on their way.');
    expect(await repliesTo(id)).toHaveLength(1);
  });

  it('is the agent’s to send also when a member has spoken last', async () => {
    await settings({ reply: 'tool' });
    const { id, chat } = await answered();
    await t.send(org, chat, calls('reply_to_sender', { text: 'Ten are on their way.' }));
    await t.settled(org, chat, 2);
    expect(await mailOf(await sent(id))).toContain('Ten are on their way.');
  });

  it('is refused to an agent where the inbox does not, and in chats that no inbox has begun', async () => {
    const { id, chat } = await answered({ body_text: calls('reply_to_sender', { text: 'No.' }) });
    expect(await repliesTo(id)).toEqual([]);
    const { messages } = (await t.read(org, chat)).body as unknown as { messages: { role: string; content: string }[] };
    expect(messages.find(({ role }) => role === 'tool')!.content).toContain('does not let mails be answered');
    const own = await t.chat(org);
    await t.send(org, own, calls('reply_to_sender', { text: 'No.' }));
    const done = await t.settled(org, own, 1);
    expect(JSON.stringify(done)).toContain('reply_to_sender');
    expect(await t.db.query(sql('SELECT 1 FROM inbox_replies WHERE chat_id = $1'), [own])).toEqual([]);
  });
});
