import type { TestOrg } from '@aps/chats/testing';
import { StepTools } from '../tools/step-tools';
import { runningService } from '../testing/running';
import { aTool } from '../testing/tools';
import { JournalRepository } from './journal.repository';

const t = runningService();
let org: TestOrg;
beforeEach(async () => {
  org = await t.org();
});

describe('a wait that begins while a call of its run is being made', () => {
  const FIRST = { id: 'first', kind: 'wait', event: 'go' };
  const both = (slug: string) => ({
    id: 'both',
    kind: 'parallel',
    branches: [
      { id: 'a', steps: [{ id: 'call', kind: 'tool', tool: slug, arguments: {} }] },
      { id: 'b', steps: [{ id: 'paid', kind: 'wait', event: 'paid' }] },
    ],
  });
  /** A call that is made until that is called. */
  const held = (slug: string) => {
    let end = (): void => undefined;
    const calling = new Promise<void>((began) =>
      t.get(StepTools).register(
        aTool(slug, {
          call: () =>
            new Promise((done) => {
              end = () => done({ output: 'called' });
              began();
            }),
        }),
      ),
    );
    return { calling, end: () => end() };
  };
  const isPaid = ({ steps }: { steps: { step_id: string; status: string }[] }) =>
    steps.some(({ step_id, status }) => step_id === 'paid' && status === 'completed');

  it('takes the signal that has come before', async () => {
    const call = held('spec.held_early');
    const process = await t.deployed(org, [FIRST, both('spec.held_early')], { output: '${steps.both.output}' });
    const id = await t.begin(org, process);
    await t.waiting(id, 'first');
    await t.signal(org, process, id, 'paid', 7);
    await t.signal(org, process, id, 'go');
    await call.calling;
    await t.untilRun(id, isPaid);
    call.end();
    expect(await t.ended(id)).toMatchObject({ status: 'completed', output: { a: 'called', b: 7 } });
  });

  it('takes the one that comes between its decision and its commit', async () => {
    const call = held('spec.held_between');
    const process = await t.deployed(org, [both('spec.held_between')], { output: '${steps.both.output}' });
    const journal = t.get(JournalRepository);
    const commit = journal.commit.bind(journal);
    // The first that is written of the run has its wait.
    jest.spyOn(journal, 'commit').mockImplementationOnce(async (db, run, seen, what) => {
      await t.signal(org, process, run.id, 'paid', 7);
      return commit(db, run, seen, what);
    });
    const id = await t.begin(org, process);
    await call.calling;
    await t.untilRun(id, isPaid);
    call.end();
    expect(await t.ended(id)).toMatchObject({ status: 'completed', output: { a: 'called', b: 7 } });
  });
});
