import { OrgPlans } from '@aps/billing';
import { entitle } from '@aps/billing/testing';
import { actingOperator } from '@aps/guards';
import { UsersService } from '@aps/identity';
import { aPerson } from '@aps/identity/testing';
import { OrgsModule } from '@aps/orgs';
import { OrgsHttpModule } from '@aps/orgs/http';
import { aMember, type Member } from '@aps/orgs/testing';
import { eventually } from '@aps/testing';
import type { JobContext } from '@aps/platform/queues';
import { Outbox } from '@aps/platform/outbox';
import { sql, type Bearer } from '@aps/platform/testing';
import { Runs } from '@aps/platform/runs';
import { calls, chatsService, HELD, script, SLOW, type TestOrg } from '../testing/chats';
import { EndService } from './end.service';
import { addAgent, childrenOf, delegate, delegating, notesOf, repliesOf, resultsOf, type TestPlace } from '../testing/delegations';
import { TurnKind } from '../turns/turn.kind';

const app = chatsService(undefined, [OrgsModule.forRoot(OrgPlans), OrgsHttpModule]);

describe('the chats of a deleted agent', () => {
  let org: TestOrg;
  let agent: TestPlace;
  let agents = 0;

  beforeAll(async () => {
    org = await app.org({ allowed_tools: ['*'] });
  });
  beforeEach(async () => {
    agent = await addAgent(app, org, { name: `Agent ${++agents}` });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await entitle(app, { max_concurrent_chats: 2_000 });
  });

  const remove = () => app.call('DELETE', `/api/orgs/${org.id}/agents/${agent.agentId}`, { as: org.owner });
  const post = (chat: string, action: string, options: { body?: unknown; headers?: Record<string, string> } = {}) =>
    app.call('POST', `${agent.path}/${chat}/${action}`, { as: org.owner, ...options });
  const begin = async (message: string, place = agent): Promise<string> => {
    const chat = await app.chat(place);
    expect((await app.send(place, chat, message)).status).toBe(202);
    return chat;
  };
  const inert = () => jest.spyOn(app.get(Runs), 'run').mockResolvedValue();
  const open = () =>
    app.db.query(
      sql<{ id: string }>(
        `SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id WHERE c.agent_id = $1 AND t.status IN ('queued', 'running', 'waiting')
         UNION ALL SELECT id FROM hitl_requests WHERE agent_id = $1 AND status = 'pending'`,
      ),
      [agent.agentId],
    );
  const allOver = () => eventually(open, (left) => left.length === 0);

  it('are stopped whatever they do, stay readable, and take nothing that would have them run', async () => {
    const worker = await addAgent(app, org, { name: `Worker ${agents}` });
    await app.call('PATCH', `/api/orgs/${org.id}/agents/${agent.agentId}?deploy=true`, {
      as: org.owner,
      body: { child_agent_ids: [worker.agentId] },
    });
    const said = await begin('hello');
    await app.settled(agent, said, 1);
    const failed = await begin(script({ error: { status: 400, message: 'no' } }));
    await app.until(agent, failed, (c) => c.status === 'ERRORED');
    const archived = await begin(calls('ask_human', { kind: 'question', prompt: 'Which?' }));
    await app.until(agent, archived, (c) => c.status === 'PAUSED');
    await app.call('PATCH', `${agent.path}/${archived}`, { as: org.owner, body: { archived: true } });
    const running = await begin(SLOW);
    await app.until(agent, running, (c) => c.status === 'RUNNING');
    await app.send(agent, running, 'behind');
    const asking = await begin(calls('ask_human', { kind: 'question', prompt: 'Which?' }));
    await app.until(agent, asking, (c) => c.status === 'PAUSED');
    const sleeping = await begin(calls('wait_until', { for_s: 3_600 }));
    await app.until(agent, sleeping, (c) => c.pause?.kind === 'timer');
    const waiting = await begin(delegating([delegate(worker, SLOW)]));
    await app.until(agent, waiting, (c) => c.pause?.kind === 'children');
    await entitle(app, { max_concurrent_chats: 0 });
    const parked = await begin('parked');
    await app.until(agent, parked, (c) => c.pause?.kind === 'queued');

    expect((await remove()).status).toBe(204);
    await allOver();
    const busy = { running, asking, sleeping, waiting, parked };
    for (const [name, chat] of Object.entries(busy)) {
      const body = await app.until(agent, chat, (c) => c.status === 'ACTIVE');
      expect([name, body.stop_reason, body.pause, body.pending_hitl_count ?? 0]).toEqual([name, 'agent_deleted', null, 0]);
      const told = await app.db.query(
        sql<{ data: unknown }>(`SELECT data FROM events WHERE topic = 'chat:' || $1 AND type = 'status_changed' ORDER BY seq DESC LIMIT 1`),
        [chat],
      );
      expect(told[0].data).toMatchObject({ to: 'ACTIVE', stop_reason: 'agent_deleted', pause: null });
    }
    expect(await app.db.query(sql(`SELECT status FROM hitl_requests WHERE agent_id = $1`), [agent.agentId])).toEqual([
      { status: 'cancelled' },
      { status: 'cancelled' },
    ]);
    expect(await app.db.query(sql(`SELECT status, waits FROM child_waits WHERE parent_chat_id = $1`), [waiting])).toEqual([
      { status: 'abandoned', waits: false },
    ]);
    expect(
      await app.db.query(
        sql(`SELECT o.id FROM outbox o JOIN turns t ON t.id = o.id JOIN chats c ON c.id = t.chat_id WHERE c.agent_id = $1`),
        [agent.agentId],
      ),
    ).toEqual([]);

    for (const chat of [said, failed, ...Object.values(busy)]) {
      const { status, body } = await app.read(agent, chat);
      expect([status, body.messages.length > 0]).toEqual([200, true]);
      const refused = { status: 409, body: { code: 'agent_deleted' } };
      for (const action of ['messages', 'continue', 'retry'])
        expect([action, await post(chat, action, { body: { content: 'more' } })]).toMatchObject([action, refused]);
      for (const named of [{ model: 'no-such' }, { attachment_ids: [chat] }])
        expect(await post(chat, 'messages', { body: { content: 'more', ...named } })).toMatchObject(refused);
      expect((await app.read(agent, chat)).body.messages).toEqual(body.messages);
      const diagnosis = (await app.call('GET', `${agent.path}/${chat}/diagnosis`, { as: org.owner })).body;
      expect(diagnosis).toMatchObject({
        blocked_by: { kind: 'agent_deleted', ref: agent.agentId, since: expect.any(String) as string },
        next_action: null,
      });
      expect(diagnosis.allowed_actions.filter((action: string) => ['message', 'continue', 'retry', 'stop'].includes(action))).toEqual([]);
    }
    expect((await app.call('GET', agent.path, { as: org.owner })).body.total).toBeGreaterThan(0);
    expect((await app.call('POST', agent.path, { as: org.owner, body: {} })).status).toBe(404);
  });

  it('tell the parents that wait for them that they were stopped', async () => {
    const boss: TestPlace = { ...org, slug: 'agent' };
    const parent = await begin(
      delegating([delegate(agent, SLOW), delegate(agent, calls('ask_human', { kind: 'question', prompt: 'Which?' }))]),
      boss,
    );
    await app.until(boss, parent, (c) => c.pause?.kind === 'children');
    const children = await eventually(
      () => childrenOf(app, parent),
      (found) =>
        found
          .map((c) => c.status)
          .sort()
          .join() === 'PAUSED,RUNNING',
    );
    expect((await remove()).status).toBe(204);
    const body = await app.settled(boss, parent, 1);
    expect(resultsOf(body)).toEqual(
      children.map(({ id }) => ({
        status: 'stopped',
        child_chat_id: id,
        agent: agent.slug,
        error: { code: 'agent_deleted', message: 'The agent was deleted.' },
      })),
    );
    expect(repliesOf(body)).toEqual(['all done']);
  });

  it('take a message before the deletion or refuse it, and nothing of it runs afterwards', async () => {
    const chats = await Promise.all(Array.from({ length: 24 }, () => app.chat(agent)));
    const [removed, ...answers] = await Promise.all([
      remove(),
      ...chats.map((chat, i) =>
        post(chat, 'messages', { body: { content: SLOW }, ...(i % 2 && { headers: { 'Idempotency-Key': `race-${chat}` } }) }),
      ),
    ]);
    expect(removed.status).toBe(204);
    await allOver();
    for (const [i, { status, body }] of answers.entries()) {
      const stored = await app.db.query(
        sql<{ status: string }>(
          `SELECT t.status FROM messages m LEFT JOIN turns t ON t.message_id = m.id WHERE m.role = 'user' AND m.chat_id = $1`,
        ),
        [chats[i]],
      );
      if (status === 202) expect(stored).toEqual([{ status: expect.stringMatching(/^(skipped|stopped)$/) as string }]);
      else expect([status, body.code, stored]).toEqual([409, 'agent_deleted', []]);
    }
    expect(
      await app.db.query(sql(`SELECT id FROM chats WHERE agent_id = $1 AND (status <> 'ACTIVE' OR current_turn_id IS NOT NULL)`), [
        agent.agentId,
      ]),
    ).toEqual([]);
  });

  it('have a turn ended at its claim that was dispatched too late to be found', async () => {
    const run = inert();
    const chat = await begin('hello');
    await app.send(agent, chat, 'behind');
    await app.db.execute(sql('UPDATE agents SET deleted_at = now() WHERE id = $1'), [agent.agentId]);
    run.mockRestore();
    const [{ id }] = await app.db.query(sql<{ id: string }>('SELECT current_turn_id AS id FROM chats WHERE id = $1'), [chat]);
    await app
      .get(Runs)
      .run(app.get(TurnKind), { org_id: org.id, chat_id: chat, turn_id: id }, { signal: new AbortController().signal } as JobContext);
    await allOver();
    expect((await app.read(agent, chat)).body).toMatchObject({ status: 'ACTIVE', stop_reason: 'agent_deleted' });
    expect(await app.db.query(sql('SELECT status FROM turns WHERE chat_id = $1'), [chat])).toEqual([
      { status: 'skipped' },
      { status: 'skipped' },
    ]);
  });

  it('refuse the repeat of what was answered 503', async () => {
    const chat = await app.chat(agent);
    const headers = { 'Idempotency-Key': `late-${chat}` };
    jest.spyOn(app.get(Outbox), 'publish').mockRejectedValueOnce(new Error('Redis is away'));
    expect((await app.send(agent, chat, 'hello', headers)).status).toBe(503);
    expect((await remove()).status).toBe(204);
    expect(await app.send(agent, chat, 'hello', headers)).toMatchObject({ status: 409, body: { code: 'agent_deleted' } });
  });
});

