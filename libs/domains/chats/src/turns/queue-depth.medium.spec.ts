import { entitle } from '@aps/billing/testing';
import { OneByOne } from '@aps/platform/database';
import { eventually, sql } from '@aps/platform/testing';
import { Outbox, type OutboxJob } from '@aps/platform/outbox';
import { Runs } from '@aps/platform/runs';
import { ChatState } from '../state/chat-state.repository';
import { chatsService, type TestOrg } from '../testing/chats';
import { QueueDepth } from './queue-depth';
import { turnsConfig } from './turns.config';

describe('the queue of an organization', () => {
  const app = chatsService();
  let org: TestOrg;

  beforeEach(async () => {
    org = await app.org();
    // What is counted is what waits: nobody may work it off meanwhile.
    jest.spyOn(app.get(Runs), 'run').mockResolvedValue();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await entitle(app, { max_queue_depth: -1 });
  });

  const chats = (n: number) => Promise.all(Array.from({ length: n }, () => app.chat(org)));
  const waiting = async () =>
    (await app.db.query(sql<{ n: number }>(`SELECT count(*)::int AS n FROM turns WHERE org_id = $1 AND status = 'queued'`), [org.id]))[0].n;
  const messages = async () =>
    (await app.db.query(sql<{ n: number }>('SELECT count(*)::int AS n FROM messages WHERE org_id = $1'), [org.id]))[0].n;
  const statuses = (answers: { status: number }[]) => [202, 429].map((status) => answers.filter((a) => a.status === status).length);
  /** Sends at once, to as many chats. */
  const flood = async (n: number, headers: (i: number) => Record<string, string> = () => ({})) => {
    const to = await chats(n);
    return Promise.all(to.map((chat, i) => app.send(org, chat, 'me', headers(i))));
  };

  const post = (chat: string, action: string) => app.call('POST', `${org.path}/${chat}/${action}`, { as: org.owner });
  /** Has the first turn of a chat fail, so that it can be continued. */
  const failing = async (chat: string) => {
    await app.send(org, chat, 'first');
    await app.db.execute(sql(`UPDATE turns SET status = 'failed', finished_at = now() WHERE chat_id = $1`), [chat]);
    const error = { code: 'provider_timeout', message: 'm', retryable: true };
    await app.db.execute(sql(`UPDATE chats SET status = 'ERRORED', current_turn_id = NULL, error = $2 WHERE id = $1`), [chat, error]);
  };

  it.each([3, 40])('has room for exactly %i of 60 that come at once; the rest are refused and leave nothing', async (limit) => {
    await entitle(app, { max_queue_depth: limit });
    const answers = await flood(60);
    expect(statuses(answers)).toEqual([limit, 60 - limit]);
    expect([await waiting(), await messages()]).toEqual([limit, limit]);
    const refused = answers.find((a) => a.status === 429)!;
    expect(refused.body).toMatchObject({ code: 'queue_full', context: { entitlement: 'max_queue_depth', limit, current: limit } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is as exact among processes, which do not wait for each other but for the lock', async () => {
    await entitle(app, { max_queue_depth: 3 });
    jest.spyOn(OneByOne.prototype, 'run').mockImplementation((_, work) => work());
    // Fewer than a process has connections, or they would wait for those.
    expect(statuses(await flood(8))).toEqual([3, 5]);
    expect(await waiting()).toBe(3);
  });

  it('counts messages with a key, to one chat, repeats and those that revive as any other', async () => {
    const [busy, failed] = await chats(2);
    await failing(failed);
    await entitle(app, { max_queue_depth: 5 });
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => app.send(org, busy, 'busy', { 'Idempotency-Key': `busy-${org.id}-${i}` })),
      ...Array.from({ length: 5 }, () => app.send(org, failed, 'again')),
      ...Array.from({ length: 5 }, () => post(failed, 'retry')),
      post(failed, 'continue'),
    ]);
    expect(await waiting()).toBe(5);
    expect(answers.filter((a) => a.status >= 500)).toEqual([]);
  });

  it.each([0, 1])('refuses when it is full (%i) whoever would add a turn, and nobody else', async (limit) => {
    const [idle, closed, failed] = await chats(3);
    const gone = await app.org();
    const orphaned = await app.chat(gone);
    await app.call('DELETE', `/api/orgs/${gone.id}/agents/${gone.agentId}`, { as: gone.owner });
    await app.call('PATCH', `${org.path}/${closed}`, { as: org.owner, body: { archived: true } });
    await failing(failed);
    await entitle(app, { max_queue_depth: limit });
    const codes = async (answers: Promise<{ status: number; body: { code?: string } }>[]) =>
      (await Promise.all(answers)).map(({ status, body }) => body.code ?? status);
    // The one that there may be room for; what is continued already is not continued twice.
    expect(await codes([post(failed, 'continue')])).toEqual([limit ? 200 : 'queue_full']);
    if (limit) expect(await codes([post(failed, 'continue')])).toEqual([200]);
    expect(await codes([app.send(org, idle, 'me'), app.send(org, orphaned, 'me'), app.send(gone, orphaned, 'me')])).toEqual([
      'queue_full',
      'not_found',
      'agent_deleted',
    ]);
    expect(await app.send(org, closed, 'for the record')).toMatchObject({
      status: 202,
      body: { dispatched: false, reason: 'chat_archived' },
    });
    expect(await codes([post(idle, 'continue'), post(idle, 'retry'), post(orphaned, 'retry'), post(failed, 'retry')])).toEqual([
      'not_continuable',
      'nothing_to_retry',
      'not_found',
      'queue_full',
    ]);
    expect(await waiting()).toBe(limit);
  });

  it('is not held by a retry that still copies what it begins with, behind which others wait and copy nothing', async () => {
    const [source, other] = await chats(2);
    await app.send(org, source, 'me');
    await entitle(app, { max_queue_depth: 2 });
    const state = app.get(ChatState);
    const append = state.append.bind(state);
    let goOn = () => undefined as void;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const copying = new Promise<void>((resolve) =>
      jest.spyOn(state, 'append').mockImplementationOnce(async (...args) => {
        resolve();
        await held;
        return append(...args);
      }),
    );
    const begun = jest.spyOn(state, 'insert');
    const entered = jest.spyOn(app.get(QueueDepth), 'enter');
    const retried = [post(source, 'retry')];
    await copying;
    retried.push(post(source, 'retry'));
    await eventually(
      () => Promise.resolve(entered.mock.results),
      (rooms) => rooms.length === 2,
    );
    await entered.mock.results[1].value;
    const { status } = await app.send(org, other, 'me');
    goOn();
    expect(status).toBe(202);
    for (const { body } of await Promise.all(retried)) expect(body).toMatchObject({ code: 'queue_full' });
    expect(begun).toHaveBeenCalledTimes(1);
    expect([await waiting(), await messages()]).toEqual([2, 2]);
  });

  it('takes no lock far from its cap', async () => {
    await entitle(app, { max_queue_depth: 20_000 });
    const locked = jest.spyOn(OneByOne.prototype, 'run');
    expect(statuses(await flood(30))).toEqual([30, 0]);
    expect(locked).not.toHaveBeenCalled();
  });

  it.each([
    [16, 0],
    [30, 1],
  ])('has %i processes take what is left without a lock, as far as all of them may', async (senders, locks) => {
    jest.replaceProperty(turnsConfig.value, 'senders', senders);
    await entitle(app, { max_queue_depth: 20 });
    const locked = jest.spyOn(OneByOne.prototype, 'run');
    expect(statuses(await flood(1))).toEqual([1, 0]);
    expect(locked).toHaveBeenCalledTimes(locks);
  });

  it.each([-1, 20_000])('lets a flood come after what others send, with a cap of %i', async (cap) => {
    await entitle(app, { max_queue_depth: cap });
    const added = jest.spyOn(app.get(Outbox), 'publish').mockResolvedValue();
    for (const chat of await chats(70)) await app.send(org, chat, 'me');
    const other = await app.org();
    await app.send(other, await app.chat(other), 'and me?');
    // What nobody publishes the relay brings again, without a priority.
    const jobs = added.mock.calls.flatMap(([published]) => published) as OutboxJob<'turn.run'>[];
    const prioritiesOf = ({ id: orgId }: TestOrg) =>
      jobs
        .filter(({ id, payload }, i) => payload.org_id === orgId && jobs.findIndex((job) => job.id === id) === i)
        .map((job) => job.priority);
    const ofFlood = prioritiesOf(org);
    expect([ofFlood.length, ofFlood[0], ofFlood.at(-1), prioritiesOf(other)]).toEqual([70, undefined, 1, [undefined]]);
  });
});
