import { override } from '@aps/billing/testing';
import { SLOW, type TestOrg } from '@aps/chats/testing';
import { InboxMessage, InboxReply } from '@aps/entities';
import { advisoryLock, NO_CALLER } from '@aps/platform/database';
import type { JobContext } from '@aps/platform/queues';
import { RealtimePublisher } from '@aps/platform/realtime';
import { Runs } from '@aps/platform/runs';
import { eventually, sql, times, type Answer } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { MessageKind } from '../pipeline/message.kind';
import { Evaluation } from '../pipeline/evaluation';
import { inboxesService, type TestInbox } from '../testing';

const t = inboxesService();
let org: TestOrg;
let inbox: TestInbox;
beforeEach(async () => {
  org = await t.org();
  inbox = await t.inbox(org);
});

const act = (id: string, action: string, { as = org.owner, body = undefined as unknown } = {}): Promise<Answer> =>
  t.call('POST', `${inbox.path}/messages/${id}/${action}`, { as, body });
const detail = async (id: string) => (await t.call('GET', `${inbox.path}/messages/${id}`, { as: org.owner })).body;
const outcome = ({ status, body }: Answer) => [status, body.code ?? body.state];
const hold = () => t.rules(inbox, { default: { action: 'hold', tags: ['vip'] } });
const accept = () => t.rules(inbox, { default: { action: 'accept' } });
const aHeld = async () => {
  await hold();
  const { id } = await t.evaluated(await t.mail(inbox));
  return id;
};
const expire = (id: string) =>
  t.db.execute(sql(`UPDATE inbox_messages SET raw_expires_at = now() - interval '1 second' WHERE id = $1`), [id]);
const audited = async (id: string) =>
  (await t.audit({ target_id: id })).map(({ action, actor_id, metadata }) => [action, actor_id, metadata.inbox_id]);

describe('a retry', () => {
  it('evaluates what is held under the rules of now', async () => {
    const id = await aHeld();
    await accept();
    const { status, body } = await act(id, 'retry');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ id, state: 'evaluating', verdict: null, hold_reason: null, evaluation_state: 'evaluating' }),
    ]);
    const { state, trace, evaluation_no } = (await t.evaluated(id)) as InboxMessage & Awaited<ReturnType<typeof t.evaluated>>;
    expect([state, evaluation_no, trace.filter(({ stage_id }) => stage_id === 'size').map(({ outcome: o }) => o)]).toEqual([
      'accepted',
      2,
      ['passed', 'skipped'],
    ]);
    const shown = (await detail(id)).trace as { seq: number }[];
    expect(shown.map(({ seq }) => seq)).toEqual(shown.map((_, i) => i + 1));
    expect(await audited(id)).toEqual([['inbox_message.retried', org.owner.id, inbox.id]]);
  });

  it('is for what is held, for administrators, and as long as it is kept', async () => {
    const { id: accepted } = await t.evaluated(await t.mail(inbox));
    expect(outcome(await act(accepted, 'retry'))).toEqual([409, 'not_held']);
    const id = await aHeld();
    expect(outcome(await act(id, 'retry', { as: org.member }))).toEqual([403, 'insufficient_role']);
    await expire(id);
    expect(outcome(await act(id, 'retry'))).toEqual([409, 'payload_expired']);
    await t.db.execute(
      sql(
        `UPDATE inbox_messages SET state = 'evaluating', status = 'waiting', hold_reason = NULL, wait = '{"resume_at": null}' WHERE id = $1`,
      ),
      [id],
    );
    expect(outcome(await act(id, 'retry'))).toEqual([409, 'still_evaluating']);
  });
});

