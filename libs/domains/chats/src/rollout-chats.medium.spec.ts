import { override } from '@aps/billing/testing';
import { RolloutsHttpModule } from '@aps/rollouts/http';
import { OrgScope } from '@aps/guards';
import { sql } from '@aps/platform/testing';
import { RolloutResultsService } from '@aps/rollouts';
import { ChatStarts } from './sending/chat-starts';
import { calls, chatsService, script, SLOW, type TestOrg } from './testing/chats';
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

    it('are counted when they are over, by what they came to and took, with all that they delegated', async () => {
      // Decisions to escalate are recorded alone.
      await override(app, org.id, { hitl_routing: false });
      const tried = await addAgent(app, org, { name: 'Counted', child_agent_ids: [worker.agentId] });
      await agent(tried, '?deploy=true', 'PATCH', { instruction: 'Two.' });
      const { id } = (
        await agent(tried, '/rollouts', 'POST', {
          arms: [
            { ...arms[0], weight: 9_999 },
            { ...arms[1], weight: 1 },
          ],
          control: 'v1',
          min_sample: 7,
        })
      ).body as { id: string };
      // So that each says something, whatever arm it would have got.
      await app.db.execute(sql(`UPDATE rollouts SET arms = jsonb_set(arms, '{0,weight}', '10000') WHERE id = $1`), [id]);
      const results = async () => {
        // As when what is remembered has become too old.
        app.get(RolloutResultsService)['known'].clear();
        return (await agent(tried, `/rollouts/${id}/results`)).body;
      };
      const said = async (message: string) => {
        const chat = await app.chat(tried);
        await app.send(tried, chat, message);
        await app.settled(tried, chat, 1);
        return chat;
      };
      const rested = (chat: string) =>
        app.db.execute(sql(`UPDATE chats SET last_message_at = now() - interval '31 minutes' WHERE id = $1`), [chat]);
      const counts = async () => {
        const [arm] = (await results()).arms;
        return Object.fromEntries(Object.entries<{ count: number }>(arm.outcomes).map(([name, { count }]) => [name, count]));
      };
      const usage = { input: 700, output: 300 };
      const completed = await said(
        script({ tool_calls: [{ name: 'todo_write', arguments: { todos: [] } }], usage }, { text: 'done', usage }),
      );
      const escalated = await said(calls('record_decision', { kind: 'escalate', summary: 'Look', basis: 'Rule' }));
      const delegated = await said(delegating([delegate(worker, script({ text: 'found', usage }))]));
      // Neither those that nobody has written in, nor those that go on, nor retries.
      await app.chat(tried);
      expect(await counts()).toEqual({ completed: 0, errored: 0, escalated: 0, abandoned: 0, terminated: 0 });
      const [running, errored, terminated, deleted] = [
        await said('goes on'),
        await said('hello'),
        await said('hello'),
        await said('hello'),
      ];
      const asking = await app.chat(tried);
      await app.send(tried, asking, calls('ask_human', { kind: 'question', prompt: 'Which?' }));
      await app.until(tried, asking, (c) => c.pause?.kind === 'human');
      for (const chat of [completed, escalated, delegated, asking]) await rested(chat);
      await app.db.execute(sql(`UPDATE chats SET status = 'ERRORED' WHERE id = $1`), [errored]);
      expect((await app.call('POST', `${tried.path}/${terminated}/terminate`, { as: org.owner })).status).toBe(200);
      expect((await app.call('DELETE', `${tried.path}/${deleted}`, { as: org.owner })).status).toBe(204);
      for (const chat of [completed, escalated]) {
        const again = await app.call('POST', `${tried.path}/${chat}/retry`, { as: org.owner });
        expect(again.status).toBe(201);
        // It does the same once more, and is told of nowhere.
        await app.settled(tried, again.body.id as string, 1);
      }
      expect(await counts()).toEqual({ completed: 2, errored: 1, escalated: 1, abandoned: 0, terminated: 2 });

      const body = await results();
      const [arm, other] = body.arms;
      expect(body).toMatchObject({ rollout_id: id, billing_unit: 'usd', insufficient_data: true, srm: { p_value: null, warning: false } });
      expect(arm).toMatchObject({
        ...{ label: 'v1', is_control: true, chats: 6, units: expect.any(Number) },
        outcomes: { completed: { share: 0.333333333333, ci_low: expect.any(Number), delta: null, significant: false } },
        metrics: { hitl_rate: { mean: 0, n: 6 }, cost: { n: 6 }, tokens: { n: 6 } },
        decisions: { recorded: 1, reviewed: 0, disputed: 0, dispute_rate: { share: null } },
      });
      expect(other).toMatchObject({
        ...{ label: 'v2', is_control: false, chats: 0, units: 0 },
        metrics: { cost: { mean: null, n: 0, delta: null, always_valid: false } },
      });
      // Three calls of a tool in six chats of a turn each; and who delegates pays.
      expect(arm.metrics.tool_call_rate.mean).toBeCloseTo(3 / 6, 10);
      const tokens = sql<{ n: number }>(`
        SELECT sum(r.input_tokens + r.cached_input_tokens + r.cache_write_tokens + r.output_tokens + r.reasoning_tokens)::float8 / 6 AS n
        FROM inference_receipts r JOIN chats c ON c.id = r.chat_id WHERE coalesce(c.parent_chat_id, c.id) = ANY($1)`);
      const over = [completed, escalated, delegated, errored, terminated, deleted];
      expect(arm.metrics.tokens.mean).toBeCloseTo((await app.db.query(tokens, [over]))[0].n, 6);
      expect(
        (await app.db.query(sql<{ n: number }>('SELECT count(*)::int AS n FROM chats WHERE parent_chat_id = $1'), [delegated]))[0].n,
      ).toBe(1);

      // One that goes on leaves the count, and one that is answered comes into it, less what it has waited.
      await app.send(tried, completed, 'and more');
      await app.settled(tried, completed, 2);
      expect(await counts()).toMatchObject({ completed: 1 });
      await rested(running);
      // It was taken up two hours ago, asked after ten minutes, and is answered now: no matter when it was dispatched last.
      await app.db.execute(sql(`UPDATE hitl_requests SET created_at = now() - interval '110 minutes' WHERE chat_id = $1`), [asking]);
      await app.db.execute(sql(`UPDATE turns SET started_at = now() - interval '2 hours' WHERE chat_id = $1`), [asking]);
      const [{ id: question }] = await app.db.query(sql<{ id: string }>('SELECT id FROM hitl_requests WHERE chat_id = $1'), [asking]);
      await app.make('POST', `/api/orgs/${org.id}/hitl-requests/${question}/answer`, { as: org.owner, body: { answer: 'this' } });
      await app.settled(tried, asking, 1);
      await rested(asking);
      const { metrics, outcomes } = (await results()).arms[0];
      expect(outcomes.completed.count).toBe(3);
      expect(metrics.hitl_rate.mean).toBeCloseTo(1 / 7, 10);
      // Ten minutes of one in seven; the rest takes moments.
      expect(Math.abs(7 * metrics.duration_s.mean - 600)).toBeLessThan(60);

      // Who deletes what asks, or has just been at work, polishes no arm; what was over by then, stays as it was.
      const [asked, closed, unanswered] = [await app.chat(tried), await said('hello'), await app.chat(tried)];
      for (const chat of [asked, unanswered]) {
        await app.send(tried, chat, calls('ask_human', { kind: 'question', prompt: 'Which?' }));
        await app.until(tried, chat, (c) => c.pause?.kind === 'human');
      }
      const expecting = await said(delegating([delegate(worker, SLOW, { wait: false })]));
      for (const chat of [asked, expecting]) await rested(chat);
      for (const chat of [closed, unanswered])
        expect((await app.call('PATCH', `${tried.path}/${chat}`, { as: org.owner, body: { archived: true } })).status).toBe(200);
      const remove = async (chat: string) =>
        expect((await app.call('DELETE', `${tried.path}/${chat}`, { as: org.owner })).status).toBe(204);
      for (const chat of [asked, closed, running, unanswered]) await remove(chat);
      expect(await counts()).toMatchObject({ completed: 5, terminated: 3 });
      await remove(expecting);
      expect(await counts()).toEqual({ completed: 5, errored: 1, escalated: 1, abandoned: 0, terminated: 4 });

      // A cost that nobody knows is no figure; and disputes are of what was reviewed.
      await app.db.execute(sql(`UPDATE inference_receipts SET usd_cost = NULL, unpriced = true WHERE chat_id = $1`), [errored]);
      await app.db.execute(sql(`UPDATE decisions SET review_status = 'disputed' WHERE chat_id = $1`), [escalated]);
      const unpriced = (await results()).arms[0];
      expect([unpriced.metrics.cost.n, unpriced.metrics.tokens.n]).toEqual([10, 11]);
      expect(unpriced.decisions).toMatchObject({ recorded: 1, reviewed: 1, disputed: 1, dispute_rate: { share: 1, ci_low: null } });
      await override(app, org.id, { hitl_routing: false, enforces_credits: true });
      expect(await results()).toMatchObject({ billing_unit: 'credits', arms: [{ metrics: { cost: { n: 10 } } }, {}] });
      await override(app, org.id, { hitl_routing: false });

      // What is not kept any more, has happened all the same.
      await app.db.execute(sql('DELETE FROM decisions WHERE chat_id = $1'), [escalated]);
      expect(await counts()).toMatchObject({ completed: 5, escalated: 1 });

      // Of a deployment there is one arm, which is compared with nothing.
      const [deployment] = (await agent(worker, '/rollouts')).body.items;
      expect((await agent(worker, `/rollouts/${deployment.id}/results`)).body).toMatchObject({
        srm: null,
        arms: [{ is_control: false, outcomes: { completed: { delta: null } } }],
      });
      const stranger = await app.org();
      expect(
        (await app.call('GET', `/api/orgs/${stranger.id}/agents/${stranger.agentId}/rollouts/${id}/results`, { as: stranger.owner }))
          .status,
      ).toBe(404);
    });
  });
});
