import { sql } from '@aps/platform/testing';
import { chatsService, type TestOrg } from './testing/chats';
import { addAgent, delegate, delegating, type TestPlace } from './testing/delegations';

describe('the chats of a rollout', () => {
  const app = chatsService();
  let org: TestOrg;
  let worker: TestPlace;
  let boss: TestPlace;

  beforeAll(async () => {
    org = await app.org();
    worker = await addAgent(app, org, { name: 'Worker' });
    boss = await addAgent(app, org, { name: 'Boss', child_agent_ids: [worker.agentId] });
  });

  const agent = (place: TestPlace, rest = '', method = 'GET', body?: unknown) =>
    app.call(method, `/api/orgs/${org.id}/agents/${place.agentId}${rest}`, { as: org.owner, body });
  /** Newest rollout first. */
  const counts = async (place: TestPlace): Promise<number[]> =>
    (await agent(place, '/rollouts')).body.items.map((r: { arms: { chat_count: number }[] }) => r.arms[0].chat_count);

  it('are all that were ever assigned to it: opened, begun anew, delegated and deleted ones', async () => {
    const [deleted, kept] = [await app.chat(boss), await app.chat(boss)];
    await app.send(boss, kept, delegating([delegate(worker, 'a task')]));
    await app.settled(boss, kept, 1);
    expect((await app.call('POST', `${boss.path}/${kept}/retry`, { as: org.owner })).status).toBe(201);
    expect((await app.call('DELETE', `${boss.path}/${deleted}`, { as: org.owner })).status).toBe(204);
    expect(await counts(boss)).toEqual([3]);

    expect((await agent(boss, '?deploy=true', 'PATCH', { max_steps: 9 })).status).toBe(200);
    await app.chat(boss);
    expect(await counts(boss)).toEqual([1, 3]);
    const [{ id }] = (await agent(boss, '/rollouts')).body.items;
    expect((await agent(boss, `/rollouts/${id}`)).body.arms).toEqual([expect.objectContaining({ chat_count: 1 })]);
    const delegated = await app.db.query(sql<{ n: number }>('SELECT count(*)::int AS n FROM chats WHERE agent_id = $1'), [worker.agentId]);
    expect(await counts(worker)).toEqual([delegated[0].n]);
  });
});
