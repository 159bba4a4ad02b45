import { metrics } from '@aps/platform/observability';
import { Outbox } from '@aps/platform/outbox';
import { sql, undisturbed } from '@aps/platform/testing';
import { LeaseEnded, Runs } from '@aps/platform/runs';
import { chatsService, HELD, script, type TestOrg } from '../testing/chats';
import type { OwnedTurn } from './running-turn';
import { ToolStepRunner } from './tool-step';
import { TurnKind } from './turn.kind';
import { TurnRepository } from './turn.repository';

type Message = { role: string; content: string };
const contents = (chat: { messages: Message[] }, role: string) => chat.messages.filter((m) => m.role === role).map((m) => m.content);

/** Deaths at one exact place, which killing processes hits only by luck. */
describe('turns that are cut off at a bad moment', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeAll(async () => {
    org = await app.org();
  });
  afterEach(() => jest.restoreAllMocks());

  const get = <T>(type: new (...args: never[]) => T): T => app.get(type);
  const claimed = async (chat: string, id: string): Promise<OwnedTurn> => {
    const claim = await get(Runs).claim(get(TurnKind), { org_id: org.id, chat_id: chat, turn_id: id });
    await claim!.committed;
    return claim!;
  };

  it('do not wait a second time when the worker dies right after the wait', async () => {
    const chat = await app.chat(org);
    const died = new Promise<void>((resolve) => {
      jest.spyOn(get(ToolStepRunner), 'completeWait').mockImplementationOnce(async () => {
        resolve();
        throw new LeaseEnded('lost');
      });
    });
    await app.send(org, chat, script({ tool_calls: [{ name: 'wait_until', arguments: { for_s: 1 } }] }, { text: 'awake' }));
    await died;
    await app.expireLease(chat);
    const body = await app.settled(org, chat, 1);
    expect(contents(body, 'tool').map((c) => JSON.parse(c) as unknown)).toEqual([expect.objectContaining({ status: 'elapsed' })]);
    const pauses = await app.db.query(sql(`SELECT seq FROM events WHERE topic = 'chat:' || $1 AND data->'pause'->>'kind' = 'timer'`), [
      chat,
    ]);
    expect(pauses).toHaveLength(1);
  });

  it('write a tool’s result once when the connection breaks in the commit that went through', async () => {
    const chat = await app.chat(org);
    const steps = get(ToolStepRunner) as unknown as { inOwnedTransaction: (...args: unknown[]) => Promise<unknown> };
    const inTransaction = steps.inOwnedTransaction.bind(steps);
    jest.spyOn(steps, 'inOwnedTransaction').mockImplementationOnce(async (...args) => {
      await inTransaction(...args);
      throw new Error('Connection terminated unexpectedly');
    });
    await app.send(
      org,
      chat,
      script({ tool_calls: [{ name: 'todo_write', arguments: { todos: [{ title: 'once', status: 'pending' }] } }] }, { text: 'done' }),
    );
    const body = await app.settled(org, chat, 1);
    expect(contents(body, 'tool')).toEqual([expect.stringContaining('once')]);
    expect(await app.db.query(sql(`SELECT steps_done FROM turns WHERE chat_id = $1`), [chat])).toEqual([{ steps_done: 3 }]);
  });

  it('are taken up again soon, even if the outbox means to look much later', async () => {
    const chat = await app.chat(org);
    const died = new Promise<void>((resolve) => {
      jest.spyOn(get(TurnKind) as unknown as { drive: () => Promise<string> }, 'drive').mockImplementationOnce(async () => {
        resolve();
        throw new LeaseEnded('lost');
      });
    });
    await app.send(org, chat, 'hello');
    await died;
    await app.db.execute(sql(`UPDATE outbox SET available_at = now() + interval '1 hour'`));
    await app.expireLease(chat);
    expect(contents(await app.settled(org, chat, 1), 'assistant')).toEqual(['You said: hello']);
  });

  it('run after all when a second message was accepted before the queue was found unreachable', async () => {
    const chat = await app.chat(org);
    let fail = () => {};
    const unreachable = new Promise<void>((_, reject) => (fail = () => reject(new Error('Redis is away'))));
    jest.spyOn(get(Outbox), 'publish').mockImplementationOnce(() => unreachable);
    const first = app.send(org, chat, 'first');
    await app.until(org, chat, (c) => c.messages.length === 1);
    expect(await app.send(org, chat, 'second')).toMatchObject({ status: 202, body: { queued: true } });
    fail();
    expect(await first).toMatchObject({ status: 202, body: { dispatched: true } });
    expect(contents(await app.settled(org, chat, 2), 'assistant')).toEqual(['You said: first', 'You said: second']);
  });

  it('count as expired when their owner has gone silent, and not when it has handed them back', async () => {
    const turns = get(TurnRepository);
    const expired = async () =>
      (await metrics.getSingleMetric('lease_expired_total')!.get()).values.find(({ labels }) => labels.kind === 'turn')!.value;
    const ends: [(claim: OwnedTurn, chat: string) => Promise<unknown>, number][] = [
      [(claim) => turns.runs.release(app.db, claim), 0],
      [(_, chat) => app.expireLease(chat), 1],
    ];
    for (const [end, counts] of ends) {
      // A lease of a process that stands still meanwhile ends by itself.
      const counted = await undisturbed(5_000, async () => {
        jest.spyOn(get(Runs), 'run').mockResolvedValue();
        const chat = await app.chat(org);
        const { turn_id } = (await app.send(org, chat, 'hello')).body as { turn_id: string };
        const claim = await claimed(chat, turn_id);
        jest.restoreAllMocks();
        const before = await expired();
        await end(claim, chat);
        await app.settled(org, chat, 1);
        return (await expired()) - before;
      });
      expect(counted).toBe(counts);
    }
  });

  it('are written by one owner even if the database forgets a claim', async () => {
    const turns = get(TurnRepository);
    const chat = await app.chat(org);
    jest.spyOn(get(Runs), 'run').mockResolvedValue();
    const { turn_id: id } = (await app.send(org, chat, 'hello')).body as { turn_id: string };
    const [before] = await app.db.query(sql<{ fence: string }>('SELECT fence FROM turns WHERE id = $1'), [id]);
    const first = await claimed(chat, id);
    await app.db.execute(sql(`UPDATE turns SET status = 'queued', fence = $2, lease_owner = NULL, lease_expires_at = NULL WHERE id = $1`), [
      id,
      before.fence,
    ]);
    const second = await claimed(chat, id);
    expect(await turns.lockOwned(app.db, id, first.fence)).toBeNull();
    expect(await turns.lockOwned(app.db, id, second.fence)).not.toBeNull();
    jest.restoreAllMocks();
    await app.expireLease(chat);
    await app.settled(org, chat, 1);
  });

  it('count each other when they are claimed together', async () => {
    const kind = get(TurnKind);
    jest.spyOn(get(Runs), 'run').mockResolvedValue();
    const sent = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const chat = await app.chat(org);
        return { chat_id: chat, turn_id: ((await app.send(org, chat, 'hello')).body as { turn_id: string }).turn_id };
      }),
    );
    const [{ running }] = await app.db.query(
      sql<{ running: number }>(
        `SELECT count(*)::int AS running FROM turns WHERE org_id = $1 AND status = 'running' AND lease_expires_at > now()`,
      ),
      [org.id],
    );
    const claims = await Promise.all(
      sent.map((ids) => kind.claimAhead({ ...kind.claiming({ org_id: org.id, ...ids }), worker: 'one', cap: running + 2, at: new Date() })),
    );
    expect(claims.map((c) => c!.answer.verdict).sort()).toEqual(['claimed', 'claimed', 'over_cap', 'over_cap', 'over_cap']);
  });

  it('do not begin to wait when a message waits behind them', async () => {
    const chat = await app.chat(org);
    const held = script({ delay_ms: HELD, tool_calls: [{ name: 'wait_until', arguments: { for_s: 3600 } }] }, { text: 'interrupted' });
    await app.send(org, chat, held);
    await app.until(org, chat, (c) => c.status === 'RUNNING');
    expect(await app.send(org, chat, 'are you there?')).toMatchObject({ status: 202, body: { queued: true } });
    app.letGo(held);
    const body = await app.settled(org, chat, 2);
    expect(contents(body, 'tool').map((c) => JSON.parse(c) as unknown)).toEqual([{ status: 'interrupted_by_message' }]);
    expect(contents(body, 'assistant').slice(-2)).toEqual(['interrupted', 'You said: are you there?']);
  });
});
