import { aMember } from '@aps/orgs/testing';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { chatsService, script, type Frame, type StreamReader, type TestOrg } from '../testing/chats';
import { EventStreamsClient, numbersOf, upTo } from '../testing/event-streams';

const todo = { name: 'todo_write', arguments: { todos: [{ title: 'x', status: 'pending' }] } };
const eventful = () =>
  script(
    { text: 'on it', tool_calls: [todo], delay_ms: 50 },
    { text: 'one two three four', tool_calls: [todo], delay_ms: 50 },
    { text: 'done at last', delay_ms: 20 },
  );
const over = (frame: Frame) => frame.event === 'status_changed' && frame.data.data.to === 'ACTIVE';

describe('a stream of many topics', () => {
  const app = chatsService();
  let streams: EventStreamsClient;
  let org: TestOrg;

  beforeAll(async () => {
    streams = new EventStreamsClient(app);
    org = await app.org();
  });

  const newest = async (chat: string): Promise<number> =>
    (await app.db.query(sql<{ n: number }>('SELECT event_seq::int AS n FROM chats WHERE id = $1'), [chat]))[0].n;
  const share = (chat: string, shared: boolean) => app.db.execute(sql('UPDATE chats SET shared = $2 WHERE id = $1'), [chat, shared]);
  /** Reads until so many of the topics have ended their turn. */
  const turnsOver = async (stream: StreamReader, count: number): Promise<Frame[]> => {
    const ended = new Set<string>();
    return stream.until((frame) => over(frame) && ended.add(frame.data.topic as string).size === count);
  };

  it('begins with the state of each, and brings what happens in each once and in order, with text in between', async () => {
    const chats = [await app.chat(org), await app.chat(org)];
    await app.send(org, chats[1], 'before');
    await app.settled(org, chats[1], 1);
    const before = await newest(chats[1]);
    const stream = await streams.events(org, { topics: `chat:${chats[1]},org,chat:${chats[0]}` });
    await Promise.all(chats.map((chat) => app.send(org, chat, eventful())));
    const frames = await turnsOver(stream, 2);
    expect(frames.slice(0, 3).map(({ event, data }) => [event, data.topic, data.id, data.data.last_id])).toEqual([
      ['snapshot', `chat:${chats[1]}`, String(before), String(before)],
      ['snapshot', 'org', '0', '0'],
      ['snapshot', `chat:${chats[0]}`, '0', '0'],
    ]);
    expect(frames[0].data).toMatchObject({ org_id: org.id, data: { chat: { id: chats[1], status: 'ACTIVE' } } });
    expect(frames[1].data.data).toEqual({ role: 'OWNER', last_id: '0' });
    expect(numbersOf(frames, `chat:${chats[0]}`)).toEqual(upTo(await newest(chats[0])));
    expect(numbersOf(frames, `chat:${chats[1]}`)).toEqual(upTo(await newest(chats[1])).slice(before));
    const deltas = frames.filter(({ event }) => event === 'message_delta');
    expect(new Set(deltas.map(({ data }) => data.topic))).toEqual(new Set(chats.map((chat) => `chat:${chat}`)));
    expect(deltas.filter(({ id }) => id !== undefined)).toEqual([]);
  });

  it.each(['Last-Event-ID', 'after'])('resumes all of them by %s alone, wherever it is cut', async (way) => {
    const chats = [await app.chat(org), await app.chat(org), await app.chat(org)];
    const topics = chats.map((chat) => `chat:${chat}`).join();
    let cursor: string | undefined;
    const got: Frame[] = [];
    const dispatched = Promise.all(chats.map((chat) => app.send(org, chat, eventful())));
    for (let ended = 0; ended < 3;) {
      const piece = await streams.events(
        org,
        { topics, ...(cursor && way === 'after' && { after: cursor }) },
        { lastEventId: way === 'after' ? undefined : cursor },
      );
      // Cut after the first event that is new, and after the snapshots alone when the first piece has begun.
      const frames = cursor
        ? await piece.until(({ id, event }) => id !== undefined && event !== 'snapshot')
        : await piece.until(({ id }) => id !== undefined);
      piece.close();
      got.push(...frames);
      cursor = frames.findLast(({ id }) => id !== undefined)!.id;
      ended = got.filter(over).length;
      await dispatched;
    }
    for (const chat of chats) {
      const first = got.find(({ event, data }) => event === 'snapshot' && data.topic === `chat:${chat}`)!;
      expect(numbersOf(got, `chat:${chat}`)).toEqual(upTo(await newest(chat)).slice(Number(first.data.id)));
    }
  });

  it('begins a topic anew that its cursor does not know, and goes on with the others', async () => {
    const [known, added] = [await app.chat(org), await app.chat(org)];
    for (const chat of [known, added]) await app.send(org, chat, 'hello');
    for (const chat of [known, added]) await app.settled(org, chat, 1);
    const first = await streams.events(org, { topics: `chat:${known}`, after: 'nonsense' });
    const [snapshot] = await first.until(({ event }) => event === 'snapshot');
    first.close();
    const behind = snapshot.id!.replace(/\.\d+$/, '.1');
    const stream = await streams.events(org, { topics: `chat:${added},chat:${known}` }, { lastEventId: behind });
    const count = await newest(known);
    const frames = await stream.until(
      ({ data }) => data.topic === `chat:${known}` && data.type !== 'snapshot' && data.id === String(count),
    );
    expect(numbersOf(frames, `chat:${known}`)).toEqual(upTo(count).slice(1));
    expect(numbersOf(frames, `chat:${added}`)).toEqual([]);
    // A number from the future was never given out: that topic begins anew, too.
    const future = await streams.events(org, { topics: `chat:${known}` }, { lastEventId: snapshot.id!.replace(/\.\d+$/, '.999999') });
    expect((await future.until(({ event }) => event === 'snapshot'))[0].id).toBe(snapshot.id);
  });

  it('is the organization alone when no topic is named', async () => {
    const stream = await streams.events(org, {}, { as: org.member });
    expect((await stream.until(({ event }) => event === 'snapshot'))[0].data).toMatchObject({ topic: 'org', data: { role: 'MEMBER' } });
  });

  it('is refused as a whole, by name, when one topic is not there for the caller', async () => {
    const [own, strange] = [await app.chat(org), await app.chat(await app.org())];
    const hidden = [`chat:${uuidv7()}`, `chat:${strange}`, `run:${uuidv7()}`, `env:${uuidv7()}`, 'inbox:inb_0123456789abcdefghjkmnpqrs'];
    const { response } = await streams.events(org, { topics: [`chat:${own}`, 'org', ...hidden].join() });
    expect([response.status, await response.json()]).toEqual([
      404,
      expect.objectContaining({ code: 'not_found', context: { topics: hidden } }),
    ]);
    // Private to its creator.
    expect((await streams.events(org, { topics: `chat:${own}` }, { as: org.member })).status).toBe(404);
    for (const topics of ['x', `chat:${own},x`, Array.from({ length: 51 }, () => `chat:${uuidv7()}`).join()]) {
      const refused = await streams.events(org, { topics });
      expect([refused.status, ((await refused.response.json()) as { code: string }).code]).toEqual([422, 'validation_error']);
    }
  });

  it('ends one topic when the caller may not follow it any more, and itself with the last', async () => {
    const chats = [await app.chat(org), await app.chat(org)];
    for (const chat of chats) await share(chat, true);
    const stream = await streams.events(org, { topics: chats.map((chat) => `chat:${chat}`).join() }, { as: org.member });
    await stream.until(({ event, data }) => event === 'snapshot' && data.topic === `chat:${chats[1]}`);
    await share(chats[0], false);
    const closed = (await stream.until(({ event }) => event === 'topic_closed')).at(-1)!;
    expect([closed.id, closed.data.topic, closed.data.data]).toEqual([undefined, `chat:${chats[0]}`, { reason: 'access_lost' }]);
    await app.send(org, chats[0], 'in secret');
    await app.send(org, chats[1], 'in the open');
    const frames = await turnsOver(stream, 1);
    expect(frames.filter(({ data }) => JSON.stringify(data).includes('in secret'))).toEqual([]);
    expect(numbersOf(frames, `chat:${chats[1]}`)).toEqual(upTo(await newest(chats[1])));
    await share(chats[1], false);
    await stream.until(({ event, data }) => event === 'topic_closed' && data.topic === `chat:${chats[1]}`);
    expect(await stream.next()).toBeUndefined();
  });

  it('ends with one word when the organization is suspended, and without one for who is out', async () => {
    const other = await app.org();
    const chat = await app.chat(other);
    await share(chat, true);
    const guest = await aMember(app, other, 'MEMBER');
    const topics = `org,chat:${chat}`;
    const [stays, leaves] = [await streams.events(other, { topics }), await streams.events(other, { topics }, { as: guest })];
    await app.db.execute(sql('DELETE FROM memberships WHERE user_id = $1'), [guest.id]);
    const events = async (stream: StreamReader): Promise<string[]> => {
      const seen: string[] = [];
      for (let frame = await stream.next(); frame; frame = await stream.next()) seen.push(frame.event);
      return seen.filter((event) => event !== 'ping');
    };
    expect(await events(leaves)).toEqual(['snapshot', 'snapshot']);
    await app.db.execute(sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'), [other.id]);
    expect(await events(stays)).toEqual(['snapshot', 'snapshot', 'org_suspended']);
  });
});
