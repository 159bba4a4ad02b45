import { eventually } from '@aps/testing';
import { NO_CALLER } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import type { JobContext } from '@aps/platform/queues';
import { sql } from '@aps/platform/testing';
import { LeaseEnded, Runs } from '@aps/platform/runs';
import { chatsService, HELD, script, type TestOrg } from '../testing/chats';
import { addAgent, childrenOf, delegate, delegating, notesOf, repliesOf, resultsOf, type TestPlace } from '../testing/delegations';
import { ChatState } from '../state/chat-state.repository';
import { DispatchRepository } from '../turns/dispatch.repository';
import { ModelStepRunner } from '../turns/model-step';
import { ToolStepRunner } from '../turns/tool-step';
import { TurnRepository, type ClaimedTurn } from '../turns/turn.repository';
import { TurnKind } from '../turns/turn.kind';

/** Where a worker dies: before or after the n-th thing of this kind that a turn of this chat does. */
interface Death {
  who: 'parent' | 'child';
  at: 'claim' | 'tools' | 'end';
  n: number;
  when: 'before' | 'after';
}

type Method = (...args: unknown[]) => Promise<unknown>;

describe('delegation when workers die, or all comes at once', () => {
  const app = chatsService();
  let org: TestOrg;
  let boss: TestPlace, worker: TestPlace;

  beforeAll(async () => {
    org = await app.org();
    worker = await addAgent(app, org, { name: 'Worker' });
    boss = await addAgent(app, org, { name: 'Boss', child_agent_ids: [worker.agentId] });
  });
  afterEach(() => jest.restoreAllMocks());

  const get = <T>(type: new (...args: never[]) => T): T => app.get(type);
  const count = async (chat: string, type: string) =>
    (await app.db.query(sql(`SELECT seq FROM events WHERE topic = 'chat:' || $1 AND type = $2`), [chat, type])).length;
  const pauses = async (chat: string) =>
    (await app.db.query(sql(`SELECT seq FROM events WHERE topic = 'chat:' || $1 AND data->'pause'->>'kind' = 'children'`), [chat])).length;

  /** Has workers die as it is noted for the chat, or for its child, each death once. */
  const dying = (deaths: Map<string, Death & { seen: number; died: boolean }>): void => {
    const wrap = (target: object, method: string, at: Death['at'], claimOf: (args: unknown[]) => ClaimedTurn): void => {
      const original = (target as Record<string, Method>)[method].bind(target);
      jest.spyOn(target as Record<string, Method>, method).mockImplementation(async (...args) => {
        const claim = claimOf(args);
        const parent = claim.origin.kind === 'agent' ? claim.origin.ref_id : null;
        const death = deaths.get(parent ?? claim.chat_id);
        const concerned =
          death && !death.died && death.at === at && (death.who === 'child') === (parent !== null) && ++death.seen === death.n;
        if (!concerned) return original(...args);
        death.died = true;
        if (death.when === 'after') await original(...args);
        // Whatever it had begun meanwhile is somebody else's by now.
        await app.expireLease(claim.chat_id);
        throw new LeaseEnded('lost');
      });
    };
    wrap(get(TurnKind), 'drive', 'claim', ([claim]) => claim as ClaimedTurn);
    wrap(get(ToolStepRunner), 'inOwnedTransaction', 'tools', ([turn]) => (turn as { claim: ClaimedTurn }).claim);
    wrap(get(ModelStepRunner), 'commitAndEnd', 'end', ([turn]) => (turn as { claim: ClaimedTurn }).claim);
  };

  it('goes on after a death at any step of parent or child, and nothing is done twice', async () => {
    const all: Death[] = [];
    for (const when of ['before', 'after'] as const) {
      // Two calls, the beginning of the wait, and the two results.
      for (const n of [1, 2, 3, 4, 5]) all.push({ who: 'parent', at: 'tools', n, when });
      all.push({ who: 'child', at: 'tools', n: 1, when }, { who: 'child', at: 'end', n: 1, when }, { who: 'child', at: 'end', n: 2, when });
    }
    all.push(
      { who: 'parent', at: 'claim', n: 1, when: 'before' },
      { who: 'parent', at: 'claim', n: 2, when: 'before' },
      { who: 'child', at: 'claim', n: 1, when: 'before' },
    );
    const deaths = new Map<string, Death & { seen: number; died: boolean }>();
    for (const death of all) deaths.set(await app.chat(boss), { ...death, seen: 0, died: false });
    dying(deaths);
    await Promise.all(
      [...deaths].map(async ([chat, { who, at, n, when }]) => {
        const work = script(
          { tool_calls: [{ name: 'todo_write', arguments: { todos: [{ title: 'once', status: 'pending' }] } }] },
          { text: 'worked', delay_ms: 100 },
        );
        await app.send(boss, chat, delegating([delegate(worker, work), delegate(worker, 'quick')]));
        const body = await app.settled(boss, chat, 1);
        const children = await childrenOf(app, chat);
        const seen = {
          replies: repliesOf(body),
          results: resultsOf(body),
          notes: notesOf(body),
          children: children.map(({ turns, wait, waits }) => ({ turns, wait, waits })),
          events: [
            await count(chat, 'delegation_started'),
            await count(chat, 'delegation_finished'),
            await count(children[0].id, 'todo_updated'),
          ],
          died: deaths.get(chat)!.died,
        };
        expect({ who, at, n, when, ...seen }).toEqual({
          ...{ who, at, n, when },
          replies: ['all done'],
          results: [
            expect.objectContaining({ status: 'done', result: 'worked' }),
            expect.objectContaining({ status: 'done', result: 'You said: quick' }),
          ],
          notes: [],
          children: Array(2).fill({ turns: 1, wait: 'finished', waits: false }),
          events: [2, 2, 1],
          died: true,
        });
        expect(await pauses(chat)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('does not begin to wait for children that were over before all calls had been made', async () => {
    const chat = await app.chat(boss);
    const steps = get(ToolStepRunner) as unknown as { inOwnedTransaction: Method };
    const original = steps.inOwnedTransaction.bind(steps);
    let calls = 0;
    jest.spyOn(steps, 'inOwnedTransaction').mockImplementation(async (...args) => {
      const parents = (args[0] as { claim: ClaimedTurn }).claim.chat_id === chat;
      // The second call and the wait come when the children that there are have ended.
      if (parents && ++calls > 1)
        await eventually(
          () => childrenOf(app, chat),
          (children) => children.every((c) => c.wait === 'finished'),
        );
      return original(...args);
    });
    await app.send(boss, chat, delegating([delegate(worker, 'one'), delegate(worker, 'two')]));
    const body = await app.settled(boss, chat, 1);
    expect(resultsOf(body)).toEqual([
      expect.objectContaining({ result: 'You said: one' }),
      expect.objectContaining({ result: 'You said: two' }),
    ]);
    expect([await pauses(chat), await count(chat, 'delegation_finished'), repliesOf(body)]).toEqual([0, 2, ['all done']]);
  });

  it('has children end and parents begin to wait at the same moment, all at once, without a deadlock', async () => {
    const deadlocks = async () =>
      (await app.db.query(sql<{ n: string }>('SELECT deadlocks AS n FROM pg_stat_database WHERE datname = current_database()')))[0].n;
    const before = await deadlocks();
    const chats = await Promise.all(Array.from({ length: 25 }, () => app.chat(boss)));
    await Promise.all(
      chats.map((chat, i) =>
        app.send(
          boss,
          chat,
          delegating(Array.from({ length: 3 }, (_, n) => delegate(worker, `task ${i}.${n}`, n === 2 ? { wait: false } : {}))),
        ),
      ),
    );
    for (const [i, chat] of chats.entries()) {
      await app.settled(boss, chat, 1);
      const body = await app.until(boss, chat, (c) => notesOf(c).length === 1);
      expect(repliesOf(body)).toEqual(['all done']);
      expect([...resultsOf(body).slice(0, 3), ...notesOf(body)]).toEqual(
        expect.arrayContaining([0, 1, 2].map((n) => expect.objectContaining({ status: 'done', result: `You said: task ${i}.${n}` }))),
      );
      expect([await count(chat, 'delegation_finished'), (await pauses(chat)) <= 1]).toEqual([3, true]);
    }
    await new Promise((r) => setTimeout(r, 1_100)); // The statistics are a second behind.
    expect(await deadlocks()).toBe(before);
  });

  it('leaves to the next turn what a turn that failed has not read, and what its children come to later', async () => {
    const chat = await app.chat(boss);
    const steps = get(ToolStepRunner) as unknown as { beginWait: Method };
    const died = new Promise<void>((resolve) => {
      jest.spyOn(steps, 'beginWait').mockImplementationOnce(async () => {
        await eventually(
          () => childrenOf(app, chat),
          (children) => children.some((c) => c.wait === 'finished'),
        );
        resolve();
        throw new LeaseEnded('lost');
      });
    });
    const held = script({ text: 'later', delay_ms: HELD });
    const { turn_id } = (await app.send(boss, chat, delegating([delegate(worker, 'unread'), delegate(worker, held)]))).body as {
      turn_id: string;
    };
    await died;
    // As if it had been delivered too often.
    await app.db.execute(sql('UPDATE turns SET deliveries = 3 WHERE chat_id = $1'), [chat]);
    await app.expireLease(chat);
    await get(Runs).run(get(TurnKind), { org_id: org.id, chat_id: chat, turn_id }, { signal: new AbortController().signal } as JobContext);
    const failed = await app.until(boss, chat, (c) => c.status === 'ERRORED');
    expect(failed.error.code).toBe('worker_lost');
    expect(notesOf(failed)).toEqual([expect.objectContaining({ status: 'done', result: 'You said: unread' })]);
    app.letGo(held);
    const told = await app.until(boss, chat, (c) => notesOf(c).length === 2);
    expect(notesOf(told)[1]).toMatchObject({ status: 'done', result: 'later' });
    expect((await childrenOf(app, chat)).map((c) => [c.wait, c.waits])).toEqual(Array(2).fill(['finished', false]));
  });

  it('shows a turn the note that was stored while its claim waited for the chat', async () => {
    const chat = await app.chat(boss);
    jest.spyOn(get(Runs), 'run').mockResolvedValue();
    const { turn_id: id } = (await app.send(boss, chat, 'hello')).body as { turn_id: string };
    const claiming = await app.db.transaction(NO_CALLER, async (tx) => {
      await tx.query(sql('SELECT id FROM chats WHERE id = $1 FOR UPDATE'), [chat]);
      const claim = get(Runs).claim(get(TurnKind), { org_id: boss.id, chat_id: chat, turn_id: id });
      await eventually(
        () => app.db.query(sql(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)),
        (rows) => rows.length > 0,
      );
      const reader = await get(DispatchRepository).nextReader(tx, chat);
      const note = { id: crypto.randomUUID(), role: 'system' as const, content: '{"status":"done"}', created_at: new Date() };
      await get(ChatState).append(tx, chat, { ...note, ...reader });
      return { claim };
    });
    const claim = await claiming.claim;
    await claim!.committed;
    const rows = claim!.transcript ?? (await get(TurnRepository).transcript(app.db, claim!));
    expect(rows.map((r) => r.role)).toEqual(['user', 'system']);
    jest.restoreAllMocks();
    await app.expireLease(chat);
    expect(repliesOf(await app.settled(boss, chat, 1))).toEqual(['You said: hello']);
  });

  it('is over when a child that was woken by a message cannot be handed to a worker', async () => {
    const chat = await app.chat(boss);
    await app.send(boss, chat, delegating([delegate(worker, script({ tool_calls: [{ name: 'wait_until', arguments: { for_s: 600 } }] }))]));
    await app.until(boss, chat, (c) => c.pause?.kind === 'children');
    const [{ id }] = await childrenOf(app, chat);
    await app.until(worker, id, (c) => c.pause?.kind === 'timer');
    const outbox = get(Outbox);
    const publish = outbox.publish.bind(outbox);
    const spy = jest
      .spyOn(outbox, 'publish')
      .mockImplementation((jobs) =>
        jobs.some((job) => (job.payload as { chat_id?: string }).chat_id === id)
          ? Promise.reject(new Error('Redis is away'))
          : publish(jobs),
      );
    expect((await app.send(worker, id, 'wake up')).status).toBe(503);
    spy.mockRestore();
    expect(resultsOf(await app.settled(boss, chat, 1))).toEqual([
      { status: 'cancelled', child_chat_id: id, agent: 'worker', error: { code: 'dispatch_failed', message: expect.any(String) } },
    ]);
  });

  it('keeps leases without waiting for a turn that is being written', async () => {
    const turns = get(TurnRepository);
    jest.spyOn(get(Runs), 'run').mockResolvedValue();
    const held = await Promise.all(
      [1, 2].map(async () => {
        const chat = await app.chat(boss);
        const { turn_id: id } = (await app.send(boss, chat, 'hello')).body as { turn_id: string };
        const claim = await get(Runs).claim(get(TurnKind), { org_id: boss.id, chat_id: chat, turn_id: id });
        await claim!.committed;
        await app.db.execute(sql(`UPDATE turns SET lease_expires_at = now() + interval '5 seconds' WHERE id = $1`), [id]);
        return { id, fence: claim!.fence, chat };
      }),
    );
    const alive = await app.db.transaction(NO_CALLER, async (tx) => {
      await tx.query(sql('SELECT id FROM turns WHERE id = $1 FOR UPDATE'), [held[0].id]);
      return turns.runs.heartbeat(app.db, 'one', [...held, { id: crypto.randomUUID(), fence: '1' }]);
    });
    expect([...alive.keys()].sort()).toEqual(held.map((h) => h.id).sort());
    const renewed = await app.db.query(
      sql(
        `SELECT lease_expires_at > now() + interval '10 seconds' AS renewed FROM turns WHERE id = ANY($1) ORDER BY array_position($1, id)`,
      ),
      [held.map((h) => h.id)],
    );
    expect(renewed).toEqual([{ renewed: false }, { renewed: true }]);
    await app.db.execute(sql('UPDATE turns SET fence = fence + 1 WHERE id = $1'), [held[1].id]);
    expect([...(await turns.runs.heartbeat(app.db, 'one', held)).keys()]).toEqual([held[0].id]);
    jest.restoreAllMocks();
    for (const { chat } of held) {
      await app.expireLease(chat);
      await app.settled(boss, chat, 1);
    }
  });
});
