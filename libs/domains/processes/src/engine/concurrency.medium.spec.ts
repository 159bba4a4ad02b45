import type { TestOrg } from '@aps/chats/testing';
import { ProcessRevision } from '@aps/entities';
import { sql } from '@aps/platform/testing';
import { ProcessesService } from '../processes.service';
import { RunReviews } from '../reviews/run-reviews.service';
import { runningService, type DeployedProcess } from '../testing/running';
import { Admissions } from './admissions';

const t = runningService();
let org: TestOrg;
beforeEach(async () => {
  org = await t.org();
});

const only = (strategy: string, limit = 1) => ({ concurrency: { key: 'one', limit, strategy } });
const WAITS = [{ id: 'w', kind: 'wait', event: 'go' }];
const run = (id: string, { id: process }: DeployedProcess) => ({ id, kind: 'process', process, input: {} });
const runsOf = (process: DeployedProcess) =>
  t.db.query(sql<{ id: string; status: string }>('SELECT id, status FROM process_runs WHERE process_id = $1 ORDER BY id'), [process.id]);
const replay = async (process: DeployedProcess, id: string) =>
  (await t.get(RunReviews).replayCheck(t.scope(org), process.id, id)).first_divergence;

describe('steps that run a process of which one run of a key replaces another', () => {
  const side = (child: DeployedProcess, join: string, first: object[] = []) => ({
    id: 'all',
    kind: 'parallel',
    join,
    branches: [
      { id: 'a', steps: [run('a1', child)] },
      { id: 'b', steps: [...first, run('b1', child)] },
    ],
  });

  it('hear that they are replaced also by one that is begun together with them', async () => {
    const child = await t.deployed(org, WAITS, only('cancel_running'));
    const parent = await t.deployed(org, [side(child, 'settled')], { output: '${steps.all.output}' });
    const id = await t.begin(org, parent);
    const second = await t.untilRun(id, ({ steps }) => steps.some(({ path, status }) => path === 'all/a/a1' && status === 'failed'));
    expect(second.steps.find(({ path }) => path === 'all/a/a1')).toMatchObject({ error: { code: 'child_failed' } });
    const [first, { id: last }, ...others] = await runsOf(child);
    expect([first.status, others]).toEqual(['cancelled', []]);
    await t.waiting(last, 'w');
    await t.signal(org, child, last, 'go');
    expect(await t.ended(id)).toMatchObject({ status: 'completed', output: { a: null } });
    expect(await replay(parent, id)).toBeNull();
  });

  it('hear it by one that the same run begins later', async () => {
    const child = await t.deployed(org, WAITS, only('cancel_running'));
    const parent = await t.deployed(org, [side(child, 'all', [{ id: 'first', kind: 'wait', event: 'next' }])]);
    const id = await t.begin(org, parent);
    await t.waiting(id, 'all/a/a1');
    await t.signal(org, parent, id, 'next');
    expect(await t.ended(id)).toMatchObject({ status: 'failed', error: { code: 'child_failed' } });
    // What was begun instead ends with the run.
    expect((await runsOf(child)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    expect(await replay(parent, id)).toBeNull();
  });
});

describe('runs that wait for others of their key', () => {
  const admitted = async (process: DeployedProcess) =>
    (await t.db.query(sql<{ admitted: boolean }>('SELECT admitted FROM process_runs WHERE process_id = $1 ORDER BY id'), [process.id])).map(
      (each) => each.admitted,
    );
  const behind = async () => {
    const process = await t.deployed(org, WAITS, only('queue'));
    const [first, second] = [await t.begin(org, process), await t.begin(org, process)];
    await t.waiting(first, 'w');
    expect(await admitted(process)).toEqual([true, false]);
    return { process, first, second };
  };
  const ends = async (process: DeployedProcess, id: string) => {
    await t.signal(org, process, id, 'go');
    await t.ended(id);
  };

  it('begin before those that come after them, where a deploy makes room for more', async () => {
    const { process, first, second } = await behind();
    await t.redeployed(org, process, WAITS, only('queue', 2));
    const third = await t.begin(org, process);
    await t.waiting(second, 'w');
    expect(await admitted(process)).toEqual([true, true, false]);
    await ends(process, first);
    await t.waiting(third, 'w');
  });

  it('are held to a limit that a deploy has lowered', async () => {
    const process = await t.deployed(org, WAITS, only('queue', 2));
    const begin = () => t.begin(org, process);
    const atWork = [await begin(), await begin()];
    for (const id of atWork) await t.waiting(id, 'w');
    await t.redeployed(org, process, WAITS, only('queue', 1));
    const [third, fourth] = [await begin(), await begin()];
    for (const id of atWork) {
      expect(await admitted(process)).toEqual([true, true, false, false]);
      await ends(process, id);
      await t.get(Admissions).sweep();
    }
    await t.waiting(third, 'w');
    expect(await admitted(process)).toEqual([true, true, true, false]);
    await ends(process, third);
    await t.waiting(fourth, 'w');
  });

  it('begin before one that comes when the one at work has just ended', async () => {
    const { process, first, second } = await behind();
    // As if its process had not come to that yet.
    jest.spyOn(t.get(Admissions), 'next').mockResolvedValueOnce();
    await ends(process, first);
    const third = await t.begin(org, process);
    await t.waiting(second, 'w');
    expect((await admitted(process)).slice(1)).toEqual([true, false]);
    await ends(process, second);
    await t.waiting(third, 'w');
  });
});

it('a run is not begun whose key is too long to be looked for', async () => {
  const process = await t.deployed(org, WAITS, { concurrency: { key: '${input.key}', limit: 1, strategy: 'queue' } });
  await t.begin(org, process, { key: '人'.repeat(500) });
  const problem = { loc: ['body', 'input'], msg: 'The input gives no concurrency key: It would have more than 500 characters.' };
  await expect(t.begin(org, process, { key: 'a'.repeat(501) })).rejects.toMatchObject({ code: 'validation_error', problems: [problem] });
  const parent = await t.deployed(org, [{ id: 'sub', kind: 'process', process: process.id, input: { key: 'a'.repeat(5_000) } }]);
  expect(await t.ended(await t.begin(org, parent))).toMatchObject({ status: 'failed', error: { code: 'child_failed' } });
});

describe('a run within a run of its own key', () => {
  /** A process whose step runs the process itself. */
  const within = async (strategy: string, limit = 1) => {
    const process = await t.deployed(org, WAITS, only(strategy, limit));
    const steps = [run('again', process)];
    await t.db.manager.update(ProcessRevision, process.revision_id, {
      definition: { schema_version: 1, steps, ...only(strategy, limit) },
      meant: { [`process:${process.id}`]: process.id },
    });
    return process;
  };

  it.each(['queue', 'cancel_running', 'reject'])(
    'is refused where that would have it wait for, or end, what waits for it: %s',
    async (strategy) => {
      const process = await within(strategy);
      const id = await t.begin(org, process);
      expect(await t.ended(id)).toMatchObject({
        status: 'failed',
        error: { code: 'child_failed' },
        steps: [{ attempt: 1 }],
      });
      expect(await runsOf(process)).toHaveLength(1);
      expect(await replay(process, id)).toBeNull();
    },
  );

  it('is begun where there is room beside those that it is within', async () => {
    const process = await within('cancel_running', 2);
    await t.ended(await t.begin(org, process));
    expect((await runsOf(process)).map(({ status }) => status)).toEqual(['failed', 'failed']);
  });
});

it('runs of a key that are over together have the next of it looked for once', async () => {
  const process = await t.deployed(org, WAITS, only('queue', 2));
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await t.begin(org, process));
  for (const id of ids.slice(0, 2)) await t.waiting(id, 'w');
  const look = jest.spyOn(t.get(Admissions), 'lock');
  await t.get(ProcessesService).delete(t.scope(org), process.id);
  expect((await runsOf(process)).map(({ status }) => status)).toEqual(ids.map(() => 'cancelled'));
  // The sweep may look for those of others meanwhile.
  expect(look.mock.calls.filter(([, of]) => of === process.id)).toHaveLength(1);
  look.mockRestore();
});
