import { entitle } from '@aps/billing/testing';
import { OrgScope } from '@aps/guards';
import { Broadcaster } from '@aps/platform/broadcast';
import { NO_CALLER } from '@aps/platform/database';
import { eventually, sql, standStill, type Answer, type Bearer } from '@aps/platform/testing';
import { gaveWay } from '@aps/testing';
import { RunLeases, Runs } from '@aps/platform/runs';
import { Client } from 'pg';
import { calls, chatsService, HELD, script, SLOW, type TestOrg } from '../testing/chats';
import { delegate, delegatingOrg } from '../testing/delegating';
import { TurnKind } from '../turns/turn.kind';
import { TurnRepository } from '../turns/turn.repository';
import { ChatsQueries } from '../reading/chats.queries';
import { ControlRepository } from './control.repository';

describe('the control of chats', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await delegatingOrg(app);
    await app.addUnpricedModel('free');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    app.blocker = null;
    await entitle(app, { direct_model_choice: true, enforces_credits: false, max_queue_depth: 20_000 });
  });

  const call = (method: string, chat: string, rest = '', body?: unknown, as: Bearer = org.owner) =>
    app.call(method, `${org.path}/${chat}${rest}`, { as, body });
  const rows = (text: string, ...values: unknown[]) => app.db.query(sql<Record<string, unknown>>(text), values);
  const rowOf = async (chat: string) => (await rows('SELECT * FROM chats WHERE id = $1', chat))[0];
  const turnsOf = async (chat: string) =>
    (await rows('SELECT status FROM turns WHERE chat_id = $1 ORDER BY seq', chat)).map((t) => t.status);
  const childrenOf = (chat: string) =>
    app.db.query(
      sql<{ id: string; status: string; agent_id: string }>('SELECT id, status, agent_id FROM chats WHERE parent_chat_id = $1 ORDER BY id'),
      [chat],
    );
  const told = (chat: string, type: string) =>
    rows(`SELECT data FROM events WHERE topic = 'chat:' || $1 AND type = $2 ORDER BY seq`, chat, type);
  const inert = () => jest.spyOn(app.get(Runs), 'run').mockResolvedValue();
  /** A chat that waits for a helper that waits for a leaf that speaks. */
  const family = async (): Promise<{ boss: string; helper: string; leaf: string }> => {
    const boss = await app.chat(org);
    await app.send(org, boss, delegate(delegate(SLOW), 'helper'));
    const [helper] = await eventually(
      () => childrenOf(boss),
      (c) => c.length === 1,
    );
    const [leaf] = await eventually(
      () => childrenOf(helper.id),
      (c) => c[0]?.status === 'RUNNING',
    );
    for (const waiting of [boss, helper.id])
      await eventually(
        () => rowOf(waiting),
        (c) => c.pause !== null,
      );
    return { boss, helper: helper.id, leaf: leaf.id };
  };

  /** A root with 500 helpers that wait for a leaf each; their turns act for the given user, or for nobody. */
  const thousand = async (root: string, principal: string | null = null) => {
    await app.db.execute(
      sql(`INSERT INTO chats (id, org_id, agent_id, agent_revision_id, created_by, origin_kind, status, parent_chat_id, root_chat_id, depth)
       SELECT gen_random_uuid(), c.org_id, c.agent_id, c.agent_revision_id, c.created_by, 'agent', 'ACTIVE', c.id, c.id, 1 FROM chats c, generate_series(1, 500) WHERE c.id = $1`),
      [root],
    );
    await app.db.execute(
      sql(`INSERT INTO chats (id, org_id, agent_id, agent_revision_id, created_by, origin_kind, status, parent_chat_id, root_chat_id, depth)
       SELECT gen_random_uuid(), c.org_id, c.agent_id, c.agent_revision_id, c.created_by, 'agent', 'RUNNING', c.id, $1, 2 FROM chats c WHERE c.parent_chat_id = $1`),
      [root],
    );
    await app.db.execute(
      sql(`INSERT INTO turns (id, org_id, chat_id, seq, status, cause, principal_id, started_at, wait, lease_owner, lease_expires_at)
       SELECT c.id, c.org_id, c.id, 1, CASE WHEN c.depth = 1 THEN 'waiting' ELSE 'running' END, 'message', $2, now(),
         CASE WHEN c.depth = 1 THEN '{"kind":"children","since":"2026-01-01T00:00:00Z","resume_at":null,"calls":[]}'::jsonb END, 'w', now() + interval '1 minute'
       FROM chats c WHERE c.root_chat_id = $1 AND c.id <> $1`),
      [root, principal],
    );
    await app.db.execute(
      sql(
        `UPDATE chats SET current_turn_id = id, pause = CASE WHEN depth = 1 THEN '{"kind":"children","since":"2026-01-01T00:00:00Z"}'::jsonb END WHERE root_chat_id = $1 AND id <> $1`,
      ),
      [root],
    );
  };

  describe('a stop', () => {
    it('with cascade reaches every chat that was delegated to, and nobody waits any more', async () => {
      const { boss, helper, leaf } = await family();
      const { status, body } = await call('POST', boss, '/stop', { cascade: true, reason: 'wrong way' });
      expect([status, body.stopped, body.cleared_pause, body.status]).toEqual([200, true, 'children', 'ACTIVE']);
      expect([...body.cascaded_chat_ids].sort()).toEqual([helper, leaf].sort());
      for (const chat of [boss, helper, leaf]) {
        expect(await rowOf(chat)).toMatchObject({
          status: 'ACTIVE',
          pause: null,
          current_turn_id: null,
          completed_at: null,
          archived_at: null,
        });
        expect(await turnsOf(chat)).toEqual(['stopped']);
        expect((await told(chat, 'status_changed')).at(-1)!.data).toMatchObject({
          to: 'ACTIVE',
          stop_reason: 'stopped',
          reason: 'wrong way',
        });
      }
      expect(await rows('SELECT DISTINCT status FROM child_waits WHERE parent_chat_id = ANY($1)', [boss, helper])).toEqual([
        { status: 'abandoned' },
      ]);
      expect(await rows(`SELECT id FROM outbox WHERE payload->>'chat_id' = ANY($1) AND job = 'turn.run'`, [boss, helper, leaf])).toEqual(
        [],
      );
      expect((await call('POST', boss, '/stop', { cascade: true })).body).toMatchObject({ stopped: false, cascaded_chat_ids: [] });
    });

    it('without it leaves the children running; one of a child tells its parent, which goes on', async () => {
      const first = await family();
      expect((await call('POST', first.boss, '/stop')).body).toMatchObject({
        stopped: true,
        cleared_pause: 'children',
        cascaded_chat_ids: [],
      });
      expect(await rowOf(first.leaf)).toMatchObject({ status: 'RUNNING' });

      const second = await family();
      const [{ agent_id }] = await rows('SELECT agent_id FROM chats WHERE id = $1', second.leaf);
      const path = `/api/orgs/${org.id}/agents/${String(agent_id)}/chats/${second.leaf}`;
      expect((await app.call('POST', `${path}/stop`, { as: org.owner })).body).toMatchObject({ stopped: true });
      await eventually(
        () => rowOf(second.boss),
        (c) => c.status === 'ACTIVE' && c.pause === null && c.current_turn_id === null,
      );
      expect(await rows('SELECT status FROM child_waits WHERE child_chat_id = $1', second.leaf)).toEqual([{ status: 'finished' }]);
      expect(await turnsOf(second.helper)).toEqual(['done']);
    });

    it('leaves those of the tree alone that wait for a human', async () => {
      const boss = await app.chat(org);
      await app.send(org, boss, delegate(calls('ask_human', { kind: 'question', prompt: 'Which?' })));
      const [leaf] = await eventually(
        () => childrenOf(boss),
        (c) => c[0]?.status === 'PAUSED',
      );
      await eventually(
        () => rowOf(boss),
        (c) => c.pause !== null,
      );
      expect((await call('POST', boss, '/stop', { cascade: true })).body).toMatchObject({ stopped: true, cascaded_chat_ids: [] });
      expect(await rowOf(leaf.id)).toMatchObject({ status: 'PAUSED', pause: { kind: 'human' } });
    });

    it('of a thousand chats takes few statements, and frees as many slots', async () => {
      inert();
      const root = await app.chat(org);
      await thousand(root);
      const parked = await Promise.all(Array.from({ length: 3 }, () => app.chat(org)));
      for (const chat of parked) {
        const { turn_id: turnId } = (await app.send(org, chat, 'hello')).body as { turn_id: string };
        await app.db.execute(sql('UPDATE turns SET parked = true WHERE id = $1'), [turnId]);
        await app.db.execute(sql('DELETE FROM outbox WHERE id = $1'), [turnId]);
      }
      const query = jest.spyOn(Client.prototype, 'query');
      const { status, body } = await call('POST', root, '/stop', { cascade: true });
      const statements = query.mock.calls.length;
      query.mockRestore();
      expect([status, body.stopped, body.cascaded_chat_ids.length]).toEqual([200, false, 1_000]);
      expect(statements).toBeGreaterThan(5);
      expect(statements).toBeLessThan(60);
      expect(await rows(`SELECT DISTINCT status, pause, current_turn_id FROM chats WHERE root_chat_id = $1`, root)).toEqual([
        { status: 'ACTIVE', pause: null, current_turn_id: null },
      ]);
      expect(
        await rows(`SELECT count(*)::int AS n FROM events WHERE topic IN (SELECT 'chat:' || id FROM chats WHERE root_chat_id = $1)`, root),
      ).toEqual([{ n: 1_000 }]);
      expect(await rows('SELECT count(*)::int AS n FROM turns WHERE chat_id = ANY($1) AND parked', parked)).toEqual([{ n: 0 }]);
      for (const chat of parked) await call('DELETE', chat);
    });

    it('from both ends of a tree at once ends, again and again', async () => {
      const families = await Promise.all(Array.from({ length: 6 }, family));
      const patiently = (ask: () => Promise<Answer>) => eventually(ask, (answer) => !gaveWay(answer));
      const answers = await Promise.all(
        families.flatMap(({ boss, leaf }) => [
          patiently(() => call('POST', boss, '/stop', { cascade: true })),
          rows('SELECT agent_id FROM chats WHERE id = $1', leaf).then(([{ agent_id }]) =>
            patiently(() => app.call('POST', `/api/orgs/${org.id}/agents/${String(agent_id)}/chats/${leaf}/terminate`, { as: org.owner })),
          ),
        ]),
      );
      expect(answers.map((a) => a.status)).toEqual(answers.map(() => 200));
      for (const { boss, helper, leaf } of families) {
        await eventually(
          () => rows("SELECT 1 FROM turns WHERE chat_id = ANY($1) AND status IN ('queued', 'running', 'waiting')", [boss, helper, leaf]),
          (live) => live.length === 0,
        );
      }
    });
  });

  it('a stop that is heard late does not reach the turn after it', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, SLOW);
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    await call('POST', chat, '/stop');
    const next = script({ text: 'one two three', chunk_delay_ms: HELD });
    await app.send(org, chat, next);
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    const [{ id: before }] = await app.db.query(sql<{ id: string }>('SELECT id FROM turns WHERE chat_id = $1 ORDER BY seq LIMIT 1'), [
      chat,
    ]);
    const heard = jest.spyOn(app.get(RunLeases), 'stop');
    app.get(Broadcaster).send('chat.stop', { org_id: org.id, chat_id: chat, turn_id: before, at: new Date().toISOString() });
    await eventually(() => Promise.resolve(heard.mock.calls.some(([id]) => id === before)), Boolean);
    app.letGo(next);
    await eventually(
      () => turnsOf(chat),
      (turns) => turns[1] === 'done',
    );
    expect(await rows('SELECT deliveries, status FROM turns WHERE chat_id = $1 ORDER BY seq OFFSET 1', chat)).toEqual([
      { deliveries: 0, status: 'done' },
    ]);
    expect((await app.read(org, chat)).body.messages.at(-1).content).toBe('one two three');
  });

  it('a turn that lost its worker while others had taken its slot waits like one that has not begun', async () => {
    const chat = await app.chat(org);
    const { turn_id: turnId } = (await app.send(org, chat, SLOW)).body as { turn_id: string };
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    await entitle(app, { max_concurrent_chats: 0 });
    standStill(app.get(RunLeases), turnId);
    await app.db.execute(sql(`UPDATE turns SET lease_expires_at = now() - interval '1 second' WHERE id = $1`), [turnId]);
    expect(await app.get(Runs).claim(app.get(TurnKind), { turn_id: turnId, org_id: org.id, chat_id: chat })).toBeNull();
    expect(await rowOf(chat)).toMatchObject({ status: 'ACTIVE', pause: { kind: 'queued' } });
    expect((await told(chat, 'status_changed')).at(-1)!.data).toMatchObject({ from: 'RUNNING', to: 'ACTIVE', pause: { kind: 'queued' } });
    // Its turn comes, and the slot is gone again: nothing has changed for who looks on.
    const { pause } = (await rowOf(chat)) as { pause: object };
    const before = (await told(chat, 'status_changed')).length;
    await app.get(TurnRepository).runs.dispatchParked(app.db, org.id);
    expect(await app.get(Runs).claim(app.get(TurnKind), { turn_id: turnId, org_id: org.id, chat_id: chat })).toBeNull();
    expect(await rowOf(chat)).toMatchObject({ status: 'ACTIVE', pause });
    expect(await told(chat, 'status_changed')).toHaveLength(before);
    expect((await call('POST', chat, '/stop')).body).toMatchObject({ stopped: true, cleared_pause: 'queued', status: 'ACTIVE' });
    expect(await turnsOf(chat)).toEqual(['stopped']);
    await entitle(app, { max_concurrent_chats: 2_000 });
  });

  it('terminating cancels what is asked of humans, and does not reach the children', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, calls('ask_human', { kind: 'question', prompt: 'Which?' }));
    await app.until(org, chat, (c) => c.status === 'PAUSED');
    const [{ id: request }] = await rows('SELECT id FROM hitl_requests WHERE chat_id = $1', chat);
    const { body } = await call('POST', chat, '/terminate');
    expect(body).toEqual({
      chat_id: chat,
      status: 'ARCHIVED',
      terminated: true,
      completed_at: expect.any(String) as string,
      cancelled_hitl_request_ids: [request],
    });
    expect(await rows('SELECT status FROM hitl_requests WHERE id = $1', request)).toEqual([{ status: 'cancelled' }]);
    expect((await call('POST', chat, '/terminate')).body).toEqual({ ...body, terminated: false, cancelled_hitl_request_ids: [] });

    const { boss, helper, leaf } = await family();
    expect((await call('POST', boss, '/terminate')).body.terminated).toBe(true);
    expect((await rowOf(leaf)).status).toBe('RUNNING');
    // Until a sweep finds that it rests without a parent.
    const { status, pause } = await rowOf(helper);
    expect([status, pause]).toEqual(
      status === 'ABANDONED' ? ['ABANDONED', null] : ['ACTIVE', expect.objectContaining({ kind: 'children' })],
    );
    expect(await rows('SELECT status FROM child_waits WHERE parent_chat_id = $1', boss)).toEqual([{ status: 'abandoned' }]);
  });

  it('archiving and terminating wait for nobody who holds a chat that was delegated to', async () => {
    for (const close of [
      (boss: string) => call('PATCH', boss, '', { archived: true }),
      (boss: string) => call('POST', boss, '/terminate'),
    ]) {
      const { boss, helper } = await family();
      await app.db.transaction(NO_CALLER, async (tx) => {
        await app.get(ControlRepository).lockTrees(tx, OrgScope.system(org.id, 'test'), [helper]);
        expect(await close(boss)).toMatchObject({ status: 200, body: { status: 'ARCHIVED' } });
      });
    }
  });

  it('archiving a chat that asks a human leaves the question open; its answer changes nothing any more', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, calls('ask_human', { kind: 'question', prompt: 'Which?' }));
    await app.until(org, chat, (c) => c.status === 'PAUSED');
    const [{ id: request }] = await rows('SELECT id FROM hitl_requests WHERE chat_id = $1', chat);
    const { body } = await call('PATCH', chat, '', { archived: true, title: 'Closed' });
    expect(body).toMatchObject({
      status: 'ARCHIVED',
      archived: true,
      stop_reason: 'user_archived',
      completed_at: null,
      pending_hitl_count: 1,
      pause: null,
      title: 'Closed',
    });
    const answer = await app.call('POST', `/api/orgs/${org.id}/hitl-requests/${String(request)}/answer`, {
      as: org.owner,
      body: { answer: 'this one' },
    });
    expect(answer).toMatchObject({ status: 200, body: { status: 'answered', resumed: false } });
    expect(await rowOf(chat)).toMatchObject({ status: 'ARCHIVED', current_turn_id: null });
    // Deleting cancels what is still open after archiving, too.
    const other = await app.chat(org);
    await app.send(org, other, calls('ask_human', { kind: 'question', prompt: 'Which?' }));
    await app.until(org, other, (c) => c.status === 'PAUSED');
    await call('PATCH', other, '', { archived: true });
    expect((await call('DELETE', other)).status).toBe(204);
    expect(await rows('SELECT status FROM hitl_requests WHERE chat_id = $1', other)).toEqual([{ status: 'cancelled' }]);
  });

  it('a closed chat keeps a hundred messages, and stores no further one', async () => {
    const chat = await app.chat(org);
    await app.send(org, chat, 'hello');
    await app.settled(org, chat, 1);
    await call('PATCH', chat, '', { archived: true });
    const sent = await Promise.all(Array.from({ length: 103 }, () => app.send(org, chat, 'more')));
    const refused = sent.filter(({ status }) => status !== 202);
    expect(refused).toEqual(
      Array(3).fill(
        expect.objectContaining({
          status: 429,
          body: expect.objectContaining({ code: 'queue_full', context: { limit: 100, current: 100 } }),
        }),
      ),
    );
    expect((await app.read(org, chat)).body.message_count).toBe(102);
    // Where it is continued, a turn reads them.
    inert();
    await rows(`UPDATE chats SET stop_reason = 'credits_exhausted' WHERE id = $1`, chat);
    expect((await call('POST', chat, '/continue')).status).toBe(200);
    await call('PATCH', chat, '', { archived: true });
    expect((await app.send(org, chat, 'more')).status).toBe(202);
  });

  describe('a patch', () => {
    it('needs a field, and takes no field for another', async () => {
      const chat = await app.chat(org);
      for (const body of [{}, { unknown: 1 }])
        expect(await call('PATCH', chat, '', body)).toMatchObject({
          status: 422,
          body: { code: 'validation_error', detail: [{ loc: ['body'] }] },
        });
      for (const body of [
        { archived: 'yes' },
        { archived: null },
        { shared: null },
        { title: '' },
        { title: 'x'.repeat(201) },
        { title: 5 },
        { title: 'a\0b' },
      ])
        expect((await call('PATCH', chat, '', body)).status).toBe(422);
      expect(await rowOf(chat)).toMatchObject({ title: 'Test', status: 'ACTIVE', shared: false, event_seq: 0 });
    });

    it('renames, and tells it once', async () => {
      const chat = await app.chat(org);
      expect((await call('PATCH', chat, '', { title: 'New' })).body.title).toBe('New');
      await call('PATCH', chat, '', { title: 'New' });
      expect((await call('PATCH', chat, '', { title: null })).body.title).toBeNull();
      expect(await told(chat, 'title_changed')).toEqual([{ data: { title: 'New' } }, { data: { title: null } }]);
    });

    it('does all of it or nothing', async () => {
      const chat = await app.chat(org);
      await call('PATCH', chat, '', { archived: true });
      expect(await call('PATCH', chat, '', { archived: false, title: 'Other', shared: true })).toMatchObject({
        status: 422,
        body: { code: 'cannot_unarchive', detail: [{ loc: ['body', 'archived'] }] },
      });
      expect(await rowOf(chat)).toMatchObject({ title: 'Test', shared: false });
    });

    it('shares with everybody and with all that was delegated to, by the creator alone', async () => {
      const { boss, helper, leaf } = await family();
      expect((await call('PATCH', boss, '', { shared: true }, org.member)).status).toBe(404);
      expect((await call('PATCH', boss, '', { shared: true })).body.shared).toBe(true);
      expect(await rows('SELECT DISTINCT shared FROM chats WHERE id = ANY($1)', [boss, helper, leaf])).toEqual([{ shared: true }]);
      // All but the sharing, which not even an owner may change for another one.
      expect(await call('PATCH', boss, '', { shared: false, title: 'Mine' }, org.member)).toMatchObject({
        status: 403,
        body: { code: 'creator_only' },
      });
      const theirs = await app.chat(org, { title: 'Theirs' }, org.member);
      await call('PATCH', theirs, '', { shared: true }, org.member);
      expect(await call('PATCH', theirs, '', { shared: false })).toMatchObject({ status: 403, body: { code: 'creator_only' } });
      expect((await call('PATCH', boss, '', { title: 'Ours' }, org.member)).body.title).toBe('Ours');
      const [{ agent_id }] = await rows('SELECT agent_id FROM chats WHERE id = $1', leaf);
      const ofLeaf = `/api/orgs/${org.id}/agents/${String(agent_id)}/chats/${leaf}`;
      expect(await app.call('PATCH', ofLeaf, { as: org.owner, body: { shared: false } })).toMatchObject({
        status: 422,
        body: { code: 'follows_root' },
      });
      expect((await app.call('PATCH', ofLeaf, { as: org.owner, body: { shared: true } })).status).toBe(200);
      expect((await call('PATCH', boss, '', { shared: false })).body.shared).toBe(false);
      expect((await app.call('GET', ofLeaf, { as: org.member })).status).toBe(404);
      await call('POST', boss, '/stop', { cascade: true });
    });
  });

  it('unsharing a tree of a thousand chats in which others are at work takes few statements, and wakes and tells no parent', async () => {
    inert();
    const root = await app.chat(org);
    await call('PATCH', root, '', { shared: true });
    await call('POST', root, '/messages', { content: 'hello' }, org.member);
    const [{ id: turn, principal_id }] = await rows('SELECT id, principal_id FROM turns WHERE chat_id = $1', root);
    await thousand(root, principal_id as string);
    await app.db.execute(
      sql(`INSERT INTO child_waits (id, org_id, parent_chat_id, parent_turn_id, tool_call_id, child_chat_id)
       SELECT c.id, c.org_id, c.parent_chat_id, CASE WHEN c.depth = 1 THEN $2::uuid ELSE c.parent_chat_id END, 'call', c.id FROM chats c WHERE c.root_chat_id = $1 AND c.id <> $1`),
      [root, turn],
    );
    // What waits behind a turn of one goes on, and is told of its child.
    const [{ id: busy }] = await childrenOf(root);
    const behind = await rows(
      `INSERT INTO turns (id, org_id, chat_id, seq, status, cause) SELECT gen_random_uuid(), org_id, id, 2, 'queued', 'message' FROM chats WHERE id = $1 RETURNING id`,
      busy,
    );
    await app.db.execute(sql('UPDATE chats SET pending_turns = 1, turn_seq = 2 WHERE id = $1'), [busy]);
    const query = jest.spyOn(Client.prototype, 'query');
    expect((await call('PATCH', root, '', { shared: false })).status).toBe(200);
    const statements = query.mock.calls.length;
    query.mockRestore();
    expect(statements).toBeLessThan(100);
    expect(
      await rows(
        `SELECT status, pause, stop_reason, current_turn_id, message_count, count(*)::int AS n FROM chats WHERE root_chat_id = $1 AND id <> $1 AND id <> $2 AND parent_chat_id <> $2 GROUP BY 1, 2, 3, 4, 5`,
        root,
        busy,
      ),
    ).toEqual([{ status: 'ACTIVE', pause: null, stop_reason: 'unshared', current_turn_id: null, message_count: 0, n: 998 }]);
    expect(await rowOf(busy)).toMatchObject({
      status: 'ACTIVE',
      pause: null,
      current_turn_id: behind[0].id,
      pending_turns: 0,
      message_count: 1,
    });
    expect(await rowOf(root)).toMatchObject({ status: 'ACTIVE', stop_reason: 'unshared', current_turn_id: null, message_count: 1 });
    expect(
      await rows(
        `SELECT status, count(*)::int AS n FROM turns WHERE chat_id IN (SELECT id FROM chats WHERE root_chat_id = $1) GROUP BY 1 ORDER BY 1`,
        root,
      ),
    ).toEqual([
      { status: 'queued', n: 1 },
      { status: 'skipped', n: 1 },
      { status: 'stopped', n: 1_000 },
    ]);
    await call('POST', busy, '/stop');
    await app.db.execute(sql(`UPDATE turns SET status = 'stopped', finished_at = now() WHERE id = $1`), [behind[0].id]);
  });

  it('a deleted chat is nowhere, and nothing of it runs', async () => {
    const chat = await app.chat(org);
    await app.send(
      org,
      chat,
      script(
        {
          tool_calls: [
            {
              name: 'todo_write',
              arguments: {
                todos: [
                  { title: 'a', status: 'pending' },
                  { title: 'b', status: 'completed' },
                ],
              },
            },
          ],
        },
        { text: 'one two three four', chunk_delay_ms: 5_000 },
      ),
    );
    await eventually(
      () => rows('SELECT status FROM todos WHERE chat_id = $1', chat),
      (t) => t.length === 2,
    );
    await app.send(org, chat, 'behind');
    const stream = await app.stream(org, chat);
    await stream.until((f) => f.event === 'snapshot');
    expect((await call('DELETE', chat)).status).toBe(204);
    const answers = await Promise.all([
      call('GET', chat),
      call('PATCH', chat, '', { title: 'x' }),
      call('DELETE', chat),
      ...['stop', 'terminate', 'continue', 'retry'].map((action) => call('POST', chat, `/${action}`)),
      call('POST', chat, '/messages', { content: 'x' }),
      call('GET', chat, '/diagnosis'),
      call('GET', chat, '/todos'),
      call('GET', chat, '/stream'),
    ]);
    expect(answers.map((a) => [a.status, a.body.code])).toEqual(answers.map(() => [404, 'not_found']));
    const list = await app.call('GET', `${org.path}?limit=100`, { as: org.owner });
    expect(list.body.items.map((c: { id: string }) => c.id)).not.toContain(chat);
    expect(await turnsOf(chat)).toEqual(['stopped', 'skipped']);
    expect(await rows(`SELECT id FROM outbox WHERE payload->>'chat_id' = $1`, chat)).toEqual([]);
    expect((await rows('SELECT status FROM todos WHERE chat_id = $1 ORDER BY position', chat)).map((t) => t.status)).toEqual([
      'invalidated',
      'completed',
    ]);
    await expect(stream.until(() => false)).rejects.toThrow('The stream ended');
    expect(await rows(`SELECT action, actor_id FROM audit_log WHERE target_id = $1`, chat)).toEqual([
      { action: 'chat.deleted', actor_id: org.owner.id },
    ]);
  });

  describe('continuing', () => {
    const failed = async (body: Record<string, unknown> = {}): Promise<string> => {
      const chat = await app.chat(org);
      await call('POST', chat, '/messages', {
        content: script({ error: { status: 400, message: 'no', times: 1 } }, { text: 'better' }),
        ...body,
      });
      await app.until(org, chat, (c) => c.status === 'ERRORED');
      return chat;
    };

    it('dispatches one turn however many ask, as the failed one was meant', async () => {
      const chat = await failed({ model: 'mock', reasoning_effort: 'low' });
      inert();
      const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', chat, '/continue')));
      expect(answers.map((a) => [a.status, a.body.id, a.body.error])).toEqual(answers.map(() => [200, chat, null]));
      expect(await rows('SELECT cause, status, model, reasoning_effort FROM turns WHERE chat_id = $1 ORDER BY seq OFFSET 1', chat)).toEqual(
        [{ cause: 'continue', status: 'queued', model: 'mock', reasoning_effort: 'low' }],
      );
      // Once that turn is over there is nothing to continue.
      await call('POST', chat, '/stop');
      expect(await call('POST', chat, '/continue')).toMatchObject({
        status: 422,
        body: { code: 'not_continuable', context: { status: 'ACTIVE', stop_reason: null } },
      });
    });

    it('goes on by what the plan lets a message choose by now', async () => {
      const chat = await failed({ model: 'mock', reasoning_effort: 'low' });
      await entitle(app, { direct_model_choice: false });
      inert();
      expect((await call('POST', chat, '/continue')).status).toBe(200);
      const [turn] = await rows('SELECT model, reasoning_effort FROM turns WHERE chat_id = $1 ORDER BY seq DESC LIMIT 1', chat);
      expect(turn).toEqual({ model: null, reasoning_effort: null });
    });

    it('with a key dispatches once, also where the first try got no further than that', async () => {
      const chat = await failed();
      inert();
      const again = () =>
        app.call('POST', `${org.path}/${chat}/continue`, { as: org.owner, headers: { 'Idempotency-Key': `continue-${chat}` } });
      jest.spyOn(app.get(ChatsQueries), 'withMessages').mockRejectedValueOnce(new Error('connection lost'));
      expect((await again()).status).toBe(500);
      await call('POST', chat, '/stop');
      const [answer, repeat] = [await again(), await again()];
      expect([answer.status, answer.body.id, repeat.body]).toEqual([200, chat, answer.body]);
      expect(repeat.headers.get('idempotency-replayed')).toBe('true');
      expect(await turnsOf(chat)).toHaveLength(2);
    });

    it('is refused while credits or the budget are used up, or too much waits', async () => {
      const chat = await failed();
      app.blocker = { code: 'credits_exhausted', credits_remaining: '-1.5' };
      expect(await call('POST', chat, '/continue')).toMatchObject({
        status: 402,
        body: { code: 'credits_exhausted', context: { credits_remaining: '-1.5' } },
      });
      app.blocker = { code: 'budget_exceeded', budget_limit_usd: '10', spend_usd: '11' };
      expect(await call('POST', chat, '/continue')).toMatchObject({
        status: 402,
        body: { code: 'budget_exceeded', context: { budget_limit_usd: '10', spend_usd: '11' } },
      });
      const idle = await app.chat(org);
      expect((await call('POST', idle, '/continue')).body.code).toBe('not_continuable');
      app.blocker = null;
      await entitle(app, { max_queue_depth: 0 });
      expect(await call('POST', chat, '/continue')).toMatchObject({ status: 429, body: { code: 'queue_full' } });
      expect(await rowOf(chat)).toMatchObject({ status: 'ERRORED', turn_seq: 1 });
    });

    it('lets a model without a price through once, where credits are counted', async () => {
      await entitle(app, { enforces_credits: true });
      const chat = await app.chat(org);
      await call('POST', chat, '/messages', { content: 'hello', model: 'free' });
      const blocked = await app.until(org, chat, (c) => c.status === 'ARCHIVED');
      expect(blocked).toMatchObject({ stop_reason: 'model_unpriced', error: null, completed_at: null, message_count: 1 });
      expect(blocked.archived_at).not.toBeNull();
      expect((await told(chat, 'blocker')).map((e) => e.data)).toMatchObject([{ stop_reason: 'model_unpriced' }]);
      expect(await rows('SELECT 1 FROM inference_receipts WHERE chat_id = $1', chat)).toEqual([]);
      expect((await call('GET', chat, '/diagnosis')).body).toMatchObject({
        blocked_by: { kind: 'credits', ref: 'model_unpriced' },
        next_action: 'continue',
      });

      expect((await call('POST', chat, '/continue')).body).toMatchObject({ archived: false, archived_at: null, stop_reason: null });
      const body = await app.settled(org, chat, 1);
      expect(body.messages.at(-1)).toMatchObject({ content: 'You said: hello', model: 'free' });
      expect(await rows('SELECT unpriced, usd_cost FROM inference_receipts WHERE chat_id = $1', chat)).toEqual([
        { unpriced: true, usd_cost: null },
      ]);
      await call('POST', chat, '/messages', { content: 'again', model: 'free' });
      await app.until(org, chat, (c) => c.status === 'ARCHIVED');
    });

    it('lets it through once more where it is the same turn that has failed meanwhile', async () => {
      await entitle(app, { enforces_credits: true });
      const chat = await app.chat(org);
      const content = script({ error: { status: 400, message: 'no', times: 1 }, text: 'at last' });
      await call('POST', chat, '/messages', { content, model: 'free' });
      await app.until(org, chat, (c) => c.status === 'ARCHIVED');
      await call('POST', chat, '/continue');
      await app.until(org, chat, (c) => c.status === 'ERRORED');
      await call('POST', chat, '/continue');
      expect((await app.settled(org, chat, 1)).messages.at(-1)).toMatchObject({ content: 'at last' });
    });
  });

  it('a failure is behind a chat as soon as the message that waited runs', async () => {
    const chat = await app.chat(org);
    const failing = script({ delay_ms: HELD, error: { status: 400, message: 'no' } });
    await app.send(org, chat, failing);
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    expect((await app.send(org, chat, 'behind')).body.queued).toBe(true);
    app.letGo(failing);
    expect(await app.settled(org, chat, 1)).toMatchObject({ status: 'ACTIVE', error: null });
    expect(
      (await told(chat, 'status_changed')).map(({ data }) => `${(data as { from: string }).from}>${(data as { to: string }).to}`),
    ).toEqual(['ACTIVE>RUNNING', 'RUNNING>ERRORED', 'ERRORED>ACTIVE', 'ACTIVE>RUNNING', 'RUNNING>ACTIVE']);
  });
});
