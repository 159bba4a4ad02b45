import { ChatsService, EventStreamsClient, numbersOf, type TestOrg } from '@aps/chats/testing';
import { aProcess, aRevision, aRun, tell } from '../testing';
import { ProcessesHttpModule } from '.';

const t = new ChatsService(undefined, [ProcessesHttpModule]);
beforeAll(() => t.start());
afterAll(() => t.close());
let org: TestOrg;
let process: string;
let run: string;
beforeEach(async () => {
  org = await t.org();
  process = (await aProcess(t, at(org))).id as string;
  run = await aRun(t, at(org), await aRevision(t, at(org), process));
});
const at = ({ id, owner }: TestOrg) => ({ id, owner, path: `/api/orgs/${id}` });
const streams = new EventStreamsClient(t);
const topic = () => `run:${run}`;
const STARTED = { type: 'run_updated', data: { event: 'run_started' } };

describe('a run as a topic', () => {
  it('tells every member what becomes of it, and goes on from where a reader was', async () => {
    await tell(t, at(org), run, { type: 'run_updated', data: { event: 'run_created' } });
    const first = await streams.events(org, { topics: topic() }, { as: org.member });
    await tell(t, at(org), run, STARTED);
    const frames = await first.until(({ event }) => event === 'run_updated');
    first.close();
    const snapshot = { run_id: run, process_id: process, status: 'queued', last_id: '1' };
    expect(frames[0]).toMatchObject({ event: 'snapshot', data: { topic: topic(), data: snapshot } });
    const step = { event: 'step_started', step_id: 'say', path: 'say', kind: 'transform' };
    await tell(t, at(org), run, { type: 'step_updated', data: step });
    const again = await streams.events(org, { topics: topic() }, { as: org.member, lastEventId: frames.at(-1)!.id });
    const more = await again.until(({ event }) => event === 'step_updated');
    again.close();
    expect(more.at(-1)!.data.data).toEqual(step);
    expect(numbersOf([...frames, ...more], topic())).toEqual([2, 3]);
  });

  it('is nobody else’s, and over when its process is', async () => {
    const other = await t.org();
    expect((await t.call('GET', `/api/orgs/${other.id}/events?topics=${topic()}`, { as: other.owner })).status).toBe(404);
    const own = await streams.events(org, { topics: `${topic()},org` });
    await own.until(({ event }) => event === 'snapshot');
    await t.make('DELETE', `/api/orgs/${org.id}/processes/${process}`, { as: org.owner });
    await own.until(({ event, data }) => event === 'topic_closed' && data.topic === topic());
    own.close();
  });
});
