import { RolloutsHttpModule } from '@aps/rollouts/http';
import { OrgScope } from '@aps/guards';
import { sql } from '@aps/platform/testing';
import { ChatStarts } from './sending/chat-starts';
import { chatsService, type TestOrg } from './testing/chats';
import { addAgent, delegate, delegating, type TestPlace } from './testing/delegations';

describe('the chats of a rollout', () => {
  const app = chatsService({}, [RolloutsHttpModule]);
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

  describe('of an experiment', () => {
    const arms = [1, 2].map((version) => ({ label: `v${version}`, weight: 5_000, version }));
    const start = async (place: TestPlace, unit: string) =>
      (await agent(place, '/rollouts', 'POST', { arms, control: 'v1', unit })).body as { id: string; arms: { revision_id: string }[] };
    const stop = (place: TestPlace, id: string) => agent(place, `/rollouts/${id}/stop`, 'POST');
    /** Rollout, arm and revision of a chat. */
    const placed = async (chat: string) =>
      (
        await app.db.query(
          sql<{ rollout_id: string; arm_label: string | null; agent_revision_id: string }>(
            'SELECT rollout_id, arm_label, agent_revision_id FROM chats WHERE id = $1',
          ),
          [chat],
        )
      )[0];
    /** The first chat of each arm, and how many were opened until both were there. */
    const untilBoth = async (place: TestPlace) => {
      const found = new Map<string, string>();
      for (let opened = 0; found.size < 2 && opened < 100; opened++) {
        const chat = await app.chat(place);
        found.set((await placed(chat)).arm_label!, chat);
      }
      return found;
    };
    let place: TestPlace;
    beforeAll(async () => {
      place = await addAgent(app, org, { name: 'Tried', instruction: 'One.' });
      await agent(place, '?deploy=true', 'PATCH', { instruction: 'Two.' });
    });

    it('run on their arm’s revision, are counted for it, and stay on it when it has ended; later ones get none', async () => {
      const experiment = await start(place, 'chat');
      const chats = await untilBoth(place);
      for (const [i, label] of ['v1', 'v2'].entries())
        expect(await placed(chats.get(label)!)).toEqual({
          rollout_id: experiment.id,
          arm_label: label,
          agent_revision_id: experiment.arms[i].revision_id,
        });
      const { body } = await agent(place, `/rollouts/${experiment.id}`);
      expect(body.arms.map((arm: { chat_count: number }) => arm.chat_count > 0)).toEqual([true, true]);
      // Whoever is assigned again, is assigned by itself.
      const again = (await app.call('POST', `${place.path}/${chats.get('v2')!}/retry`, { as: org.owner })).status;
      expect(again).toBe(422);
      await Promise.all([stop(place, experiment.id), ...Array.from({ length: 5 }, () => app.chat(place))]);
      const later = await app.chat(place);
      expect(await placed(later)).toEqual({
        rollout_id: expect.not.stringMatching(experiment.id),
        arm_label: null,
        agent_revision_id: experiment.arms[0].revision_id,
      });
      await app.send(place, chats.get('v2')!, 'still there?');
      await app.settled(place, chats.get('v2')!, 1);
      expect((await placed(chats.get('v2')!)).arm_label).toBe('v2');
    });

    it('are all of one arm for whoever has begun them, delegated, begun anew and written from outside', async () => {
      const team = await addAgent(app, org, { name: 'Leads', child_agent_ids: [place.agentId] });
      const { id } = await start(place, 'originator');
      const own = await app.chat(place);
      const { arm_label } = await placed(own);
      for (let i = 0; i < 6; i++) expect((await placed(await app.chat(place))).arm_label).toBe(arm_label);
      const parent = await app.chat(team);
      await app.send(team, parent, delegating([delegate(place, 'one'), delegate(place, 'two')]));
      await app.settled(team, parent, 1);
      const labels = sql<{ arm_label: string; originator: string }>('SELECT arm_label, originator FROM chats WHERE parent_chat_id = $1');
      expect(await app.db.query(labels, [parent])).toEqual(Array(2).fill({ arm_label, originator: org.owner.id }));
      await app.send(place, own, 'hello');
      await app.settled(place, own, 1);
      const retried = (await app.call('POST', `${place.path}/${own}/retry`, { as: org.owner })).body.id as string;
      expect((await placed(retried)).arm_label).toBe(arm_label);

      const scope = OrgScope.system(org.id, 'spec');
      const written = async (sender: string | null, ref_id: string) => {
        const origin = { kind: 'inbox', ref_id } as const;
        const begun = await app.db.transaction(scope, (tx) =>
          app.get(ChatStarts).start(tx, scope, { agent_id: place.agentId, title: null, origin, sender, message: { content: 'hello' } }),
        );
        return placed((begun as { chat_id: string }).chat_id);
      };
      for (let i = 0; i < 5; i++) {
        const sender = `person-${i}@example.com`;
        const [one, two] = [await written(sender, 'm1'), await written(sender.toUpperCase(), 'm2')];
        expect([one.rollout_id, two.arm_label]).toEqual([id, one.arm_label]);
      }
      const nobodys = await Promise.all(Array.from({ length: 12 }, (_, i) => written(null, `hook ${i}`)));
      expect(new Set(nobodys.map((chat) => chat.arm_label)).size).toBe(2);
      await stop(place, id);
    });
  });
});