describe('what is done for a member who leaves', () => {
  let org: TestOrg;
  let worker: TestPlace;
  let ann: Member;
  beforeAll(async () => {
    org = await app.org({ allowed_tools: ['*'] });
    worker = await addAgent(app, org, { name: 'Worker' });
  });
  beforeEach(async () => {
    ann = await aMember(app, org, 'MEMBER');
  });
  afterEach(() => jest.restoreAllMocks());

  const say = async (chat: string, content: string, as: Bearer = ann) =>
    (await app.make('POST', `${org.path}/${chat}/messages`, { as, body: { content } })).turn_id as string;
  const begin = async (content: string, as: Bearer = ann) => {
    const chat = await app.chat(org, {}, as);
    await say(chat, content, as);
    return chat;
  };
  /** A chat that everybody sees. */
  const open = async (by: Bearer) => {
    const chat = await app.chat(org, {}, by);
    await app.make('PATCH', `${org.path}/${chat}`, { as: by, body: { shared: true } });
    return chat;
  };
  const STATE = sql<{ status: string; pause: { kind: string } | null; stop_reason: string | null }>(
    'SELECT status, pause, stop_reason FROM chats WHERE id = $1',
  );
  const become = async (chat: string, wanted: string) =>
    (
      await eventually(
        () => app.db.query(STATE, [chat]),
        ([{ status, pause }]) => (pause?.kind ?? status) === wanted,
      )
    )[0];
  const left = { status: 'ACTIVE', pause: null, stop_reason: 'member_left' };
  const remove = () => app.call('DELETE', `/api/orgs/${org.id}/members/${ann.memberId}`, { as: org.owner });
  const overFor = ({ id }: { id: string }) =>
    eventually(
      () =>
        app.db.query(
          sql(`SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id
               WHERE (c.private_to = $1 OR t.principal_id = $1) AND t.status IN ('queued', 'running', 'waiting')
               UNION ALL SELECT id FROM hitl_requests WHERE private_to = $1 AND status = 'pending'`),
          [id],
        ),
      (open) => open.length === 0,
    );
  const turnStatus = async (id: string) =>
    (await app.db.query(sql<{ status: string }>('SELECT status FROM turns WHERE id = $1'), [id]))[0].status;

  it('ends in their own chats, with all that these ask and have delegated', async () => {
    const busy = await begin(SLOW);
    await become(busy, 'RUNNING');
    await say(busy, 'behind');
    const sleeping = await begin(calls('wait_until', { for_s: 3_600 }));
    const asking = await begin(calls('ask_human', { kind: 'question', prompt: 'Which?' }));
    const parent = await begin(delegating([delegate(worker, calls('wait_until', { for_s: 3_600 })), delegate(worker, SLOW)]));
    for (const [chat, kind] of [
      [sleeping, 'timer'],
      [asking, 'human'],
      [parent, 'children'],
    ])
      await become(chat, kind);
    const [dozing, working] = (await childrenOf(app, parent)).map(({ id }) => id);
    await Promise.all([become(dozing, 'timer'), become(working, 'RUNNING')]);
    const shelved = await begin(calls('ask_human', { kind: 'question', prompt: 'Which?' }));
    await become(shelved, 'human');
    await app.make('PATCH', `${org.path}/${shelved}`, { as: ann, body: { archived: true } });
    const STEPS = sql(
      `SELECT s.chat_id, s.step_no FROM turn_steps s JOIN chats c ON c.id = s.chat_id WHERE c.private_to = $1 AND s.status = 'done' ORDER BY 1, 2`,
    );
    const steps = await app.db.query(STEPS, [ann.id]);

    expect((await remove()).status).toBe(204);
    await overFor(ann);
    for (const chat of [busy, sleeping, asking, parent, dozing, working]) expect(await become(chat, 'ACTIVE')).toEqual(left);
    expect(await app.db.query(STEPS, [ann.id])).toEqual(steps);
    expect(await app.db.query(sql('SELECT status FROM hitl_requests WHERE private_to = $1'), [ann.id])).toEqual(
      Array(2).fill({ status: 'cancelled' }),
    );
    const chats = [busy, sleeping, asking, parent, dozing, working];
    const JOBS = sql(`SELECT o.id FROM outbox o JOIN turns t ON t.id = o.id WHERE t.chat_id = ANY ($1)`);
    expect(await app.db.query(JOBS, [chats])).toEqual([]);

    // Who comes back goes on with them.
    await aMember(app, org, 'MEMBER', ann);
    await say(sleeping, 'hello again');
    expect(repliesOf(await until(sleeping, ann, 1))).toHaveLength(1);
  });

  it('ends in a chat that is shared no more, and leaves alone what its creator has done', async () => {
    const unshare = (chat: string, more: object = {}) =>
      app.make('PATCH', `${org.path}/${chat}`, { as: org.owner, body: { shared: false, ...more } });
    const [dozing, running, family, closed] = await Promise.all([0, 1, 2, 3].map(() => open(org.owner)));
    const mine = await say(dozing, calls('wait_until', { for_s: 3_600 }));
    await become(dozing, 'timer');
    const held = script({ text: 'one two three four five', chunk_delay_ms: HELD });
    await say(running, held, org.owner);
    await become(running, 'RUNNING');
    const behind = await say(running, 'too late');
    await say(running, 'what the owner says', org.owner);
    await say(family, delegating([delegate(worker, calls('ask_human', { kind: 'question', prompt: 'Which?' }))]));
    await become(family, 'children');
    const [child] = await childrenOf(app, family);
    await become(child.id, 'human');
    await say(closed, SLOW);
    await become(closed, 'RUNNING');
    const over = { ...left, stop_reason: 'unshared' };

    for (const chat of [dozing, running, family]) await unshare(chat);
    await unshare(closed, { archived: true });
    for (const chat of [dozing, family, child.id]) expect(await become(chat, 'ACTIVE')).toEqual(over);
    expect(await become(closed, 'ARCHIVED')).toMatchObject({ stop_reason: 'user_archived' });
    expect(await app.db.query(sql('SELECT status FROM hitl_requests WHERE chat_id = $1'), [child.id])).toEqual([{ status: 'cancelled' }]);
    app.letGo(held);
    expect(repliesOf(await until(running, org.owner, 2))).toEqual([
      'one two three four five',
      expect.stringContaining('what the owner says'),
    ]);
    expect(await Promise.all([mine, behind].map(turnStatus))).toEqual(['stopped', 'skipped']);
    // They are their creator's alone, who goes on with them.
    await say(dozing, 'hello', org.owner);
    expect(repliesOf(await until(dozing, org.owner, 1))).toHaveLength(1);
  });

  it('ends in the chats of others, where what waits behind it goes on', async () => {
    const [first, second, third] = [await open(org.owner), await open(org.owner), await open(ann)];
    const mine = await say(first, SLOW);
    await become(first, 'RUNNING');
    await say(first, 'what the owner says', org.owner);
    const held = script({ text: 'one two three four five', chunk_delay_ms: HELD });
    await say(second, held, org.owner);
    await become(second, 'RUNNING');
    const behind = await say(second, 'too late');
    await say(third, delegating([delegate(worker, SLOW)]));
    await become(third, 'children');
    const [child] = await childrenOf(app, third);
    await become(child.id, 'RUNNING');
    const alone = await begin(calls('wait_until', { for_s: 3_600 }), org.owner);
    await become(alone, 'timer');

    expect((await app.call('POST', `/api/orgs/${org.id}/members/leave`, { as: ann })).status).toBe(204);
    app.letGo(held);
    await overFor(ann);
    expect(repliesOf(await until(first, org.owner, 1))).toEqual([expect.stringContaining('what the owner says')]);
    expect(repliesOf(await until(second, org.owner, 1))).toEqual(['one two three four five']);
    expect(await Promise.all([mine, behind].map(turnStatus))).toEqual(['stopped', 'skipped']);
    for (const chat of [second, third, child.id]) expect(await become(chat, 'ACTIVE')).toEqual(left);
    const error = { code: 'member_left', message: 'Who had this done has left the organization.' };
    expect(notesOf((await app.read(org, third)).body)).toEqual([{ status: 'stopped', child_chat_id: child.id, agent: worker.slug, error }]);
    expect(await become(alone, 'timer')).toMatchObject({ stop_reason: null });
  });

  it('ends everywhere when they are shut out of the platform', async () => {
    const other = await app.org();
    await aMember(app, other, 'MEMBER', ann);
    const chat = await begin(calls('wait_until', { for_s: 3_600 }));
    const elsewhere = await app.chat(other, {}, ann);
    await app.make('POST', `${other.path}/${elsewhere}/messages`, { as: ann, body: { content: SLOW } });
    await Promise.all([become(chat, 'timer'), become(elsewhere, 'RUNNING')]);
    await app.get(UsersService).deactivate(actingOperator((await aPerson(app, { admin: true })).id, {}), ann.id);
    await overFor(ann);
    for (const ended of [chat, elsewhere]) expect(await become(ended, 'ACTIVE')).toEqual(left);
  });

  it('is ended at its claim where it was dispatched too late to be found', async () => {
    const run = jest.spyOn(app.get(Runs), 'run').mockResolvedValue();
    const chat = await app.chat(org, {}, ann);
    const turns = [await say(chat, 'hello'), await say(chat, 'behind')];
    await app.db.execute(sql('DELETE FROM memberships WHERE id = $1'), [ann.memberId]);
    run.mockRestore();
    for (const turn_id of turns)
      await app
        .get(Runs)
        .run(app.get(TurnKind), { org_id: org.id, chat_id: chat, turn_id }, { signal: new AbortController().signal } as JobContext);
    await overFor(ann);
    expect(await Promise.all(turns.map(turnStatus))).toEqual(['skipped', 'skipped']);
    expect(await become(chat, 'ACTIVE')).toEqual(left);
  });

  it('goes on for who is a member again, or still', async () => {
    const chat = await begin(calls('wait_until', { for_s: 3_600 }));
    await become(chat, 'timer');
    await app.get(EndService).ofMember(org.id, ann.id, new AbortController().signal);
    expect(await become(chat, 'timer')).toMatchObject({ stop_reason: null });
  });

  const until = (chat: string, as: Bearer, replies: number) =>
    eventually(
      async () => (await app.read(org, chat, as)).body,
      (body) => body.status === 'ACTIVE' && repliesOf(body).length >= replies,
    );
});
