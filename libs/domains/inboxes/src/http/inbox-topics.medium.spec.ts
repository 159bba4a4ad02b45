import type { TestOrg } from '@aps/chats/testing';
import { EventStreamsClient, numbersOf } from '@aps/chats/testing';
import { inboxesService, type TestInbox } from '../testing';

const t = inboxesService();
let org: TestOrg;
let inbox: TestInbox;
beforeEach(async () => {
  org = await t.org();
  inbox = await t.inbox(org);
});
const streams = new EventStreamsClient(t);
const topic = () => `inbox:${inbox.id}`;

describe('an inbox as a topic', () => {
  it('tells every member what becomes of its messages, and goes on from where a reader was', async () => {
    const first = await streams.events(org, { topics: topic() }, { as: org.member });
    const id = await t.mail(inbox);
    const frames = await first.until(({ event, data }) => event === 'inbox_message_updated' && data.data.state === 'accepted');
    first.close();
    expect(frames[0]).toMatchObject({
      event: 'snapshot',
      data: { topic: topic(), data: { inbox_id: inbox.id, status: 'active', last_id: '0' } },
    });
    expect(frames.at(-1)!.data.data).toMatchObject({ message_id: id, verdict: 'accepted', evaluation_state: 'settled', hold_reason: null });
    await t.evaluated(await t.mail(inbox));
    const again = await streams.events(org, { topics: topic() }, { as: org.member, lastEventId: frames.at(-1)!.id });
    const more = await again.until(({ event }) => event === 'inbox_message_updated');
    again.close();
    expect(numbersOf([...frames, ...more], topic())).toEqual([1, 2]);
  });

  it('is nobody else’s, and over when the inbox is', async () => {
    const other = await t.org();
    expect((await t.call('GET', `/api/orgs/${other.id}/events?topics=${topic()}`, { as: other.owner })).status).toBe(404);
    const own = await streams.events(org, { topics: `${topic()},org` });
    await own.until(({ event }) => event === 'snapshot');
    await t.call('DELETE', inbox.path, { as: org.owner });
    await own.until(({ event, data }) => event === 'topic_closed' && data.topic === topic());
    own.close();
  });
});
