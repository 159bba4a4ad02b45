import type { TestOrg } from '@aps/chats/testing';
import type { HitlRequest, ProcessRun, ProcessSignal, ProcessStepRow } from '@aps/entities';
import { sql, times } from '@aps/platform/testing';
import { gaveWay, movesSeen, noteMoves, playSchedules, refuseOtherMoves, schedulesOr, type Chance } from '@aps/testing';
import { StepTools } from '../tools/step-tools';
import { JournalRepository } from '../engine/journal.repository';
import { runFactsOf } from '../engine/run-facts';
import { replayed } from '../reviews/replay.policy';
import { Definitions } from '../revisions/definitions';
import { anyDefinition } from '../testing/random-steps';
import { runningService } from '../testing/running';
import { aTool } from '../testing/tools';

const SCHEDULES = schedulesOr(48);
const AT_ONCE = 6;
const SCHEDULE_MS = 5_000;

/** Every change of what is shown of a run that its table has, and no other: what is over stays so. */
const MOVES = [
  'queued>running',
  'queued>cancelled',
  'running>waiting_human',
  'running>completed',
  'running>flagged',
  'running>failed',
  'running>cancelled',
  'waiting_human>running',
  'waiting_human>cancelled',
];

const RUNS = sql<ProcessRun>('SELECT * FROM process_runs WHERE process_id = ANY ($1) ORDER BY id');
const STEPS = sql<ProcessStepRow>(
  'SELECT s.* FROM process_steps s JOIN process_runs r ON r.id = s.run_id WHERE r.process_id = ANY ($1) ORDER BY s.run_id, s.seq',
);
const SIGNALS = sql<ProcessSignal>(
  'SELECT g.* FROM process_signals g JOIN process_runs r ON r.id = g.run_id WHERE r.process_id = ANY ($1)',
);
const EVENTS = sql<{ run_id: string; seqs: number[]; types: string[] }>(`
  SELECT r.id AS run_id, array_agg(e.seq::int ORDER BY e.seq) AS seqs, array_agg(e.data->>'event' ORDER BY e.seq) AS types
  FROM process_runs r JOIN events e ON e.topic = 'run:' || r.id WHERE r.process_id = ANY ($1) GROUP BY r.id`);
const ASKED = sql<Pick<HitlRequest, 'id' | 'kind' | 'run_id' | 'chat_id'>>(`
  SELECT h.id, h.kind, h.run_id, h.chat_id FROM hitl_requests h LEFT JOIN chats c ON c.id = h.chat_id
  JOIN process_runs r ON r.id = coalesce(h.run_id, c.origin_ref_id::uuid) WHERE r.process_id = ANY ($1) AND h.status = 'pending'`);
const LEFT = sql<{ what: string }>(`
  WITH r AS (SELECT id FROM process_runs WHERE process_id = ANY ($1))
  SELECT 'a job' AS what FROM outbox o JOIN r ON o.payload->>'run_id' = r.id::text WHERE o.job = 'process.run'
  UNION ALL SELECT 'a turn of a chat' FROM turns t JOIN chats c ON c.id = t.chat_id JOIN r ON c.origin_ref_id = r.id::text WHERE t.status IN ('queued', 'running', 'waiting')`);
const RUNS_LEFT = sql(`
  SELECT id, status, admitted, concurrency_key, parent_run_id, wait, lease_owner, lease_expires_at, deliveries, steps_done, wakes, parked, (SELECT row_to_json(o) FROM outbox o WHERE o.id = r.id) AS job
  FROM process_runs r WHERE process_id = ANY ($1) AND finished_at IS NULL`);
const STEPS_LEFT = sql(`
  SELECT s.run_id, s.path, s.kind, s.status, s.note, s.event, s.waiting_until, s.resolution, c.state AS child, a.status AS chat
  FROM process_steps s JOIN process_runs r ON r.id = s.run_id LEFT JOIN process_runs c ON c.id = s.child_run_id LEFT JOIN chats a ON a.id = s.chat_id
  WHERE r.process_id = ANY ($1) AND s.status NOT IN ('completed', 'failed', 'cancelled', 'skipped')`);
