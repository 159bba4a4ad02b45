import { Chance, sql } from '@aps/platform/testing';
import { until, withPlatform, type Platform } from '../../api-gateway-e2e/support';
import { call, deployed } from './definitions';
import { bookedAnswer, OtherSide } from './other-side';

const PAYMENTS = 20;
/** So many are answered before the other side falls silent. */
const ANSWERED = 4;
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);

const ASKED = sql<{ memo: string }>(
  `SELECT h.run_id || '/' || s.path AS memo FROM hitl_requests h JOIN process_steps s ON s.id = h.step_id::uuid ORDER BY 1`,
);

/** Books what it is asked for, at once or only when it answers; and answers nobody but the first, until it is told to. */
function silent(other: OtherSide, chance: Chance): { answerAll: () => void } {
  let isSilent = true;
  const untilTold = () => (isSilent && other.arrived.length > ANSWERED ? new Promise<void>(() => undefined) : Promise.resolve());
  other.delay = () => (chance.between(0, 1) ? untilTold() : Promise.resolve());
  other.hold = untilTold;
  return { answerAll: () => (isSilent = false) };
}

describe('twenty payments', () => {
  it('are made once each, or asked about, though the only process-engine dies while they are made', async () => {
    const other = await new OtherSide().start();
    await withPlatform({ apps: ['api-gateway', 'process-engine'], env: { EGRESS_ALLOW: other.address } }, async (platform) => {
      // Whoever pays waits for as long as a bank may take.
      const pay = { ...call('pay', 'POST', `${other.url}/book`), timeout_s: 120 };
      const process = await deployed(platform, 'payments', { steps: [pay], output: '${steps.pay.output.json.booked}' });
      const bank = silent(other, new Chance(seed));
      const { runs, all } = await begun(platform, process);
      await until('payments are under way', () => other.arrived.length >= PAYMENTS - 2);
      await platform.kill('process-engine');
      bank.answerAll();
      await platform.app('process-engine').spawn().ready();

      await until('each is made, or asked about', async () =>
        (await all()).every(({ status }) => ['completed', 'waiting_human'].includes(status)),
      );
      const asking = (await all()).filter(({ status }) => status === 'waiting_human').map(({ id }) => id);
      const requests = `/api/orgs/${platform.demo.org_id}/hitl-requests`;
      const { items } = (await platform.call('GET', `${requests}?status=pending&limit=100`)).body as {
        items: { id: string; run_id: string }[];
      };
      expect(items.map(({ run_id }) => run_id).sort()).toEqual(asking.sort());
      expect(asking.length).toBeGreaterThan(0);
      for (const { id, run_id } of items) {
        const memo = `${run_id}/pay`;
        const done = { option_id: 'done', values: { output: bookedAnswer(memo) } };
        const { status } = await platform.call('POST', `${requests}/${id}/answer`, {
          body: other.has(memo) ? done : { option_id: 'retry' },
        });
        expect(status).toBe(200);
      }

      await until('all are made', async () => (await all()).every(({ status }) => status === 'completed'));
      const memos = runs.map((id) => `${id}/pay`);
      expect((await all()).map(({ output }) => output)).toEqual(memos);
      expect([seed, [...other.booked].sort()]).toEqual([seed, memos.map((memo) => [memo, 1]).sort()]);
      expect(await platform.database((db) => db.query(ASKED))).toEqual(asking.map((id) => ({ memo: `${id}/pay` })));
    }).finally(() => other.stop());
  });
});

interface Run {
  id: string;
  status: string;
  output: unknown;
}

/** Runs of a process, and how they stand. */
async function begun(platform: Platform, process: string): Promise<{ runs: string[]; all: () => Promise<Run[]> }> {
  const path = `/api/orgs/${platform.demo.org_id}/processes/${process}/runs`;
  const begin = async () => ((await platform.call('POST', path, { body: { input: {} } })).body as Run).id;
  const runs = await Promise.all(Array.from({ length: PAYMENTS }, begin));
  return { runs, all: () => Promise.all(runs.map(async (id) => (await platform.call('GET', `${path}/${id}`)).body as Run)) };
}
