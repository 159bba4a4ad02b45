import { entitle, entitleAsBefore } from '@aps/billing/testing';
import { WorkerRow } from '@aps/entities';
import { Broadcaster } from '@aps/platform/broadcast';
import { Maintenance } from '@aps/platform/maintenance';
import { metrics } from '@aps/platform/observability';
import { ProcessIdentity } from '@aps/platform/runtime';
import { sql } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { Runs } from '@aps/platform/runs';
import { chatsService, HELD, script, type TestOrg } from '../testing/chats';

const ANSWER = 'one two three four five six';
const streamed = () => script({ text: ANSWER, chunk_delay_ms: HELD });

/** One worker, told by its row; two of them, as processes, are tested end to end. */
describe('a worker that is drained', () => {
  const app = chatsService();
  let org: TestOrg;
  let self: ProcessIdentity;

  const rowOf = (id = self.id) => app.db.manager.findOneBy(WorkerRow, { id });
  /** As an operator does, but for the broadcast, which may be lost. */
  const setRow = (draining: boolean) => app.db.manager.update(WorkerRow, self.id, { draining });
  const heard = (draining: boolean) =>
    eventually(
      () => Promise.resolve(self.draining),
      (is) => is === draining,
    );
  const tell = async (draining: boolean): Promise<void> => {
    await setRow(draining);
    app.get(Broadcaster).send('worker.changed', { worker_id: self.id });
    await heard(draining);
  };
  const running = (chat: string) => app.until(org, chat, ({ status }) => status === 'RUNNING');
  const waiting = async (chat: string) => {
    const owners = await app.db.query(
      sql<{ status: string; lease_owner: string | null }>(`SELECT status, lease_owner FROM turns WHERE chat_id = $1`),
      [chat],
    );
    expect(owners).toEqual([{ status: 'queued', lease_owner: null }]);
  };
  const replies = (chat: { messages: { role: string; content: string }[] }) =>
    chat.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
  const handedBack = async () => {
    const { values } = await metrics.getSingleMetric('jobs_finished_total')!.get();
    return values.filter(({ labels }) => labels.outcome === 'handed_back').reduce((sum, { value }) => sum + value, 0);
  };

  beforeAll(async () => {
    org = await app.org();
    self = app.get(ProcessIdentity);
  });
  afterEach(() => tell(false));

  it('has a row from its start on, with what it consumes', async () => {
    expect(await rowOf()).toEqual({
      id: self.id,
      app: 'test',
      version: 'dev',
      started_at: expect.any(Date),
      last_seen_at: expect.any(Date),
      draining: false,
      queues: [
        { name: 'turns', active: expect.any(Number), concurrency: 1024 },
        { name: 'titles', active: 0, concurrency: 16 },
        { name: 'maintenance', active: 0, concurrency: 8 },
      ],
    });
  });

  it('ends what it has, begins nothing new, and takes what waited when it is resumed', async () => {
    const held = await app.chat(org);
    const message = streamed();
    await app.send(org, held, message);
    await running(held);
    await tell(true);
    const late = await app.chat(org);
    expect((await app.send(org, late, 'later')).status).toBe(202);
    app.letGo(message);
    expect(replies(await app.settled(org, held, 1))).toEqual([ANSWER]);
    await waiting(late);
    expect(self.draining).toBe(true);
    await tell(false);
    expect(replies(await app.settled(org, late, 1))).toEqual(['You said: later']);
  });

  it('lets go of no turn whose next message waits, but leaves that to others', async () => {
    const chat = await app.chat(org);
    const message = streamed();
    await app.send(org, chat, message);
    await running(chat);
    await tell(true);
    await app.send(org, chat, 'and then?');
    app.letGo(message);
    await app.until(org, chat, (body) => replies(body).length === 1);
    await tell(false);
    expect(replies(await app.settled(org, chat, 2))).toEqual([ANSWER, 'You said: and then?']);
  });

  it('hands back what has waited in it for the cap to be counted', async () => {
    const claims = app.get(Runs) as unknown as { claimNearCap: (...args: unknown[]) => Promise<unknown> };
    const claimNearCap = claims.claimNearCap.bind(claims);
    jest.spyOn(claims, 'claimNearCap').mockImplementationOnce((...args) => {
      self.draining = true;
      return claimNearCap(...args).finally(() => (self.draining = false));
    });
    await entitle(app, { max_concurrent_chats: 2 });
    const [chat, before] = [await app.chat(org), await handedBack()];
    await app.send(org, chat, 'near the cap');
    expect(replies(await app.settled(org, chat, 1))).toEqual(['You said: near the cap']);
    await entitleAsBefore(app);
    expect(await handedBack()).toBe(before + 1);
  });

  it('finds out by its heartbeat what no broadcast has told it', async () => {
    await setRow(true);
    await heard(true);
    await setRow(false);
    await heard(false);
  });

  it('is drained still when its row was removed while it stood still', async () => {
    await tell(true);
    const first = await rowOf();
    await app.db.manager.delete(WorkerRow, self.id);
    app.get(Broadcaster).send('worker.changed', { worker_id: self.id });
    expect(await eventually(rowOf, (row) => row !== null)).toMatchObject({ draining: true, started_at: first!.started_at });
  });

  it('is removed when it was silent for a minute', async () => {
    const row = (await rowOf())!;
    const at = (seconds: number) => new Date(app.db.now().getTime() - seconds * 1_000);
    await app.db.manager.insert(WorkerRow, [
      { ...row, id: 'silent', last_seen_at: at(61) },
      { ...row, id: 'late', last_seen_at: at(50) },
    ]);
    await app.get(Maintenance).runAll();
    expect(await rowOf('silent')).toBeNull();
    expect(await rowOf('late')).not.toBeNull();
    expect(await rowOf()).not.toBeNull();
  });
});
