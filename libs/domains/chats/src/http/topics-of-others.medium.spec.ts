import { memberTopics, TopicSources, type OrgScope, type TopicQuestion, type TopicSource } from '@aps/guards';
import { anApiToken } from '@aps/identity/testing';
import { aMember } from '@aps/orgs/testing';
import { RealtimePublisher, type Snapshot } from '@aps/platform/realtime';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { chatsService, type TestOrg } from '../testing/chats';
import { EventStreamsClient, numbersOf } from '../testing/event-streams';

/** Topics of a domain that chats know nothing of: whoever is in its list may follow. */
class Runs implements TopicSource {
  readonly kind = 'run';
  readonly area = 'processes';
  /** It cannot say who may follow. */
  fails = false;
  readonly readers = new Map<string, { orgId: string; users: Set<string>; newest: number }>();

  snapshots(scope: OrgScope, ids: string[]): Promise<(Snapshot | undefined)[]> {
    const snapshotOf = (id: string): Snapshot | undefined => {
      if (!this.isOpen({ orgId: scope.orgId, userId: scope.userId, id })) return undefined;
      const { newest } = this.readers.get(id)!;
      return { data: { run: id, last_id: String(newest) }, newestId: newest };
    };
    return Promise.resolve(ids.map(snapshotOf));
  }

  visibleAmong(questions: TopicQuestion[]): Promise<boolean[]> {
    if (this.fails) return Promise.reject(new Error('cancelled'));
    return Promise.resolve(questions.map((question) => this.isOpen(question)));
  }

  private isOpen({ orgId, userId, id }: TopicQuestion): boolean {
    const run = this.readers.get(id);
    return run?.orgId === orgId && run.users.has(userId);
  }
}

describe('topics that another domain brings', () => {
  const app = chatsService();
  const runs = new Runs();
  let streams: EventStreamsClient;
  let org: TestOrg;

  beforeAll(async () => {
    streams = new EventStreamsClient(app);
    org = await app.org();
    app.get(TopicSources).register(runs);
  });

  const run = (...users: { id: string }[]): string => {
    const id = uuidv7();
    runs.readers.set(id, { orgId: org.id, users: new Set(users.map((user) => user.id)), newest: 0 });
    return id;
  };
  const happens = async (id: string): Promise<void> => {
    const seq = ++runs.readers.get(id)!.newest;
    const [topic, data] = [`run:${id}`, { step: seq }];
    await app.db.execute(sql(`INSERT INTO events (topic, seq, org_id, type, data) VALUES ($1, $2, $3, 'status_changed', $4)`), [
      topic,
      seq,
      org.id,
      JSON.stringify(data),
    ]);
    app.get(RealtimePublisher).publish(topic, [{ id: seq, type: 'status_changed', at: new Date().toISOString(), data }]);
  };

  it('are followed beside chats, from their state on and each event once, and resumed by the same cursor', async () => {
    const [id, chat] = [run(org.owner), await app.chat(org)];
    const topics = `chat:${chat},run:${id}`;
    const stream = await streams.events(org, { topics });
    const begun = await stream.until(({ event, data }) => event === 'snapshot' && data.topic === `run:${id}`);
    expect(begun.at(-1)!.data).toMatchObject({ org_id: org.id, data: { run: id } });
    await happens(id);
    const frames = await stream.until(({ event, data }) => event === 'status_changed' && data.topic === `run:${id}`);
    stream.close();
    await happens(id);
    const resumed = await streams.events(org, { topics }, { lastEventId: frames.at(-1)!.id });
    const more = await resumed.until(({ event, data }) => event === 'status_changed' && data.id === '2');
    expect([numbersOf(frames, `run:${id}`), numbersOf(more, `run:${id}`)]).toEqual([[1], [2]]);
  });

  it('are not there for whom that domain does not let in, and end alone once it does not any more', async () => {
    const [open, closed, chat] = [run(org.owner), run(org.member), await app.chat(org)];
    const refused = await streams.events(org, { topics: `run:${open},run:${closed}` });
    expect([refused.status, await refused.response.json()]).toEqual([
      404,
      expect.objectContaining({ context: { topics: [`run:${closed}`] } }),
    ]);
    const foreign = await app.org();
    expect((await streams.events(foreign, { topics: `run:${open}` })).status).toBe(404);
    const stream = await streams.events(org, { topics: `run:${open},chat:${chat}` });
    await stream.until(({ event, data }) => event === 'snapshot' && data.topic === `chat:${chat}`);
    runs.readers.delete(open);
    const lost = (await stream.until(({ event }) => event === 'topic_closed')).at(-1)!;
    expect(lost.data).toMatchObject({ topic: `run:${open}`, data: { reason: 'access_lost' } });
    await app.send(org, chat, 'still there');
    await stream.until(({ event, data }) => event === 'message_completed' && data.topic === `chat:${chat}`);
  });

  it('keep no other from ending while their domain cannot say who may follow, and go on themselves', async () => {
    const [id, guest] = [run(org.owner), await aMember(app, org, 'MEMBER')];
    const own = await streams.events(org, { topics: `run:${id}` });
    const lost = await streams.events(org, { topics: 'org' }, { as: guest });
    runs.fails = true;
    await app.db.execute(sql('DELETE FROM memberships WHERE user_id = $1'), [guest.id]);
    while (await lost.next());
    await happens(id);
    await own.until(({ event, data }) => event === 'status_changed' && data.topic === `run:${id}`);
    runs.fails = false;
    own.close();
  });

  it('that members follow are looked through once, however many follow', async () => {
    const ids = Array.from({ length: 2_000 }, () => uuidv7());
    let looks = 0;
    const states = (asked: string[]) =>
      Promise.resolve(
        asked.map((each) => ({
          get id() {
            looks++;
            return each;
          },
          org_id: org.id,
          event_seq: 0,
        })),
      );
    const questions = [...ids, ...ids].map((id) => ({ id, orgId: org.id, userId: org.owner.id }));
    const visible = await memberTopics('thing', 'processes', states, () => ({})).visibleAmong(questions);
    expect(visible).toEqual(questions.map(() => true));
    expect(looks).toBeLessThan(5 * ids.length);
  });

  it('need of an API token the area of their domain', async () => {
    const id = run(org.owner);
    const token = (scope: string) => anApiToken(app, org.owner, { scope });
    const refused = await streams.events(org, { topics: `run:${id}` }, { as: await token('chats:read') });
    expect([refused.status, await refused.response.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'insufficient_scope', context: { required: 'processes:read' } }),
    ]);
    expect((await streams.events(org, { topics: `run:${id}` }, { as: await token('chats:read processes:read') })).status).toBe(200);
  });
});