describe('a replay', () => {
  it('hands accepted mail on a second time, and leaves what it was handed to', async () => {
    const id = await t.mail(inbox);
    const first = (await t.evaluated(id)).dispatched!;
    const answer = await act(id, 'replay', { as: org.member });
    expect([outcome(answer), answer.body.dispatched]).toEqual([[200, 'evaluating'], first]);
    const again = await t.evaluated(id);
    expect(again.dispatched!.chat_id).not.toBe(first.chat_id);
    expect([(await detail(id)).previous_dispatches, (await t.read(org, first.chat_id)).body.status]).toEqual([
      [first],
      expect.not.stringMatching('ARCHIVED'),
    ]);
    expect(again.trace.filter(({ kind }) => kind === 'dispatch').map(({ detail: d }) => d?.chat_id)).toEqual([
      first.chat_id,
      again.dispatched!.chat_id,
    ]);
  });

  it('joins no thread, also where it was held on the way', async () => {
    const thread = (await t.evaluated(await t.mail(inbox, { message_id: 'm1@acme.com' }))).dispatched!.chat_id;
    const id = await t.mail(inbox, { references: ['m1@acme.com'] });
    expect((await t.evaluated(id)).dispatched!.chat_id).toBe(thread);
    const status = (to: string) => t.call('PATCH', inbox.path, { as: org.owner, body: { status: to } });
    await status('paused');
    await act(id, 'replay');
    expect((await t.evaluated(id)).hold_reason).toBe('inbox_paused');
    await override(t, org.id, { max_queue_depth: 0 });
    await status('active');
    expect([await t.releaseDue(), (await t.evaluated(id)).hold_reason]).toEqual([1, 'queue_full']);
    await override(t, org.id, { max_queue_depth: -1 });
    expect(await t.releaseDue()).toBe(1);
    const { state, dispatched } = await t.evaluated(id);
    expect([state, dispatched!.chat_id === thread]).toEqual(['accepted', false]);
  });

  it('twice at once evaluates twice, and anew what is being evaluated', async () => {
    const id = await aHeld();
    const answers = await Promise.all([act(id, 'replay'), act(id, 'replay')]);
    expect(answers.map(outcome)).toEqual([
      [200, 'evaluating'],
      [200, 'evaluating'],
    ]);
    const { state, evaluation_no } = (await t.evaluated(id)) as unknown as InboxMessage;
    expect([state, evaluation_no]).toEqual(['held', 3]);
    await expire(id);
    expect(outcome(await act(id, 'replay'))).toEqual([409, 'payload_expired']);
  });

  it('finds no message of a deleted inbox, and needs no channel', async () => {
    const id = await aHeld();
    await t.db.execute(sql('DELETE FROM inbox_channels WHERE inbox_id = $1'), [inbox.id]);
    expect((await act(id, 'replay')).status).toBe(200);
    await t.evaluated(id);
    await t.call('DELETE', inbox.path, { as: org.owner });
    for (const action of ['retry', 'replay', 'release', 'terminate'])
      expect([action, (await act(id, action, { body: {} })).status]).toEqual([action, 404]);
  });
});

describe('a diagnosis', () => {
  it('is that of the chat that does the one of the message again', async () => {
    const { id, dispatched } = await t.evaluated(await t.mail(inbox));
    const chat = dispatched!.chat_id;
    await t.settled(org, chat, 1);
    await t.call('POST', `${org.path}/${chat}/terminate`, { as: org.owner });
    const next = async () => (await t.call('GET', `${inbox.path}/messages/${id}/diagnosis`, { as: org.owner })).body.next_action;
    expect(await next()).toBe('retry_chat');
    const again = await t.make('POST', `${org.path}/${chat}/retry`, { as: org.owner });
    await t.settled(org, again.id as string, 1);
    expect(await next()).toBeNull();
  });
});

describe('a message that its workers were lost with again and again', () => {
  /** Delivers it once more. */
  const deliver = async (message_id: string) => {
    await t.db.execute(
      sql(
        `UPDATE inbox_messages SET status = 'queued', state = 'evaluating', verdict = NULL, hold_reason = NULL, finished_at = NULL, deliveries = 3 WHERE id = $1`,
      ),
      [message_id],
    );
    await t.get(Runs).run(t.get(MessageKind), { org_id: org.id, message_id }, { signal: new AbortController().signal } as JobContext);
    return t.evaluated(message_id);
  };

  it('is held for a human, who replays it', async () => {
    const id = await aHeld();
    const { state, hold_reason, decided_by, trace } = await deliver(id);
    expect([state, hold_reason, decided_by, trace.at(-1)?.stage_id]).toEqual(['held', 'quarantined', 'worker_lost', 'worker_lost']);
    await accept();
    expect(outcome(await act(id, 'replay'))).toEqual([200, 'evaluating']);
    expect((await t.evaluated(id)).state).toBe('accepted');
  });

  it('is not when somebody replays it before its worker gives it up', async () => {
    const id = await aHeld();
    await accept();
    const evaluation = t.get(Evaluation);
    const giveUp = evaluation.giveUp.bind(evaluation);
    jest.spyOn(evaluation, 'giveUp').mockImplementationOnce(async (run) => {
      await act(id, 'replay');
      await giveUp(run);
    });
    const { state, trace } = await deliver(id);
    expect([state, trace.filter(({ stage_id }) => stage_id === 'worker_lost')]).toEqual(['accepted', []]);
  });
});

