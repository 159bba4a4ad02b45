import type { Bearer } from '@aps/platform/testing';
import { entitle } from '@aps/billing/testing';
import { DomainError } from '@aps/contracts';
import { OrgScope } from '@aps/guards';
import { sql, standStill } from '@aps/platform/testing';
import { RunLeases, Runs } from '@aps/platform/runs';
import { Client } from 'pg';
import { calls, chatsService, script, SLOW, type TestOrg } from '../testing/chats';
import { delegate, delegatingOrg } from '../testing/delegating';
import { TurnQuotes } from '../turns/turn-quotes';
import { DiagnosisQueries } from './diagnosis.queries';

describe('the diagnosis of a chat', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await delegatingOrg(app);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    app.blocker = null;
    await entitle(app, { max_concurrent_chats: 2_000 });
  });

  const diagnosis = async (chat: string, as: Bearer = org.owner) => app.call('GET', `${org.path}/${chat}/diagnosis`, { as });
  const of = async (chat: string) => (await diagnosis(chat)).body;
  const inert = () => jest.spyOn(app.get(Runs), 'run').mockResolvedValue();
  const sent = async (content: string): Promise<string> => {
    const chat = await app.chat(org);
    expect((await app.send(org, chat, content)).status).toBe(202);
    return chat;
  };
  const stop = (chat: string) => app.call('POST', `${org.path}/${chat}/stop`, { as: org.owner, body: { cascade: true } });

  it('says who runs it', async () => {
    const chat = await sent(SLOW);
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    const [turn] = await app.db.query(
      sql<{ id: string; lease_owner: string; fence: string }>('SELECT id, lease_owner, fence FROM turns WHERE chat_id = $1'),
      [chat],
    );
    expect(await of(chat)).toMatchObject({
      state: 'RUNNING',
      blocked_by: null,
      lease: { worker: turn.lease_owner, fence: turn.fence, expires_at: expect.any(String) as string },
      queue: null,
      next_action: 'wait',
    });
    standStill(app.get(RunLeases), turn.id);
    await app.db.execute(sql(`UPDATE turns SET lease_expires_at = now() - interval '1 second' WHERE chat_id = $1`), [chat]);
    expect(await of(chat)).toMatchObject({ blocked_by: { kind: 'lease', ref: turn.lease_owner }, next_action: 'wait' });
    // As the sweeper leaves it for another worker.
    await app.db.execute(sql('UPDATE turns SET lease_expires_at = NULL WHERE chat_id = $1'), [chat]);
    expect(await of(chat)).toMatchObject({ blocked_by: { kind: 'lease', since: null, ref: turn.lease_owner }, lease: null });
    await stop(chat);
    expect(await of(chat)).toMatchObject({ state: 'ACTIVE', blocked_by: null, lease: null, next_action: 'message' });
  });

  it('says what it waits for', async () => {
    const asking = await sent(calls('ask_human', { kind: 'question', prompt: 'Which?' }));
    await app.until(org, asking, (c) => c.status === 'PAUSED');
    const [{ id: request }] = await app.db.query(sql<{ id: string }>('SELECT id FROM hitl_requests WHERE chat_id = $1'), [asking]);
    expect(await of(asking)).toMatchObject({
      blocked_by: { kind: 'human', ref: request },
      lease: null,
      queue: null,
      next_action: 'answer',
    });

    const sleeping = await sent(calls('wait_until', { for_s: 3_600 }));
    const { pause } = await app.until(org, sleeping, (c) => c.pause?.kind === 'timer');
    expect(await of(sleeping)).toMatchObject({
      blocked_by: { kind: 'timer', since: pause.since, ref: pause.resume_at },
      next_action: 'wait',
    });

    const boss = await sent(delegate(SLOW));
    await app.until(org, boss, (c) => c.pause?.kind === 'children');
    const [{ id: child }] = await app.db.query(sql<{ id: string }>('SELECT id FROM chats WHERE parent_chat_id = $1'), [boss]);
    expect(await of(boss)).toMatchObject({ blocked_by: { kind: 'child', ref: child }, next_action: 'wait' });
    for (const chat of [sleeping, boss]) await stop(chat);
  });

  it('says where it stands behind others', async () => {
    inert();
    const first = await sent('first');
    const [turn] = await app.db.query(sql<{ id: string }>('SELECT current_turn_id AS id FROM chats WHERE id = $1'), [first]);
    await app.db.execute(sql(`UPDATE turns SET dispatched_at = now() - interval '90 seconds' WHERE id = $1`), [turn.id]);
    const second = await sent('second');
    // Waits behind its own chat's turn, and is before nobody.
    await app.send(org, first, 'behind');
    const third = await sent('third');
    expect((await of(first)).queue).toEqual({ position: 0, oldest_ahead_s: 0 });
    expect((await of(second)).queue).toEqual({ position: 1, oldest_ahead_s: expect.any(Number) as number });
    const { queue } = await of(third);
    expect([queue.position, queue.oldest_ahead_s >= 90]).toEqual([2, true]);
    for (const chat of [first, second, third]) await stop(chat);

    jest.restoreAllMocks();
    await entitle(app, { max_concurrent_chats: 0 });
    const parked = await sent('parked');
    await app.until(org, parked, (c) => c.pause?.kind === 'queued');
    expect(await of(parked)).toMatchObject({
      state: 'ACTIVE',
      blocked_by: { kind: 'cap', ref: 'max_concurrent_chats' },
      queue: { position: 0 },
      next_action: 'wait',
    });
    const behind = await sent('parked behind it');
    const { pause } = await app.until(org, behind, (c) => c.pause?.kind === 'queued');
    expect([pause.queue_position, (await app.read(org, parked)).body.pause.queue_position]).toEqual([1, 0]);
    const told = await app.db.query(
      sql<{ data: unknown }>(`SELECT data FROM events WHERE topic = 'chat:' || $1 AND type = 'status_changed'`),
      [behind],
    );
    expect(told.map((e) => e.data)).toEqual([
      { from: 'ACTIVE', to: 'ACTIVE', stop_reason: null, pause: { kind: 'queued', since: pause.since } },
    ]);
    await stop(parked);
    await stop(behind);
  });

  it('says what is missing after a failure', async () => {
    const chat = await sent(script({ error: { status: 400, message: 'no' } }));
    await app.until(org, chat, (c) => c.status === 'ERRORED');
    expect(await of(chat)).toMatchObject({ state: 'ERRORED', blocked_by: null, next_action: 'message' });
    app.blocker = { code: 'budget_exceeded', budget_limit_usd: '1', spend_usd: '2' };
    const body = await of(chat);
    expect([body.next_action, body.allowed_actions.includes('continue')]).toEqual(['raise_budget', false]);
    await app.db.execute(
      sql(`UPDATE chats SET status = 'ARCHIVED', error = NULL, stop_reason = 'credits_exhausted', archived_at = now() WHERE id = $1`),
      [chat],
    );
    app.blocker = { code: 'credits_exhausted', credits_remaining: '0' };
    expect(await of(chat)).toMatchObject({
      state: 'ARCHIVED',
      blocked_by: { kind: 'credits', ref: 'credits_exhausted' },
      next_action: 'add_credits',
    });
  });

  it('asks the database alone, in few statements', async () => {
    const chat = await sent('hello');
    await app.settled(org, chat, 1);
    const diagnoses = app.get(DiagnosisQueries);
    const statements: number[] = [];
    const query = jest.spyOn(Client.prototype, 'query');
    // What the process asks by itself meanwhile it does not ask every time.
    for (let i = 0; i < 5; i++) {
      query.mockClear();
      const found = await diagnoses.of(OrgScope.member(org.id, org.owner.id, 'OWNER'), org.agentId, chat);
      statements.push(query.mock.calls.length);
      expect(found).toMatchObject({ state: 'ACTIVE', blocked_by: null, next_action: 'message' });
    }
    query.mockRestore();
    expect([1, 2, 3]).toContain(Math.min(...statements));
  });

  it('tells what is known where that has to be looked up in a storage that is away', async () => {
    const chat = await sent('hello');
    await app.settled(org, chat, 1);
    await app.db.execute(sql(`UPDATE chats SET status = 'ARCHIVED', stop_reason = 'credits_exhausted' WHERE id = $1`), [chat]);
    const asked = jest
      .spyOn(app.get(TurnQuotes), 'blockerOf')
      .mockRejectedValue(new DomainError('service_unavailable', 'The storage is away.'));
    expect(await of(chat)).toMatchObject({ blocked_by: { kind: 'credits' }, next_action: 'continue' });
    expect(asked).toHaveBeenCalled();
  });

  it('of a suspended organization says so; nobody else than who may open a chat gets one', async () => {
    const chat = await sent(calls('wait_until', { for_s: 3_600 }));
    await app.until(org, chat, (c) => c.pause?.kind === 'timer');
    expect((await diagnosis(chat, org.member)).status).toBe(404);
    await app.db.execute(sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'), [org.id]);
    const scope = OrgScope.member(org.id, org.owner.id, 'OWNER');
    const found = await app.get(DiagnosisQueries).of(scope, org.agentId, chat);
    expect(found).toMatchObject({ blocked_by: { kind: 'org_suspended', ref: org.id }, next_action: 'unsuspend' });
    await app.db.execute(sql('UPDATE organizations SET suspended_at = NULL WHERE id = $1'), [org.id]);
  });
});
