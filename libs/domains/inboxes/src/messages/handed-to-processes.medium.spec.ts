import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestOrg } from '@aps/chats/testing';
import type { ProcessRun } from '@aps/entities';
import { advisoryLock, NO_CALLER } from '@aps/platform/database';
import { eventually, sql } from '@aps/platform/testing';
import { ProcessesHttpModule } from '@aps/processes/http';
import { ProcessesJobsModule } from '@aps/processes/jobs';
import { aProcess, aRevision } from '@aps/processes/testing';
import { inboxesService, type TestInbox } from '../testing';

const t = inboxesService(
  { MAIL_DIR: mkdtempSync(path.join(tmpdir(), 'handed-')) },
  [ProcessesHttpModule, ProcessesJobsModule],
  ['process-runs'],
);
let org: TestOrg;
let inbox: TestInbox;
let process: string;
beforeEach(async () => {
  org = await t.org();
});

const RUN = sql<ProcessRun>('SELECT * FROM process_runs WHERE id = $1');
const replies = (source: string) =>
  t.db.query(sql<{ state: string; body_text: string }>('SELECT * FROM inbox_replies WHERE source_id = $1 ORDER BY id'), [source]);
const ended = async (id: string) =>
  (
    await eventually(
      () => t.db.query(RUN, [id]),
      ([run]) => run.finished_at !== null,
    )
  )[0];
const runPath = (id: string, what = '') => `/api/orgs/${org.id}/processes/${process}/runs/${id}${what}`;
const message = (id: string, what = '') => t.make('GET', `${inbox.path}/messages/${id}${what}`, { as: org.owner });

/** An inbox that hands on to a process of these steps. */
const handingTo = async (steps: object[], settings: object = { reply: 'tool' }) => {
  const of = { id: org.id, path: `/api/orgs/${org.id}`, owner: org.owner };
  process = (await aProcess(t, of)).id as string;
  const { id } = await aRevision(t, of, process, { schema_version: 1, steps });
  await t.make('POST', `${of.path}/processes/${process}/revisions/${id as string}/deploy`, { as: org.owner });
  inbox = await t.inbox(org, { target_kind: 'process', target_id: process, settings });
};
/** Has mail come in, and be handed on. */
const handed = async (mail: Parameters<typeof t.mail>[1] = {}) => {
  const id = await t.mail(inbox, mail);
  const { dispatched } = await t.evaluated(id);
  return { id, run: (dispatched as unknown as { run_id: string }).run_id };
};
const REPLY = { id: 'reply', kind: 'tool', tool: 'reply_to_sender', arguments: { text: 'Thanks for ${envelope.message.subject}.' } };

describe('a message that no process takes', () => {
  const STEPS = [{ id: 'done', kind: 'transform', set: { ok: true } }];
  const diagnosis = (id: string) => message(id, '/diagnosis');
  const toProcess = (id: string) => t.rules(inbox, { default: { action: 'accept', target: { kind: 'process', id } } });

  it('says that one is there when that of its rule is deployed', async () => {
    const of = { id: org.id, path: `/api/orgs/${org.id}`, owner: org.owner };
    process = (await aProcess(t, of)).id as string;
    // Its inbox has a target, which its rule does not hand it to.
    inbox = await t.inbox(org);
    await toProcess(process);
    const id = await t.mail(inbox);
    const target = { kind: 'process', id: process };
    expect((await t.evaluated(id)).trace.at(-1)).toMatchObject({ detail: { reason: 'handler_missing', target, refused: 'no_process' } });
    expect(await diagnosis(id)).toMatchObject({ blocked_by: { freed_by: 'member' }, next_action: 'set_target' });
    const { id: revision } = await aRevision(t, of, process, { schema_version: 1, steps: STEPS });
    await t.make('POST', `${of.path}/processes/${process}/revisions/${revision as string}/deploy`, { as: org.owner });
    expect(await diagnosis(id)).toMatchObject({ blocked_by: { freed_by: 'admin' }, next_action: 'retry' });
  });

  it('says so where it does not fit its input', async () => {
    const of = { id: org.id, path: `/api/orgs/${org.id}`, owner: org.owner };
    process = (await aProcess(t, of)).id as string;
    const input_schema = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] };
    const { id: revision } = await aRevision(t, of, process, { schema_version: 1, input_schema, steps: STEPS });
    await t.make('POST', `${of.path}/processes/${process}/revisions/${revision as string}/deploy`, { as: org.owner });
    inbox = await t.inbox(org, { target_kind: 'process', target_id: process });
    const id = await t.mail(inbox);
    expect((await t.evaluated(id)).trace.at(-1)).toMatchObject({ detail: { reason: 'handler_missing', refused: 'misfit' } });
    expect(await diagnosis(id)).toMatchObject({
      blocked_by: { kind: 'handler_missing', freed_by: 'admin', sentence: expect.stringContaining('does not fit') as string },
      next_action: 'retry',
    });
  });
});