const ORPHANS = sql<{ id: string }>(`
  SELECT c.id FROM process_runs c JOIN process_runs p ON p.id = c.parent_run_id WHERE c.process_id = ANY ($1) AND c.finished_at IS NULL AND p.finished_at IS NOT NULL`);
const EXPIRE = sql(`
  UPDATE process_runs SET lease_expires_at = now() - interval '2 seconds'
  WHERE id IN (SELECT id FROM process_runs WHERE process_id = ANY ($1) AND status = 'running' FOR NO KEY UPDATE SKIP LOCKED)`);

/** What a schedule is about, and what was said to it. */
interface Played {
  org: TestOrg;
  /** The process, and the one that steps of it run. */
  processes: string[];
  /** By question, what was taken as its answer. */
  answers: Map<string, unknown>;
  /** Payloads of signals that were taken. */
  signals: number[];
  cancelled: string[];
  odd: string[];
}

describe('what is done to runs at the same moment', () => {
  const t = runningService();
  /** By key, how often a call was made that may be made once. */
  const paid = new Map<string, number>();
  const nap = (ms: number) => new Promise((r) => setTimeout(r, ms));

  beforeAll(async () => {
    for (const statement of [...refuseOtherMoves('process_runs', 'state', MOVES), ...noteMoves('process_runs', 'state')])
      await t.db.execute(statement);
    const takes = async ({ ms }: Record<string, unknown>) => {
      await nap(Number(ms));
      return { output: 'ok' };
    };
    const inputSchema = { type: 'object' };
    t.get(StepTools).register(
      aTool('spec.read', { inputSchema, call: takes }),
      aTool('spec.pay', {
        inputSchema,
        accessLevel: 'write',
        call: (args, { idempotencyKey: key }) => {
          paid.set(key, (paid.get(key) ?? 0) + 1);
          return takes(args);
        },
      }),
    );
  });

  const call = async (played: Played, method: string, path: string, body?: unknown, fine = [200, 201, 202, 204, 404, 409]) => {
    const answer = await t.call(method, `/api/orgs/${played.org.id}${path}`, { as: played.org.owner, body });
    if (!fine.includes(answer.status) && !gaveWay(answer)) played.odd.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  };

  const deploy = async (played: Played, process: string, definition: object) => {
    const { status, body } = await call(played, 'POST', `/processes/${process}/revisions`, { definition });
    if (status < 300) await call(played, 'POST', `/processes/${process}/revisions/${body.id as string}/deploy`);
  };

  const answer = async (played: Played, { id, kind, run_id }: Pick<HitlRequest, 'id' | 'kind' | 'run_id'>, pick = () => 0) => {
    const chosen = pick() < 0.5;
    const decision = chosen ? 'approve' : 'reject';
    const option = chosen ? 'done' : 'fail';
    const body = kind === 'approval' ? { decision } : run_id ? { option_id: option } : { answer: 'that one' };
    const { status } = await call(played, 'POST', `/hitl-requests/${id}/answer`, body);
    if (status !== 200 || !run_id) return;
    if (played.answers.has(id)) played.odd.push(`the question ${id} was answered twice`);
    played.answers.set(id, kind === 'approval' ? decision : option);
  };

  const signal = async (played: Played, run: ProcessRun) => {
    const payload = played.signals.length + Math.random();
    const { status } = await call(played, 'POST', `/processes/${run.process_id}/runs/${run.id}/signal`, { name: 'go', payload });
    if (status === 202) played.signals.push(payload);
  };

  /** Does a handful of things to one run and those that come of it, some of them at once, while it is gone on with. */
  const play = async (org: TestOrg, chance: Chance): Promise<Played> => {
    const { pick } = chance;
    const played: Played = { org, processes: [], answers: new Map(), signals: [], cancelled: [], odd: [] };
    const make = async (child: string | null) => {
      const { body } = await call(played, 'POST', '/processes', { name: `P ${chance.seed}`, title: 'P', description: null });
      const id = body.id as string;
      await deploy(played, id, anyDefinition(chance, { agent: org.agentId, child }));
      played.processes.push(id);
      return id;
    };
    const child = await make(null);
    const process = await make(child);
    const begin = () => call(played, 'POST', `/processes/${process}/runs`, { input: {} });
    let expired = 0;
    const act = async (): Promise<unknown> => {
      const which = pick();
      const runs = await t.db.query(RUNS, [played.processes]);
      const run = runs.length ? chance.choose(runs) : null;
      if (!run || which < 0.06) return begin();
      const path = `/processes/${run.process_id}/runs/${run.id}`;
      // Somebody comes at the very moment at which nobody is waited for any longer.
      const [late] = await t.db.query(
        sql<{ ms: number }>(
          `SELECT extract(epoch FROM waiting_until - now())::float8 * 1000 AS ms FROM process_steps WHERE run_id = $1 AND status = 'waiting' AND waiting_until > now()`,
        ),
        [run.id],
      );
      if (late && late.ms < 600 && pick() < 0.6) await nap(Math.max(0, late.ms - 15 + pick() * 40));
      if (which < 0.34) {
        const asked = await t.db.query(ASKED, [played.processes]);
        const one = asked.length ? chance.choose(asked) : null;
        return one && times(1 + Math.floor(pick() * 2), () => answer(played, one, pick));
      }
      if (which < 0.58) return times(1 + Math.floor(pick() * 2), () => signal(played, run));
      if (which < 0.68) {
        const { body } = await call(played, 'POST', `${path}/cancel`);
        if (body?.cancelled) played.cancelled.push(run.id);
        return;
      }
      if (which < 0.78)
        return call(
          played,
          'POST',
          `${path}/restart`,
          pick() < 0.5 ? {} : { from_step: chance.choose(['both', 'last']) },
          [201, 404, 409, 422],
        );
      if (which < 0.83) return deploy(played, process, anyDefinition(chance, { agent: org.agentId, child }));
      if (which < 0.86) return call(played, 'DELETE', `/processes/${process}`);
      // What the silence of a worker leaves behind; another claim follows. Three of them without a step in between would be an end, and a
      // machine that is so busy that somebody waits too long for a lock may bring about others.
      if (expired++ < 1) await t.db.execute(EXPIRE, [played.processes]);
      return t.sweepRuns();
    };
    await begin();
    await chance.rounds(act, { most: 5, restMs: 400 });
    return played;
  };

  /** Gives runs what they wait for, until none is left. */
  const quiet = async (played: Played): Promise<void> => {
    for (let i = 0; i < 600; i++) {
      const orphans = await t.db.query(ORPHANS, [played.processes]);
      if (orphans.length) played.odd.push(`${orphans[0].id} outlives the run that it is a step of`);
      const live = (await t.db.query(RUNS, [played.processes])).filter(({ finished_at }) => !finished_at);
      if (live.length === 0 && (await t.db.query(LEFT, [played.processes])).length === 0) return;
      for (const one of await t.db.query(ASKED, [played.processes])) await answer(played, one);
      const waits = await t.db.query(
        sql<{ run_id: string }>(
          `SELECT DISTINCT run_id FROM process_steps WHERE run_id = ANY ($1) AND event = 'go' AND status = 'waiting' AND resolution IS NULL`,
        ),
        [live.map(({ id }) => id)],
      );
      for (const { run_id } of waits)
        await signal(
          played,
          live.find(({ id }) => id === run_id)!,
        );
      // As the sweeper would, a little later.
      await t.sweepRuns();
      await nap(50);
    }
    const left = await Promise.all([RUNS_LEFT, STEPS_LEFT, LEFT].map((rows) => t.db.query(rows as typeof LEFT, [played.processes])));
    throw new Error(`Runs do not come to rest: ${JSON.stringify(left)}`);
  };

  const check = async ({ org, processes, answers, signals, cancelled }: Played): Promise<string[]> => {
    const wrong: string[] = [];
    const expectThat = (ok: boolean, what: string) => void (ok || wrong.push(what));
    const [runs, steps, taken, events, left, asked] = await Promise.all([
      t.db.query(RUNS, [processes]),
      t.db.query(STEPS, [processes]),
      t.db.query(SIGNALS, [processes]),
      t.db.query(EVENTS, [processes]),
      t.db.query(LEFT, [processes]),
      t.db.query(ASKED, [processes]),
    ]);
    expectThat(left.length + asked.length === 0, `left: ${left.map(({ what }) => what).join()}, ${asked.length} questions`);
    const byId = new Map(runs.map((run) => [run.id, run]));
    const stepById = new Map(steps.map((step) => [step.id, step]));
    for (const run of runs) {
      const { id, status, error } = run;
      // A call that was cut off with its worker fails where somebody has said so; runs lose no worker more often than once.
      const saidToFail = steps.some((step) => step.run_id === id && step.error?.code === 'worker_lost' && step.hitl_request_id);
      expectThat(error?.code !== 'internal' && (error?.code !== 'worker_lost' || saidToFail), `${id} has failed: ${error?.code}`);
      const { seqs = [], types = [] } = events.find(({ run_id }) => run_id === id) ?? {};
      expectThat(seqs.length === run.event_seq && seqs.every((seq, i) => seq === i + 1), `${id}: events have gaps`);
      const ends = types.filter((type) => type === 'run_finished' || type === 'run_cancelled');
      expectThat(
        ends.length === 1 && types.at(-1) === ends[0] && (ends[0] === 'run_cancelled') === (status === 'cancelled'),
        `${id} is ${status}, and has told ${types.join()}`,
      );
      const journal = await t.get(JournalRepository).journal(t.db, id);
      const replay = await replayed(await t.get(Definitions).of(org.id, run.revision_id), runFactsOf(run), journal);
      expectThat(replay.deterministic, `${id} is replayed otherwise: ${JSON.stringify(replay.first_divergence)}`);
    }
    expectThat(
      new Set(cancelled).size === cancelled.length && cancelled.every((id) => byId.get(id)?.status === 'cancelled'),
      'what was cancelled is not so, or twice',
    );
    for (const { id, path, status, resolution, hitl_request_id: question, run_id } of steps) {
      expectThat(!['running', 'waiting', 'outcome_unknown'].includes(status), `${path} is ${status}, and its run over`);
      const consumed = taken.filter(({ consumed_by }) => consumed_by === id);
      expectThat(
        consumed.length === (resolution?.kind === 'signal' ? 1 : 0),
        `${path} has taken ${consumed.length} signals, for ${resolution?.kind}`,
      );
      if (resolution?.kind === 'signal') expectThat(resolution.payload === consumed[0]?.payload, `${path} has another signal than it took`);
      const given = resolution?.kind === 'answer' ? (resolution.answer.decision ?? resolution.answer.option_id) : undefined;
      expectThat(
        !question || answers.get(question) === given,
        `${path} of ${run_id} has the answer ${String(given)}, where ${String(answers.get(question!))} was taken`,
      );
    }
    expectThat(
      taken.every(({ consumed_by }) => consumed_by === null || stepById.has(consumed_by)),
      'a signal was taken by nobody',
    );
    const payloads = taken.map(({ payload }) => payload as number).sort();
    expectThat(JSON.stringify(payloads) === JSON.stringify([...signals].sort()), `${payloads.length} signals of ${signals.length}`);
    for (const { id } of runs) for (const [key, n] of paid) if (key.startsWith(id)) expectThat(n === 1, `${key} was called ${n} times`);
    return wrong;
  };

  it(
    `${SCHEDULES} schedules keep to the table of states, take each answer and signal once, and leave nothing behind`,
    async () => {
      const player = async () => {
        const org = await t.org();
        return async (chance: Chance): Promise<string[]> => {
          const played = await play(org, chance);
          await quiet(played);
          return [...played.odd, ...(await check(played))];
        };
      };
      const seen = async () => (await t.db.query(movesSeen('process_runs'))).map(({ move }) => move);
      expect(await playSchedules('Interleavings of runs', SCHEDULES, AT_ONCE, player, seen)).toEqual([]);
      // Which rare ones come about is chance; that most of them do is what the schedules are for.
      expect((await seen()).length).toBeGreaterThanOrEqual(MOVES.length - 2);
    },
    600_000 + SCHEDULES * SCHEDULE_MS,
  );
});
