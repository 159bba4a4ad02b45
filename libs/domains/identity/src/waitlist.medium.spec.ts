import { type ActingUser, actingOperator } from '@aps/guards';
import { sql } from '@aps/platform/testing';
import { randomUUID } from 'node:crypto';
import { anEmail, identityTestApp, PASSWORD, type IdentityTestApp } from './testing/identity-test-app';
import type { WaitlistEntry } from '@aps/entities';
import { WaitlistService } from './waitlist.service';

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

describe('the waitlist', () => {
  let t: IdentityTestApp;
  let waitlist: WaitlistService;
  let actor: ActingUser;
  beforeAll(async () => {
    t = await identityTestApp({ REGISTRATION_MODE: 'allowlist' });
    waitlist = t.app.get(WaitlistService, { strict: false });
    actor = actingOperator((await t.user()).id, { requestId: 'req-1' });
  });
  afterAll(() => t.close());
  beforeEach(() => t.db.execute(sql('TRUNCATE waitlist_entries, audit_log, outbound_mails')));

  const ask = (body: Record<string, unknown>) => t.call('POST', '/api/waitlist', { body });
  const entryOf = async (email: string) =>
    (await waitlist.list()).items.find((e) => e.email.toLowerCase() === email.toLowerCase()) as WaitlistEntry;
  const asked = async (email = anEmail()) => {
    await waitlist.ask(email);
    return entryOf(email);
  };
  const audits = async () => (await t.db.query(sql<{ action: string }>('SELECT action FROM audit_log ORDER BY id'))).map((r) => r.action);

  it('takes an address', async () => {
    const email = anEmail();
    const { status, body } = await ask({ email, name: 'Grace', note: 'Please' });
    expect([status, body]).toEqual([202, { status: 'received' }]);
    expect(await entryOf(email)).toMatchObject({
      email,
      name: 'Grace',
      note: 'Please',
      status: 'pending',
      admitted_at: null,
      dismissed_at: null,
      last_mailed_at: null,
    });
    expect(await t.mails(email)).toEqual([]);
  });

  it('answers every address the same way', async () => {
    const member = await t.user();
    const dismissed = await asked();
    await waitlist.dismiss(actor, dismissed.id);
    const admitted = await asked();
    await waitlist.invite(actor, admitted.id);
    for (const email of [member.email, dismissed.email, admitted.email, admitted.email.toUpperCase()]) {
      const { status, body } = await ask({ email });
      expect([status, body]).toEqual([202, { status: 'received' }]);
    }
  });

  it('notes an address that asks again, whatever the case, and keeps what it said before', async () => {
    const email = anEmail();
    await waitlist.ask(email, 'Grace', 'First');
    const before = await entryOf(email);
    await waitlist.ask(email.toUpperCase(), null, 'Second');
    const after = await entryOf(email);
    expect(after).toMatchObject({ id: before.id, email, name: 'Grace', note: 'Second', status: 'pending' });
    expect(after.asked_at.getTime()).toBeGreaterThan(before.asked_at.getTime());
    expect((await waitlist.list()).total).toBe(1);
  });

  it('keeps one entry when many ask at once', async () => {
    const email = anEmail();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask({ email: i % 2 ? email : email.toUpperCase() })));
    expect(answers.every((a) => a.status === 202)).toBe(true);
    expect((await waitlist.list()).total).toBe(1);
  });

  it('opens a dismissed entry that asks again, and leaves an admitted one admitted', async () => {
    const dismissed = await asked();
    expect(await waitlist.dismiss(actor, dismissed.id)).toMatchObject({ status: 'dismissed', dismissed_at: expect.any(Date) });
    expect(await asked(dismissed.email)).toMatchObject({ status: 'pending', dismissed_at: null });
    await waitlist.invite(actor, dismissed.id);
    expect(await asked(dismissed.email)).toMatchObject({ status: 'admitted' });
  });

  it('is listed most recently asked first, by state and in pages', async () => {
    const entries = [await asked(), await asked(), await asked()];
    await waitlist.dismiss(actor, entries[1].id);
    await asked(entries[0].email);
    const ids = async (query: Parameters<WaitlistService['list']>[0]) => {
      const { items, total } = await waitlist.list(query);
      return [items.map((i) => entries.findIndex((e) => e.id === i.id)), total];
    };
    expect(await ids({})).toEqual([[0, 2, 1], 3]);
    expect(await ids({ limit: 1, offset: 1 })).toEqual([[2], 3]);
    expect(await ids({ status: 'pending' })).toEqual([[0, 2], 2]);
    expect(await ids({ status: 'dismissed' })).toEqual([[1], 1]);
  });

  it('dismisses only what is pending', async () => {
    const entry = await asked();
    await waitlist.dismiss(actor, entry.id);
    expect(await codeOf(waitlist.dismiss(actor, entry.id))).toBe('not_pending');
    await waitlist.invite(actor, entry.id);
    expect(await codeOf(waitlist.dismiss(actor, entry.id))).toBe('not_pending');
    expect(await codeOf(waitlist.dismiss(actor, randomUUID()))).toBe('not_found');
    expect(await audits()).toEqual(['waitlist.dismissed', 'waitlist.invited']);
  });

  it('admits once, with one mail, however often and concurrently it is told to', async () => {
    const entry = await asked();
    const results = await Promise.all(Array.from({ length: 5 }, () => waitlist.invite(actor, entry.id)));
    for (const result of results)
      expect(result).toMatchObject({ id: entry.id, status: 'admitted', admitted_at: expect.any(Date), last_mailed_at: expect.any(Date) });
    const mails = await t.mails(entry.email);
    expect(mails).toHaveLength(1);
    expect(mails[0].text).toContain(`https://app.example/signup?email=${encodeURIComponent(entry.email)}`);
    expect(await t.audit('waitlist.invited')).toEqual([
      {
        actor_id: actor.userId,
        source: 'admin',
        target_id: entry.id,
        metadata: { email: entry.email, from: 'pending' },
        request_id: 'req-1',
      },
    ]);
    expect(await codeOf(waitlist.invite(actor, randomUUID()))).toBe('not_found');
  });

  it('admits a dismissed entry', async () => {
    const entry = await asked();
    await waitlist.dismiss(actor, entry.id);
    expect(await waitlist.invite(actor, entry.id)).toMatchObject({ status: 'admitted', dismissed_at: null });
    expect(await t.mails(entry.email)).toHaveLength(1);
  });

  it('mails an admission again, but none that never was', async () => {
    const entry = await asked();
    expect(await codeOf(waitlist.resend(actor, entry.id))).toBe('never_admitted');
    const first = await waitlist.invite(actor, entry.id);
    const again = await waitlist.resend(actor, entry.id);
    expect(again).toMatchObject({ status: 'admitted', admitted_at: first.admitted_at });
    expect(again.last_mailed_at!.getTime()).toBeGreaterThan(first.last_mailed_at!.getTime());
    expect(await t.mails(entry.email)).toHaveLength(2);
    expect(await codeOf(waitlist.resend(actor, randomUUID()))).toBe('not_found');
    expect(await audits()).toEqual(['waitlist.invited', 'waitlist.resent']);
  });

  it('ends with the signup, after which nobody is mailed again', async () => {
    const entry = await asked();
    await waitlist.invite(actor, entry.id);
    expect((await t.call('POST', '/api/auth/signup', { body: { email: entry.email.toUpperCase(), password: PASSWORD } })).status).toBe(201);
    expect(await entryOf(entry.email)).toMatchObject({ status: 'registered', admitted_at: expect.any(Date) });
    expect(await asked(entry.email)).toMatchObject({ status: 'registered' });
    expect(await waitlist.invite(actor, entry.id)).toMatchObject({ status: 'registered' });
    expect(await waitlist.resend(actor, entry.id)).toMatchObject({ status: 'registered' });
    expect(await t.mails(entry.email)).toHaveLength(1);
    expect((await audits()).filter((a) => a.startsWith('waitlist.'))).toEqual(['waitlist.invited']);
  });
});