describe('a message that was handed to a process', () => {
  it('is answered by a step of its run, once, and again by a run that does that one again', async () => {
    await handingTo([REPLY]);
    const { id, run } = await handed({ subject: 'Order 7' });
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    expect(await replies(run)).toMatchObject([{ body_text: 'Thanks for Order 7.', state: expect.stringMatching(/armed|sent/) as string }]);
    await eventually(
      () => message(id),
      ({ reply }) => (reply as { state: string }).state === 'sent',
    );
    const again = (await t.make('POST', runPath(run, '/restart'), { as: org.owner, body: {} })).id as string;
    expect(await ended(again)).toMatchObject({ status: 'completed' });
    expect(await replies(again)).toHaveLength(1);
  });

  it.each<[string, object, Parameters<typeof t.mail>[1], string]>([
    ['its inbox does not want it', { reply: 'auto' }, {}, 'does not let mails be answered'],
    ['a machine has sent it', { reply: 'tool' }, { automatic: 'auto-submitted' }, 'auto_submitted'],
  ])('is not answered where %s', async (_, settings, mail, why) => {
    await handingTo([REPLY], settings);
    await t.rules(inbox, { gates: { auto_submitted: 'accept' } });
    const { error } = await ended((await handed(mail)).run);
    expect(error).toMatchObject({ code: 'tool_rejected', message: expect.stringContaining(why) as string });
  });

  it('is not answered by a run that no mail has begun', async () => {
    await handingTo([REPLY]);
    const { id } = await t.make('POST', runPath('').replace(/\/$/, ''), { as: org.owner, body: { input: {} } });
    // There is no message that its text could name.
    expect(await ended(id as string)).toMatchObject({ error: { code: 'expression_error' } });
    await handingTo([{ ...REPLY, arguments: { text: 'Thanks.' } }]);
    const other = await t.make('POST', runPath('').replace(/\/$/, ''), { as: org.owner, body: { input: {} } });
    expect(await ended(other.id as string)).toMatchObject({ error: { code: 'tool_rejected' } });
    expect(await replies(other.id as string)).toEqual([]);
  });

  it('is not answered once it is terminated', async () => {
    await handingTo([REPLY, { id: 'ok', kind: 'human', prompt: 'Well?' }], { reply: 'tool', reply_delay_s: 600 });
    const { id, run } = await handed();
    await eventually(
      () => replies(run),
      (rows) => rows.length === 1,
    );
    await t.make('POST', `${inbox.path}/messages/${id}/terminate`, { as: org.owner });
    expect(await replies(run)).toMatchObject([{ state: 'stood_down' }]);
    expect(await ended(run)).toMatchObject({ status: 'cancelled' });
  });

  const BAD = { id: 'bad', kind: 'transform', set: { x: '${input.nothing.there}' } };
  const deploy = async (definition: object) => {
    const of = { id: org.id, path: `/api/orgs/${org.id}`, owner: org.owner };
    const { id } = await aRevision(t, of, process, { schema_version: 1, ...definition });
    await t.make('POST', `${of.path}/processes/${process}/revisions/${id as string}/deploy`, { as: org.owner });
  };
  const restart = (run: string) => t.call('POST', runPath(run, '/restart'), { as: org.owner, body: {} });

  it('ends with the runs that do its run again once it is terminated', async () => {
    await handingTo([BAD]);
    const { id, run } = await handed();
    expect(await ended(run)).toMatchObject({ status: 'failed' });
    const second = (await restart(run)).body.id as string;
    expect(await ended(second)).toMatchObject({ status: 'failed' });
    await deploy({ steps: [{ id: 'ok', kind: 'human', prompt: 'Well?' }] });
    const third = [(await restart(run)).body.id as string, (await restart(second)).body.id as string];
    await t.make('POST', `${inbox.path}/messages/${id}/terminate`, { as: org.owner });
    for (const one of third) expect((await t.db.query(RUN, [one]))[0].status).toBe('cancelled');
    // What somebody begins now is a wish of its own.
    const later = (await restart(run)).body.id as string;
    expect((await t.db.query(RUN, [later]))[0].finished_at).toBeNull();
  });

  it('ends with the runs that do one within its run again', async () => {
    await handingTo([BAD]);
    const child = process;
    await handingTo([{ id: 'sub', kind: 'process', process: child, input: {} }]);
    const { id, run } = await handed();
    await ended(run);
    const [within] = await t.db.query(sql<ProcessRun>('SELECT * FROM process_runs WHERE parent_run_id = $1'), [run]);
    process = child;
    await deploy({ steps: [{ id: 'ok', kind: 'human', prompt: 'Well?' }] });
    const again = (await restart(within.id)).body.id as string;
    await t.make('POST', `${inbox.path}/messages/${id}/terminate`, { as: org.owner });
    expect((await t.db.query(RUN, [again]))[0].status).toBe('cancelled');
  });

  it('waits for a run that has begun to do its run again once it is terminated, and ends it', async () => {
    await handingTo([BAD]);
    const { id, run } = await handed();
    await ended(run);
    await deploy({ concurrency: { key: 'one', limit: 1 }, steps: [{ id: 'ok', kind: 'human', prompt: 'Well?' }] });
    const waiting = (n: number) =>
      eventually(
        () => t.db.query(sql(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)),
        (rows) => rows.length >= n,
      );
    const both = await t.db.transaction(NO_CALLER, async (tx) => {
      // The runs of a key are counted under this lock, at which the restart waits here in the middle of its transaction.
      await advisoryLock(tx, `process_key:${process}:one`);
      const again = restart(run);
      await waiting(1);
      const end = t.call('POST', `${inbox.path}/messages/${id}/terminate`, { as: org.owner });
      await Promise.race([end, waiting(2)]);
      return [again, end] as const;
    });
    const [again, terminated] = await Promise.all(both);
    expect([again.status, terminated.status]).toEqual([201, 200]);
    expect((await t.db.query(RUN, [again.body.id]))[0].status).toBe('cancelled');
  });

  it('is diagnosed by what its run waits for', async () => {
    await handingTo([{ id: 'ok', kind: 'human', prompt: 'Well?' }, { id: 'go', kind: 'wait', event: 'go' }, BAD]);
    const { id, run } = await handed();
    const until = (kind: string) =>
      eventually(
        () => message(id, '/diagnosis'),
        (of) => (of.blocked_by as { kind: string } | null)?.kind === kind,
      );
    const asked = await until('human');
    expect(asked).toMatchObject({ state: 'accepted', next_action: 'answer', blocked_by: { freed_by: 'member', until: null } });
    const { ref } = asked.blocked_by as { ref: string };
    await t.make('POST', `/api/orgs/${org.id}/hitl-requests/${ref}/answer`, { as: org.owner, body: { decision: 'approve' } });
    expect(await until('event')).toMatchObject({ next_action: 'signal', blocked_by: { ref: 'go' } });
    await t.make('POST', runPath(run, '/signal'), { as: org.owner, body: { name: 'go' } });
    await ended(run);
    expect(await message(id, '/diagnosis')).toMatchObject({ blocked_by: null, next_action: 'restart_run' });
    // Somebody has done so.
    await restart(run);
    expect(await until('human')).toMatchObject({ next_action: 'answer' });
  });
});
