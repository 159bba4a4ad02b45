import { setTimeout as sleep } from 'node:timers/promises';
import { ChatStarts } from '@aps/chats';
import type { TestOrg } from '@aps/chats/testing';
import type { DomainError } from '@aps/contracts';
import { NO_CALLER } from '@aps/platform/database';
import type { JobContext } from '@aps/platform/queues';
import { Runs, RunSweeper } from '@aps/platform/runs';
import { eventually, sql } from '@aps/platform/testing';
import { ChannelDirectory, Intake } from '../intake/intake.port';
import { Evaluation } from './evaluation';
import { EvaluationRepository } from './evaluation.repository';
import { MessageKind } from './message.kind';
import { inboxesService, plainMail, type TestInbox } from '../testing';

// Nobody who waits for a lock gives up while a spec looks.
const t = inboxesService({ DATABASE_LOCK_TIMEOUT_MS: '60000', DATABASE_STATEMENT_TIMEOUT_MS: '60000' });
const DROP = { stages: [], default: { action: 'drop' } };
let org: TestOrg;
let inbox: TestInbox;
beforeEach(async () => {
  org = await t.org();
  inbox = await t.inbox(org);
  await t.rules(inbox, DROP);
});
afterEach(() => jest.restoreAllMocks());

const times = <T>(n: number, fn: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => fn(i));

/** A mail that names itself, as senders do, and what it answers. */
const mailOf = (i: number, references: string[]) => ({ message_id: `m${i}@acme.com`, dedupe_key: `m${i}@acme.com`, references });

