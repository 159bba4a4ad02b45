import { WaitlistEntry } from '@aps/entities';
import { actingOperator } from '@aps/guards';
import { testService } from '@aps/testing';
import { Like } from 'typeorm';
import { allow, aUser, aWaitlistEntry, anEmail, mails, signup } from './testing';
import { IDENTITY } from './testing/identity';
import { WaitlistService } from './waitlist.service';

// What operators do with it, one by one, is said over HTTP, in the specs of admin-api.
describe('the waitlist', () => {
  const t = testService(IDENTITY, { settings: { REGISTRATION_MODE: 'allowlist' } });

  const by = async () => actingOperator((await aUser(t)).id, { requestId: 'req-1' });
  const ask = (email: string, more: Record<string, unknown> = {}) => t.call('POST', '/api/waitlist', { body: { email, ...more } });
  const entriesOf = (email: string) => t.db.manager.findBy(WaitlistEntry, { email_canonical: email.toLowerCase() });
  const admit = async (id: string) => t.get(WaitlistService).invite(await by(), id);
  const received = { status: 202, body: { status: 'received' } };

  it('takes an address', async () => {
    const email = anEmail();
    expect(await ask(email, { name: 'Grace', note: 'Please' })).toMatchObject(received);
    expect(await entriesOf(email)).toMatchObject([
      { email, name: 'Grace', note: 'Please', status: 'pending', admitted_at: null, dismissed_at: null, last_mailed_at: null },
    ]);
    expect(await mails(t, email)).toEqual([]);
  });

  it('answers every address the same way', async () => {
    const [member, dismissed, admitted] = [
      await aUser(t),
      await aWaitlistEntry(t, { status: 'dismissed' }),
      await aWaitlistEntry(t, { status: 'admitted' }),
    ];
    for (const email of [member.email, dismissed.email, admitted.email, admitted.email.toUpperCase()])
      expect(await ask(email)).toMatchObject(received);
  });

  it('notes an address that asks again, whatever the case, and keeps what was said first until that is decided against', async () => {
    const email = anEmail();
    await ask(email, { note: 'First' });
    const [before] = await entriesOf(email);
    await ask(email.toUpperCase(), { name: 'Grace', note: 'Second' });
    const after = await entriesOf(email);
    expect(after).toMatchObject([{ id: before.id, email, name: 'Grace', note: 'First', status: 'pending' }]);
    expect(after[0].asked_at.getTime()).toBeGreaterThan(before.asked_at.getTime());
    await t.get(WaitlistService).dismiss(await by(), before.id);
    await ask(email, { note: 'Third' });
    expect(await entriesOf(email)).toMatchObject([{ name: 'Grace', note: 'Third', status: 'pending' }]);
  });

  it('keeps one entry when many ask at once', async () => {
    const email = anEmail();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i % 2 ? email : email.toUpperCase())));
    expect(answers.every((a) => a.status === 202)).toBe(true);
    expect(await entriesOf(email)).toHaveLength(1);
  });

  it.each([
    ['dismissed', { status: 'pending', dismissed_at: null }],
    ['admitted', { status: 'admitted' }],
    ['registered', { status: 'registered' }],
  ] as const)('has an entry that was %s and asks again as %j', async (status, wanted) => {
    const { email } = await aWaitlistEntry(t, { status, dismissed_at: status === 'dismissed' ? new Date() : null });
    await ask(email);
    expect(await entriesOf(email)).toMatchObject([wanted]);
  });

  it.each([undefined, 'pending', 'dismissed', 'admitted'] as const)(
    'has who asks with an account as registered, were they %s',
    async (status) => {
      const { email } = await aUser(t);
      if (status) await aWaitlistEntry(t, { email, status, dismissed_at: status === 'dismissed' ? new Date() : null });
      expect(await ask(email)).toMatchObject(received);
      const [{ id, ...entry }] = await entriesOf(email);
      expect(entry).toMatchObject({ status: 'registered', dismissed_at: null });
      expect(await admit(id)).toMatchObject({ status: 'registered' });
      expect([await mails(t, email), await t.audit({ target_id: id })]).toEqual([[], []]);
    },
  );

  it('admits once, with one mail, however often and concurrently it is told to', async () => {
    const [{ id, email }, actor] = [await aWaitlistEntry(t), await by()];
    const results = await Promise.all(Array.from({ length: 5 }, () => t.get(WaitlistService).invite(actor, id)));
    for (const result of results)
      expect(result).toMatchObject({ id, status: 'admitted', admitted_at: expect.any(Date), last_mailed_at: expect.any(Date) });
    const sent = await mails(t, email);
    expect(sent).toEqual([
      expect.objectContaining({ text: expect.stringContaining(`https://app.example/signup?email=${encodeURIComponent(email)}`) }),
    ]);
    expect(await t.audit({ target_id: id })).toMatchObject([
      { action: 'waitlist.invited', actor_id: actor.userId, source: 'admin', metadata: { email, from: 'pending' }, request_id: 'req-1' },
    ]);
  });

  it('ends with the signup, after which nobody is mailed again', async () => {
    const { id, email } = await aWaitlistEntry(t);
    await admit(id);
    expect((await signup(t, email.toUpperCase())).status).toBe(201);
    expect(await entriesOf(email)).toMatchObject([{ status: 'registered', admitted_at: expect.any(Date) }]);
    expect(await admit(id)).toMatchObject({ status: 'registered' });
    expect(await t.get(WaitlistService).resend(await by(), id)).toMatchObject({ status: 'registered' });
    expect((await mails(t, email)).filter(({ text }) => text.includes('/signup?'))).toHaveLength(1);
    expect(await t.audit({ target_id: id, action: Like('waitlist.%') })).toMatchObject([{ action: 'waitlist.invited' }]);
  });

  it('ends with the signup of who was dismissed, and comes by other ways', async () => {
    const { id, email } = await aWaitlistEntry(t, { status: 'dismissed', dismissed_at: new Date() });
    await allow(t, email);
    expect((await signup(t, email)).status).toBe(201);
    expect(await admit(id)).toMatchObject({ status: 'registered', dismissed_at: null });
    expect((await mails(t, email)).filter(({ text }) => text.includes('/signup?'))).toEqual([]);
  });
});