describe('a release', () => {
  it('lets a held message through to the target of its inbox', async () => {
    const id = await aHeld();
    expect(outcome(await act(id, 'release', { as: org.member }))).toEqual([403, 'insufficient_role']);
    expect(outcome(await act(id, 'release', { body: {} }))).toEqual([200, 'evaluating']);
    const { state, decided_by, tags, dispatched, trace } = await t.evaluated(id);
    expect([state, decided_by, tags, dispatched?.kind]).toEqual(['accepted', 'manual_release', ['vip'], 'agent']);
    expect(trace.find(({ kind }) => kind === 'manual_release')?.detail).toEqual({ user_id: org.owner.id });
    expect(outcome(await act(id, 'release'))).toEqual([409, 'not_held']);
  });

  it('or to another one', async () => {
    const id = await aHeld();
    const { id: other } = await t.make('POST', `/api/orgs/${org.id}/agents`, { as: org.owner, body: { name: 'Other' } });
    const to = (target_id: unknown, target_kind: unknown = 'agent') => act(id, 'release', { body: { target_kind, target_id } });
    expect(outcome(await to(uuidv7()))).toEqual([422, 'unknown_reference']);
    expect(outcome(await to('prc_x'))).toEqual([422, 'validation_error']);
    expect(outcome(await act(id, 'release', { body: { target_id: other } }))).toEqual([422, 'validation_error']);
    expect(outcome(await to(other))).toEqual([200, 'evaluating']);
    const { dispatched } = await t.evaluated(id);
    const [chat] = await t.db.query(sql<{ agent_id: string }>('SELECT agent_id FROM chats WHERE id = $1'), [dispatched!.chat_id]);
    expect(chat.agent_id).toBe(other);
  });

  it('waits for a place where there is none, and goes where it was to go then, unjudged', async () => {
    const id = await aHeld();
    const { id: other } = await t.make('POST', `/api/orgs/${org.id}/agents`, { as: org.owner, body: { name: 'Other' } });
    await override(t, org.id, { max_queue_depth: 0 });
    await act(id, 'release', { body: { target_kind: 'agent', target_id: other } });
    expect(await t.evaluated(id)).toMatchObject({ state: 'held', hold_reason: 'queue_full', decided_by: 'manual_release' });
    await override(t, org.id, { max_queue_depth: -1 });
    await t.releaseDue();
    const { state, decided_by, tags, dispatched, trace } = await t.evaluated(id);
    expect([state, decided_by, tags]).toEqual(['accepted', 'manual_release', ['vip']]);
    expect(trace.map(({ kind }) => kind)).toContain('auto_release');
    const [chat] = await t.db.query(sql<{ agent_id: string }>('SELECT agent_id FROM chats WHERE id = $1'), [dispatched!.chat_id]);
    expect(chat.agent_id).toBe(other);
  });
});