describe('messages of the same moment', () => {
  it('are stored together, and each is answered by itself', async () => {
    const closed = await t.inbox(org);
    const intake = t.get(Intake);
    const gone = (await t.get(ChannelDirectory).byAddress(closed.address))!;
    await t.db.execute(sql('UPDATE inbox_channels SET enabled = false WHERE inbox_id = $1'), [closed.id]);
    const sent = times(24, (i) => t.mail(inbox, { subject: `Order ${i}`, dedupe_key: i % 4 ? `order ${i % 8}` : null }));
    const refused = intake.receive(gone, plainMail()).catch((error: DomainError) => error.code);
    const large = t.hook(inbox, { body_text: 'x'.repeat(90_000), size_bytes: 90_000, payload: { at: ['once', null] } });
    const ids = await Promise.all(sent);
    expect(await refused).toBe('not_found');
    // Six without a key, and one of each of six keys.
    expect(new Set(ids).size).toBe(12);
    const rows = await t.db.query(
      sql<{ subject: string; duplicates: number }>('SELECT subject, duplicates FROM inbox_messages WHERE id = ANY ($1)'),
      [ids],
    );
    expect(rows.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(12);
    expect(await t.evaluated(await large)).toMatchObject({ state: 'dropped', size_bytes: 90_000 });
  });

  it('are evaluated together, each with its trace and its number in the log of its inbox', async () => {
    const other = await t.inbox(org);
    await t.rules(other, DROP);
    const ids = await Promise.all(times(30, (i) => t.mail(i % 3 ? inbox : other)));
    const messages = await Promise.all(ids.map((id) => t.evaluated(id)));
    for (const { state, passed_at, trace } of messages) {
      expect([state, passed_at]).toEqual(['dropped', expect.any(Date)]);
      expect(trace.at(-1)).toMatchObject({ stage_id: 'default', outcome: 'drop' });
    }
    for (const [{ id }, n] of [[inbox, 20] as const, [other, 10] as const]) {
      const events = await t.db.query(
        sql<{ seq: number; of: string; state: string }>(
          `SELECT seq, data->>'message_id' AS of, data->>'state' AS state FROM events WHERE topic = 'inbox:' || $1 ORDER BY seq`,
        ),
        [id],
      );
      expect(events.map(({ seq, state }) => [seq, state])).toEqual(times(n, (i) => [i + 1, 'dropped']));
      expect(new Set(events.map(({ of }) => of)).size).toBe(n);
    }
    expect(await t.db.query(sql('SELECT id FROM outbox WHERE id = ANY ($1)'), [ids])).toEqual([]);
  });

  it('wait for nobody who holds the inbox of another', async () => {
    const busy = await t.inbox(org);
    await t.rules(busy, DROP);
    const held = await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.query(sql('SELECT id FROM inboxes WHERE id = $1 FOR NO KEY UPDATE'), [busy.id]);
      const waiting = await Promise.all(times(4, () => t.mail(busy)));
      const ids = await Promise.all(times(4, () => t.mail(inbox)));
      expect((await Promise.all(ids.map((id) => t.evaluated(id)))).map(({ state }) => state)).toEqual(times(4, () => 'dropped'));
      expect((await Promise.all(waiting.map((id) => t.message(id)))).map(({ state }) => state)).toEqual(times(4, () => 'evaluating'));
      return waiting;
    });
    for (const id of held) expect(await t.evaluated(id)).toMatchObject({ state: 'dropped' });
  });

  it('are evaluated three at a time where they are large, which keeps no other', async () => {
    const evaluation = t.get(Evaluation);
    const run = evaluation.run.bind(evaluation);
    let go!: () => void;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const under = new Set<string>();
    let most = 0;
    jest.spyOn(evaluation, 'run').mockImplementation(async (claimed, m, lease) => {
      under.add(m.id);
      most = Math.max(most, [...under].filter((id) => large.includes(id)).length);
      if (m.size_bytes > 1_000) await gate;
      return run(claimed, m, lease).finally(() => under.delete(m.id));
    });
    const large: string[] = [];
    for (let i = 0; i < 20; i++) large.push(await t.hook(inbox, { size_bytes: 5 * 1024 * 1024 }));
    await eventually(
      () => Promise.resolve(under.size),
      (n) => n === 3,
    );
    const small = await Promise.all(times(4, () => t.hook(inbox)));
    for (const id of small) expect(await t.evaluated(id)).toMatchObject({ state: 'dropped' });
    go();
    for (const id of large) expect(await t.evaluated(id)).toMatchObject({ state: 'dropped' });
    expect(most).toBe(3);
  });

  it.each<[string, (i: number) => Promise<string>]>([
    ['webhooks', () => t.hook(inbox, { references: ['order 7'] })],
    ['mails', (i) => t.mail(inbox, mailOf(i, i > 0 ? [`m${i - 1}@acme.com`] : []))],
  ])('of one thread that is new begin one chat: %s', async (_, receive) => {
    await t.rules(inbox, { stages: [] });
    const starts = t.get(ChatStarts);
    const start = starts.start.bind(starts);
    const both = new Promise<void>((arrived) => {
      const spy = jest.spyOn(starts, 'start');
      spy.mockImplementation(async (...args) => {
        if (spy.mock.calls.length === 2) arrived();
        // Nobody comes who waits for the first.
        await Promise.race([both, sleep(1_000)]);
        return start(...args);
      });
    });
    const ids = [await receive(0), await receive(1)];
    const [one, other] = await Promise.all(ids.map((id) => t.evaluated(id)));
    expect([one.state, other.state]).toEqual(['accepted', 'accepted']);
    expect(one.dispatched!.chat_id).toBe(other.dispatched!.chat_id);
  });

  it('are evaluated as those left them who were at them when they were claimed', async () => {
    await t.rules(inbox, {
      stages: [{ id: 'old', kind: 'match', when: { field: 'subject', op: 'contains', value: 'old' }, then: { action: 'hold' } }],
      default: { action: 'drop' },
    });
    const { id, state } = await t.evaluated(await t.mail(inbox, { subject: 'old' }));
    expect(state).toBe('held');
    await t.db.execute(
      sql(
        `UPDATE inbox_messages SET status = 'queued', state = 'evaluating', verdict = NULL, hold_reason = NULL, finished_at = NULL WHERE id = $1`,
      ),
      [id],
    );
    const [run] = await t.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql(`UPDATE inbox_messages SET subject = 'new' WHERE id = $1`), [id]);
      const context = { signal: new AbortController().signal } as JobContext;
      const claim = t.get(Runs).run(t.get(MessageKind), { org_id: org.id, message_id: id }, context);
      await eventually(
        () => t.db.query(sql(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)),
        (waiting) => waiting.length > 0,
      );
      return [claim];
    });
    await run;
    expect(await t.message(id)).toMatchObject({ state: 'dropped', decided_by: 'default' });
  });

  it('that are too many of one organization go on as others of it end', async () => {
    jest.spyOn(t.get(RunSweeper), 'sweep').mockResolvedValue(0);
    const { runs } = t.get(EvaluationRepository);
    const parked = await Promise.all(times(3, () => t.mail(inbox)));
    await Promise.all(parked.map((id) => t.evaluated(id)));
    await t.db.execute(
      sql(
        `UPDATE inbox_messages SET status = 'queued', state = 'evaluating', verdict = NULL, decided_by = NULL, steps_done = 0 WHERE id = ANY ($1)`,
      ),
      [parked],
    );
    await runs.park(t.db, parked);
    await t.evaluated(await t.mail(inbox));
    const left = () => t.db.query(sql('SELECT id FROM inbox_messages WHERE id = ANY ($1) AND parked'), [parked]);
    expect(await eventually(left, (rows) => rows.length === 0)).toEqual([]);
    for (const id of parked) expect(await t.evaluated(id)).toMatchObject({ state: 'dropped' });
  });
});
