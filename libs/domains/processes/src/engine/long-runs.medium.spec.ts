import { RunReviews } from '../reviews/run-reviews.service';
import { runningService } from '../testing/running';

const t = runningService();

it('a run of many steps is written piece by piece, and comes to its end', async () => {
  const org = await t.org();
  const loop = {
    id: 'l',
    kind: 'loop',
    while: 'vars.item_index < 1500',
    max_iterations: 10_000,
    steps: [
      {
        id: 'which',
        kind: 'branch',
        branches: [{ when: 'true', steps: [{ id: 'a', kind: 'transform', set: { n: '${vars.item_index}' } }] }],
      },
      { id: 'b', kind: 'transform', set: { m: '${vars.n}' } },
    ],
  };
  const process = await t.deployed(org, [loop], { output: '${steps.l.output[1499].m}' });
  const id = await t.begin(org, process);
  const run = await t.ended(id);
  expect(run).toMatchObject({ status: 'completed', output: 1_499 });
  expect([run.steps.length, run.steps_done >= 9]).toEqual([4_501, true]);
  // Each once, in the order in which they were done.
  expect(run.steps.map(({ seq }) => seq)).toEqual(run.steps.map((_, i) => i + 1));
  expect(run.event_seq).toBe((await t.events(id)).length);
  expect(await t.get(RunReviews).replayCheck(t.scope(org), process.id, id)).toMatchObject({ deterministic: true, compared: 4_501 });
});
