import { metrics } from '@aps/platform/observability';
import { eventually, sql } from '@aps/platform/testing';
import type { TestOrg } from '@aps/chats/testing';
import { RunControl } from '../runs/run-control.service';
import { StepTools } from '../tools/step-tools';
import { aTool } from '../testing';
import { runningService } from '../testing/running';

const t = runningService();
let org: TestOrg;
beforeEach(async () => {
  org = await t.org();
});

const valueOf = async (name: string, labels: Record<string, string> = {}, of = name) =>
  (await metrics.getSingleMetric(name)!.get()).values.find(
    (value) =>
      ((value as { metricName?: string }).metricName ?? name) === of && Object.entries(labels).every(([k, v]) => value.labels[k] === v),
  )?.value ?? 0;
/** Has an outcome that nobody knows. */
const lost = () => Promise.reject(new Error('It broke off.'));

it('runs that wait for humans are told, and apart from them the calls of which nobody knows what became of them', async () => {
  t.get(StepTools).register(aTool('spec.pay', { accessLevel: 'write', call: lost }));
  const pay = await t.deployed(org, [{ id: 'pay', kind: 'tool', tool: 'spec.pay', arguments: {} }]);
  const ask = await t.deployed(org, [{ id: 'ok', kind: 'human', prompt: 'Well?' }]);
  const both = {
    id: 'both',
    kind: 'parallel',
    branches: ['a', 'b'].map((id) => ({ id, steps: [{ id: `ok_${id}`, kind: 'human', prompt: 'Well?' }] })),
  };
  const twice = await t.deployed(org, [both]);
  const [unknown, given, , two] = [await t.begin(org, pay), await t.begin(org, pay), await t.begin(org, ask), await t.begin(org, twice)];
  const asked = async () => (await t.call('GET', `/api/orgs/${org.id}/hitl-requests?status=pending`, { as: org.owner })).body.total;
  await eventually(asked, (total) => total === 5);
  const question = (await t.run(unknown)).steps[0].hitl_request_id;
  await t.db.execute(sql(`UPDATE hitl_requests SET created_at = created_at - interval '2 hours' WHERE id = $1`), [question]);

  const told = async () => ({
    runs: await valueOf('process_runs_asking_humans'),
    unknown: await valueOf('process_unknown_outcomes'),
    oldest: await valueOf('process_oldest_unknown_outcome_seconds'),
  });
  // What was asked before is told for five seconds.
  const first = await eventually(told, ({ runs, oldest }) => runs === 4 && oldest > 7_000);
  expect(first).toEqual({ runs: 4, unknown: 2, oldest: expect.closeTo(7_200, -2) });

  await t.call('POST', `/api/orgs/${org.id}/hitl-requests/${question}/answer`, { as: org.owner, body: { option_id: 'fail' } });
  await t.ended(unknown);
  for (const [process, id] of [
    [pay, given],
    [twice, two],
  ] as const)
    await t.get(RunControl).cancel(t.scope(org), process.id, id);
  expect(await eventually(told, ({ runs }) => runs === 1)).toEqual({ runs: 1, unknown: 0, oldest: 0 });
});

it('steps are counted by kind and outcome, each try once, with how long it took', async () => {
  let calls = 0;
  t.get(StepTools).register(aTool('spec.flaky', { call: () => Promise.resolve(++calls < 3 ? { failed: 'Not yet.' } : { output: null }) }));
  const process = await t.deployed(org, [
    { id: 'f', kind: 'tool', tool: 'spec.flaky', arguments: {}, retry: { max_attempts: 3, initial_s: 0, factor: 1, max_s: 0 } },
    { id: 'w', kind: 'wait', for_s: 1 },
    { id: 'ok', kind: 'human', prompt: 'Well?', timeout_s: 1, on_timeout: 'continue' },
  ]);
  const figures = () =>
    Promise.all([
      valueOf('process_steps_total', { kind: 'tool', outcome: 'completed' }),
      valueOf('process_steps_total', { kind: 'tool', outcome: 'failed' }),
      valueOf('process_step_retries_total', { kind: 'tool' }),
      valueOf('process_steps_total', { kind: 'wait', outcome: 'completed' }),
      valueOf('process_steps_total', { kind: 'human', outcome: 'skipped' }),
      valueOf('process_step_seconds', { kind: 'tool' }, 'process_step_seconds_count'),
      valueOf('process_step_seconds', { kind: 'wait' }, 'process_step_seconds_count'),
    ]);
  const before = await figures();
  const waited = await valueOf('process_step_seconds', { kind: 'wait' }, 'process_step_seconds_sum');
  expect(await t.ended(await t.begin(org, process))).toMatchObject({ status: 'completed' });
  // They are counted once that is committed.
  const grown = async () => (await figures()).map((figure, i) => figure - before[i]);
  expect(await eventually(grown, (all) => all.every(Boolean))).toEqual([1, 2, 2, 1, 1, 3, 1]);
  expect(await valueOf('process_step_seconds', { kind: 'wait' }, 'process_step_seconds_sum')).toBeGreaterThanOrEqual(waited + 1);
});
