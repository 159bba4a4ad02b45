import { ChatsService, type TestOrg } from '@aps/chats/testing';
import { prefixedId } from '@aps/contracts';
import { Process, ProcessRevision, type ProcessRun, type ProcessStepRow } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { NO_CALLER } from '@aps/platform/database';
import { RunSweeper } from '@aps/platform/runs';
import { eventually, sql } from '@aps/platform/testing';
import type { BASE_MODULES, Settings } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { ProcessRunKind } from '../engine/process-run.kind';
import { RunControl } from '../runs/run-control.service';
import { RunStarts, type NewRun } from '../runs/run-starts.service';
import { ProcessesHttpModule } from '../http';
import { ProcessesJobsModule } from '../jobs';

/** A process with a revision that is deployed. */
export interface DeployedProcess {
  id: string;
  revision_id: string;
}

/** A run with its journal, as specs look at it. */
export interface RunNow extends ProcessRun {
  steps: ProcessStepRow[];
}

const RUN = sql<ProcessRun>('SELECT * FROM process_runs WHERE id = $1');
const STEPS = sql<ProcessStepRow>('SELECT * FROM process_steps WHERE run_id = $1 ORDER BY seq');
const EVENTS = sql<{ seq: number; type: string; data: Record<string, unknown> }>(
  `SELECT seq, type, data FROM events WHERE topic = 'run:' || $1 ORDER BY seq`,
);

const meantBy = (steps: unknown[]): Record<string, string> =>
  Object.fromEntries(
    [...JSON.stringify(steps).matchAll(/"(agent|process|template)":"([^"]+)"/g)].map(([, kind, name]) => [`${kind}:${name}`, name]),
  );

/** Gateway, worker and engine in one process. */
export class RunningService extends ChatsService {
  constructor(settings?: Settings, beside: typeof BASE_MODULES = []) {
    super(settings, [ProcessesHttpModule, ProcessesJobsModule, ...beside], ['process-runs']);
  }

  scope(org: TestOrg): OrgScope {
    return OrgScope.system(org.id, 'spec');
  }

  /** Puts a definition into force, as a deploy would leave it. Agents and processes are named by id. */
  async deployed(org: TestOrg, steps: unknown[], over: Record<string, unknown> = {}): Promise<DeployedProcess> {
    const [id, revision_id] = [prefixedId('prc'), uuidv7()];
    const process = {
      id,
      org_id: org.id,
      slug: id.replace('_', '-'),
      name: 'Spec',
      title: 'A process',
      current_revision_id: revision_id,
      last_version: 1,
    };
    await this.insert(Process, process);
    const definition = { schema_version: 1, steps, ...over };
    await this.insert(ProcessRevision, {
      id: revision_id,
      org_id: org.id,
      process_id: id,
      version: 1,
      status: 'deployed',
      hash: 'h',
      definition,
      meant: meantBy(steps),
    });
    return { id, revision_id };
  }

  /** Puts another definition into its place. */
  async redeployed(org: TestOrg, process: DeployedProcess, steps: unknown[], over: Record<string, unknown> = {}): Promise<void> {
    await this.db.manager.update(ProcessRevision, process.revision_id, { status: 'archived' });
    const definition = { schema_version: 1, steps, ...over };
    const id = uuidv7();
    const of = { org_id: org.id, process_id: process.id, version: 2, status: 'deployed' as const, hash: 'h2', meant: meantBy(steps) };
    await this.insert(ProcessRevision, { id, ...of, definition });
    await this.db.manager.update(Process, process.id, { current_revision_id: id });
  }

  async begin(org: TestOrg, { id }: DeployedProcess, input: Record<string, unknown> = {}, more: Partial<NewRun> = {}): Promise<string> {
    return (await this.get(RunStarts).start(this.scope(org), id, { input, ...more })).run.id;
  }

  /** As of one moment. */
  run(id: string): Promise<RunNow> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ'));
      const [run] = await tx.query(RUN, [id]);
      return { ...run, steps: await tx.query(STEPS, [id]) };
    });
  }

  /** Asks until something holds of a run. */
  untilRun(id: string, holds: (run: RunNow) => boolean): Promise<RunNow> {
    return eventually(() => this.run(id), holds);
  }

  ended(id: string): Promise<RunNow> {
    return this.untilRun(id, (run) => run.finished_at !== null);
  }

  /** Waits until a step of a run waits. */
  waiting(id: string, path: string): Promise<RunNow> {
    return this.untilRun(
      id,
      (run) => run.status === 'waiting' && run.steps.some((step) => step.path === path && step.status !== 'completed'),
    );
  }

  events(id: string) {
    return this.db.query(EVENTS, [id]);
  }

  signal(org: TestOrg, { id }: DeployedProcess, runId: string, name: string, payload?: unknown) {
    return this.get(RunControl).signal(this.scope(org), id, runId, { name, payload });
  }

  sweepRuns(): Promise<number> {
    return this.get(RunSweeper).sweep(this.get(ProcessRunKind));
  }
}

export function runningService(settings?: Settings, beside?: typeof BASE_MODULES): RunningService {
  const service = new RunningService(settings, beside);
  beforeAll(() => service.start());
  afterAll(() => service.close());
  return service;
}
