import { QUEUES } from '@aps/contracts';
import { Agent, AgentRevision, Chat, KnowledgeBase, KnowledgeSource, Turn, WorkerRow } from '@aps/entities';
import { anOrg } from '@aps/orgs/testing';
import { Broadcaster } from '@aps/platform/broadcast';
import { Outbox } from '@aps/platform/outbox';
import { outcome } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

describe('workers, administered', () => {
  const admin = adminService();
  const { t, call } = admin;
  let seen = 0;

  /** Rows as their workers write them, in this order. */
  const aWorker = async (row: Partial<WorkerRow> = {}): Promise<string> => {
    const id = `host:${++seen}:${uuidv7().slice(-6)}`;
    const started_at = new Date(Date.UTC(2026, 0, 1, 0, 0, seen));
    await t.db.manager.insert(WorkerRow, {
      id,
      app: 'chat-worker',
      version: '1.2.3',
      started_at,
      last_seen_at: t.db.now(),
      draining: false,
      queues: [],
      ...row,
    });
    return id;
  };
  const rowOf = (id: string) => t.db.manager.findOneBy(WorkerRow, { id });
  const silent = () => new Date(t.db.now().getTime() - 61_000);

  describe('the list', () => {
    let ids: string[];
    const page = async (query = '') => (await call('GET', `/workers${query}`)).body;

    beforeAll(async () => {
      const queues = [{ name: 'turns', active: 1, concurrency: 1024 }];
      ids = [await aWorker({ queues }), await aWorker({ draining: true }), await aWorker()];
      await aWorker({ last_seen_at: silent() });
    });

    it('has those that live, with what they consume and hold, in the order of their starts', async () => {
      const { id: org_id } = await anOrg(t);
      const agent_id = await t.insert(Agent, { org_id, slug: 'held', name: 'Held' });
      const agent_revision_id = await t.insert(AgentRevision, { org_id, agent_id, version: 1, hash: 'h', config: {} });
      const chat_id = await t.insert(Chat, { org_id, agent_id, agent_revision_id, origin_kind: 'user' });
      const turn = async (seq: number, lease_owner: string | null, status: Turn['status']) => {
        // Larger than what a number of JSON carries.
        const fence = `900719925474099${seq}`;
        const lease_expires_at = lease_owner ? new Date(Date.UTC(2030, 0, 1, 0, 0, seq)) : null;
        const id = await t.insert(Turn, { org_id, chat_id, seq, status, cause: 'message', lease_owner, lease_expires_at, fence });
        return { kind: 'turn', id, org_id, fence };
      };
      const [first, second] = [await turn(1, ids[0], 'running'), await turn(2, ids[0], 'running')];
      await turn(3, null, 'queued');
      const kb_id = await t.insert(KnowledgeBase, { org_id, slug: 'held', name: 'Held' });
      const source = { org_id, kb_id, kind: 'text', title: 'Held', status: 'running', fence: '7' } as const;
      const lease = { lease_owner: ids[0], lease_expires_at: new Date(Date.UTC(2030, 0, 1, 0, 0, 3)) };
      const third = { kind: 'knowledge_source', id: await t.insert(KnowledgeSource, { ...source, ...lease }), org_id, fence: '7' };
      const { items, total, next_offset } = await page();
      expect([items.map((one: { id: string }) => one.id), total, next_offset]).toEqual([ids, 3, null]);
      expect(items[0]).toEqual({
        id: ids[0],
        app: 'chat-worker',
        version: '1.2.3',
        started_at: '2026-01-01T00:00:01.000Z',
        last_seen_at: expect.any(String),
        draining: false,
        queues: [{ name: 'turns', active: 1, concurrency: 1024 }],
        leases: [
          { ...first, expires_at: '2030-01-01T00:00:01.000Z' },
          { ...second, expires_at: '2030-01-01T00:00:02.000Z' },
          { ...third, expires_at: '2030-01-01T00:00:03.000Z' },
        ],
      });
      expect(items[1]).toMatchObject({ draining: true, queues: [], leases: [] });
    });

    it('has pages', async () => {
      expect(await page('?limit=1&offset=1')).toMatchObject({ items: [{ id: ids[1] }], total: 3, next_offset: 2 });
      expect(await page('?limit=1&offset=2')).toMatchObject({ items: [{ id: ids[2] }], total: 3, next_offset: null });
      expect(await page('?offset=9')).toMatchObject({ items: [], total: 3, next_offset: null });
      expect((await page('?limit=0')).detail).toMatchObject([{ loc: ['query', 'limit'] }]);
    });

    it('tells what waits in every queue, whoever consumes it', async () => {
      const none = { ready: 0, active: 0, delayed: 0, failed: 0, oldest_ready_s: 0 };
      expect((await page()).queues).toEqual(QUEUES.map((name) => ({ name, ...none })));
      const ids = { org_id: uuidv7(), chat_id: uuidv7(), turn_id: uuidv7() };
      await t.get(Outbox).publish([
        { id: uuidv7(), name: 'turn.run', payload: ids },
        { id: uuidv7(), name: 'turn.run', payload: ids, priority: 3 },
      ]);
      const [turns, titles] = (await page()).queues;
      expect([turns, titles]).toEqual([
        { ...none, name: 'turns', ready: 2, oldest_ready_s: expect.any(Number) },
        { ...none, name: 'titles' },
      ]);
      expect(turns.oldest_ready_s).toBeGreaterThan(0);
    });

    it('is there without Redis, which knows what waits', async () => {
      const [turns] = t.get(Outbox).allQueues();
      const away = jest.spyOn(turns, 'getJobCounts').mockRejectedValue(new Error('Connection is closed.'));
      const { items, queues } = await page();
      away.mockRestore();
      expect([items.length, queues[0]]).toEqual([
        3,
        { name: 'turns', ready: null, active: null, delayed: null, failed: null, oldest_ready_s: null },
      ]);
    });
  });

  it('are drained and resumed: on record once, and told to them at once', async () => {
    const id = await aWorker();
    const send = jest.spyOn(t.get(Broadcaster), 'send');
    const post = (verb: string) => call('POST', `/workers/${encodeURIComponent(id)}/${verb}`);
    for (let repeat = 0; repeat < 2; repeat++) expect(await post('drain')).toMatchObject({ status: 202, body: { id, draining: true } });
    expect(await rowOf(id)).toMatchObject({ draining: true });
    for (let repeat = 0; repeat < 2; repeat++) expect(await post('resume')).toMatchObject({ status: 202, body: { id, draining: false } });
    expect(await rowOf(id)).toMatchObject({ draining: false });
    expect(send.mock.calls).toEqual([
      ['worker.changed', { worker_id: id }],
      ['worker.changed', { worker_id: id }],
    ]);
    const facts = { source: 'admin', actor_id: admin.operator.id, target_kind: 'worker', org_id: null, request_id: 'req' };
    expect(await t.audit({ target_id: id })).toMatchObject([
      { action: 'worker.drained', ...facts },
      { action: 'worker.resumed', ...facts },
    ]);
  });

  it('are drained once by many at the same moment', async () => {
    const id = await aWorker();
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', `/workers/${id}/drain`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202));
    expect(await t.audit({ target_id: id })).toHaveLength(1);
  });

  it.each(['drain', 'resume'])('are there: %s', async (verb) => {
    const gone = await aWorker({ last_seen_at: silent() });
    for (const id of [gone, 'nobody', uuidv7()]) expect(outcome(await call('POST', `/workers/${id}/${verb}`))).toEqual([404, 'not_found']);
    expect(await t.audit({ target_id: gone })).toEqual([]);
  });
});
