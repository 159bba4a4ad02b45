import { addCredits, withCredits, withRateCard } from '@aps/billing/testing';
import { Subscription } from '@aps/entities';
import { aMember } from '@aps/orgs/testing';
import { chatsService, script, type Frame, type TestOrg } from '../testing/chats';
import { EventStreamsClient } from '../testing/event-streams';

describe('the stream of an organization', () => {
  const app = chatsService();
  let streams: EventStreamsClient;
  let org: TestOrg;

  beforeAll(async () => {
    streams = new EventStreamsClient(app);
    await withRateCard(app);
  });
  beforeEach(async () => {
    org = await app.org();
    await withCredits(app, org.id, { granted: '5' });
  });

  const changePeriod = (change: Partial<Subscription>, { id } = org) => app.db.manager.update(Subscription, { org_id: id }, change);
  const isEvent = (type: string) => (frame: Frame) => frame.event === type;
  const types = (frames: Frame[]) => frames.map(({ event }) => event).filter((event) => event !== 'ping');
  async function followed(place = org, as = place.owner) {
    const stream = await streams.events(place, { topics: 'org' }, { as });
    await stream.until(isEvent('snapshot'));
    return stream;
  }

  it('tells every member that credits have come, at once after the snapshot, and says nothing else', async () => {
    const stream = await followed(org, await aMember(app, org, 'MEMBER'));
    await addCredits(app, org.id, '3', 'purchased');
    const frames = await stream.until(isEvent('credits_updated'));
    const { id, data } = frames.at(-1)!;
    expect([types(frames), id, data]).toEqual([
      ['snapshot', 'credits_updated'],
      undefined,
      { type: 'credits_updated', topic: 'org', org_id: org.id, at: expect.any(String), data: {} },
    ]);
    stream.close();
  });

  it('tells that a call has burned some', async () => {
    const stream = await followed();
    const chat = await app.chat(org);
    await app.send(org, chat, script({ text: 'dear', usage: { input: 9_000, output: 1_000 } }));
    expect(types(await stream.until(isEvent('credits_updated')))).toEqual(['snapshot', 'credits_updated']);
    stream.close();
  });

  it('tells that the subscription is another, once for each change, and nothing of what others have', async () => {
    const other = await app.org();
    await withCredits(app, other.id, {});
    const [stream, beside] = [await followed(), await followed(other)];
    await changePeriod({ status: 'past_due' });
    await stream.until(isEvent('billing_updated'));
    await changePeriod({ status: 'active' });
    expect(types(await stream.until(isEvent('billing_updated')))).toEqual(['snapshot', 'billing_updated', 'billing_updated']);
    await addCredits(app, other.id, '1');
    expect(types(await beside.until(isEvent('credits_updated')))).toEqual(['snapshot', 'credits_updated']);
    for (const each of [stream, beside]) each.close();
  });
});