describe('a termination', () => {
  it('ends the chats of a message, the earlier ones too, and the mail that was to answer it', async () => {
    const id = await t.mail(inbox, { body_text: SLOW });
    const first = (await t.evaluated(id)).dispatched!.chat_id;
    await act(id, 'replay');
    const second = (await t.evaluated(id)).dispatched!.chat_id;
    await t.until(org, second, (c) => c.status === 'RUNNING');
    const reply = await t.insert(InboxReply, {
      ...{
        org_id: org.id,
        inbox_id: inbox.id,
        message_id: id,
        chat_id: second,
        source_id: uuidv7(),
        to_address: 'ann@acme.com',
        body_text: 'Yes.',
      },
      ...{ state: 'armed', due_at: new Date(Date.now() + 60_000) },
    });
    expect((await t.call('GET', `${inbox.path}/messages/${id}/diagnosis`, { as: org.owner })).body).toMatchObject({
      blocked_by: { kind: 'reply', freed_by: 'itself' },
      lease: { worker: expect.any(String) as string },
      next_action: 'wait',
    });
    const { status, body } = await act(id, 'terminate', { as: org.member });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ state: 'accepted', verdict: 'accepted', terminated_at: expect.any(String) as string }),
    ]);
    expect(body.reply).toMatchObject({ state: 'stood_down' });
    for (const chat of [first, second])
      expect((await t.read(org, chat)).body).toMatchObject({ status: 'ARCHIVED', stop_reason: 'terminated' });
    expect((body.trace as unknown[]).at(-1)).toMatchObject({ kind: 'terminated', detail: { user_id: org.member.id } });
    // Again it changes nothing.
    expect((await act(id, 'terminate')).body).toEqual(body);
    expect((await audited(id)).map(([action]) => action)).toEqual(['inbox_message.replayed', 'inbox_message.terminated']);
    await t.db.execute(sql('DELETE FROM inbox_replies WHERE id = $1'), [reply]);

    // What was evaluated again since has begun something again.
    await act(id, 'replay');
    const third = (await t.evaluated(id)).dispatched!.chat_id;
    expect((await act(id, 'terminate')).status).toBe(200);
    expect((await t.read(org, third)).body.status).toBe('ARCHIVED');
  });

  it('settles what is being evaluated, and hands nothing on', async () => {
    const id = await t.insert(InboxMessage, {
      ...{
        org_id: org.id,
        inbox_id: inbox.id,
        channel_id: uuidv7(),
        channel_kind: 'email',
        sender_key: 'x',
        size_bytes: 1,
        status: 'queued',
      },
      raw_expires_at: new Date(Date.now() + 60_000),
    });
    expect((await act(id, 'terminate')).body).toMatchObject({
      state: 'dropped',
      verdict: null,
      evaluation_state: 'settled',
      dispatched: null,
    });
  });

  it('drops what is held, and keeps its verdict', async () => {
    const id = await aHeld();
    expect((await act(id, 'terminate')).body).toMatchObject({ state: 'dropped', verdict: 'quarantined', hold_reason: null });
    expect(await t.db.query(sql(`SELECT 1 FROM outbox WHERE id = $1`), [id])).toEqual([]);
  });

  it('waits for a retry of its chat that has begun, and ends it', async () => {
    const { id, dispatched } = await t.evaluated(await t.mail(inbox, { body_text: SLOW }));
    const chat = dispatched!.chat_id;
    // So little room is counted under a lock, at which the retry waits here in the middle of its transaction.
    await override(t, org.id, { max_queue_depth: 5 });
    const waiting = (n: number) =>
      eventually(
        () => t.db.query(sql(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)),
        (rows) => rows.length >= n,
      );
    const both = await t.db.transaction(NO_CALLER, async (tx) => {
      await advisoryLock(tx, `cap:max_queue_depth:${org.id}`);
      const retry = t.call('POST', `${org.path}/${chat}/retry`, { as: org.owner });
      await waiting(1);
      const end = act(id, 'terminate');
      await Promise.race([end, waiting(2)]);
      return [retry, end] as const;
    });
    const [retried, terminated] = await Promise.all(both);
    expect([retried.status, terminated.status]).toEqual([201, 200]);
    for (const one of [chat, retried.body.id as string])
      expect((await t.read(org, one)).body).toMatchObject({ status: 'ARCHIVED', stop_reason: 'terminated' });
  });

  it('races an evaluation, and one of the two is before the other', async () => {
    const ids = await times(8, () => t.mail(inbox));
    await Promise.all(ids.map((id) => act(id, 'terminate')));
    for (const id of ids) {
      const { state, dispatched } = await t.evaluated(id);
      const chat = dispatched && (await t.read(org, dispatched.chat_id)).body.status;
      expect([state, chat]).toEqual(dispatched ? ['accepted', 'ARCHIVED'] : ['dropped', null]);
    }
  });
});

describe('the log of an inbox', () => {
  const EVENTS = sql<{ seq: number; type: string; data: Record<string, unknown> }>(
    `SELECT seq, type, data FROM events WHERE topic = 'inbox:' || $1 ORDER BY seq`,
  );

  it('has an event of each change, and readers are woken after the commit', async () => {
    await hold();
    const publish = jest.spyOn(t.get(RealtimePublisher), 'publish');
    const { id } = await t.evaluated(await t.mail(inbox));
    await act(id, 'replay');
    await t.evaluated(id);
    await act(id, 'terminate');
    const events = await t.db.query(EVENTS, [inbox.id]);
    const common = { message_id: id, dispatched: null };
    const held = { ...common, state: 'held', verdict: 'quarantined', evaluation_state: 'settled', hold_reason: 'stage_hold' };
    expect(events.slice(-4).map(({ type, data }) => [type, data])).toEqual(
      [
        held,
        { ...common, state: 'evaluating', verdict: null, evaluation_state: 'evaluating', hold_reason: null },
        held,
        { ...common, state: 'dropped', verdict: 'quarantined', evaluation_state: 'settled', hold_reason: null },
      ].map((data) => ['inbox_message_updated', data]),
    );
    const told = publish.mock.calls
      .filter(([topic]) => topic === `inbox:${inbox.id}`)
      .flatMap(([, signal]) => signal as { id: number; type: string; data: unknown }[]);
    publish.mockRestore();
    expect(told.map(({ id: seq, type, data }) => ({ seq, type, data }))).toEqual(events);
  });

  it('is numbered without gaps, however many come at once', async () => {
    await times(12, async () => t.evaluated(await t.mail(inbox)));
    const events = await t.db.query(EVENTS, [inbox.id]);
    expect(events.length).toBeGreaterThanOrEqual(12);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  });
});
