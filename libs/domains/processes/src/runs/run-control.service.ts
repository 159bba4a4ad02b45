import { Injectable } from '@nestjs/common';
import { DomainError, notFound, refuseField } from '@aps/contracts';
import { Process, type FileReference, type ProcessRun, type ProcessRunState, type ProcessSignal } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgTable, storable, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { Cancellation } from '../engine/cancellation';
import { withSource } from '../engine/envelope';
import type { RunEvent } from '../engine/journal';
import { JournalRepository } from '../engine/journal.repository';
import { ADD_SIGNAL, TAKE_SIGNAL, WAITING_FOR } from '../engine/process-run.sql';
import type { DeployedProcess } from '../revisions/process-refs';
import { RunStarter } from '../engine/run-starter';
import { Wakes } from '../engine/wakes';
import { RunFiles } from '../engine/run-files';
import { refuseMisfit, RunStarts } from './run-starts.service';
import { COPY_STEPS, HOLD_RUN, REACHED } from './runs.sql';

export interface Cancelled {
  run_id: string;
  /** False where it was over already. */
  cancelled: boolean;
  status: ProcessRunState;
}

/** What people do to runs. */
@Injectable()
export class RunControl {
  private readonly processes = new OrgTable(Process, 'Process');

  constructor(
    private readonly db: Database,
    private readonly cancellation: Cancellation,
    private readonly starts: RunStarts,
    private readonly starter: RunStarter,
    private readonly journal: JournalRepository,
    private readonly wakes: Wakes,
    private readonly files: RunFiles,
  ) {}

  /** Of one that is over nothing changes. @throws DomainError 404 */
  async cancel(scope: OrgScope, processId: string, runId: string): Promise<Cancelled> {
    return this.db.transaction(scope, async (tx) => {
      await this.find(tx, scope, processId, runId);
      const cancelled = await this.cancellation.cancelTrees(tx, scope.orgId, [runId], { tellParents: true });
      const { state } = await this.starts.get(tx, scope, processId, runId);
      return { run_id: runId, cancelled: cancelled.includes(runId), status: state };
    });
  }

  /**
   * Does a run again, on what is deployed now, with what it was begun with. With `from_step` what stands before that step is not done
   * again.
   *
   * @throws DomainError 404; 409 `run_not_terminal`, `not_deployed`, `revision_changed`, `concurrency_limit`; 422 `unknown_reference`
   */
  restart(scope: OrgScope, processId: string, runId: string, { from_step }: { from_step?: string | null }): Promise<ProcessRun> {
    return this.db.transaction(scope, async (tx) => {
      await tx.query(HOLD_RUN, [scope.orgId, processId, runId]);
      const run = await this.find(tx, scope, processId, runId);
      if (run.finished_at === null) throw new DomainError('run_not_terminal', `The run is ${run.state}. Cancel it first.`);
      const target = await this.starts.requireDeployed(tx, scope, processId);
      const kept = from_step ? await this.keptSteps(tx, run, target, from_step) : [];
      const source = { kind: 'restart' as const, ref_id: run.id, user_id: scope.actor.userId };
      const envelope = withSource(run.envelope, source);
      const { input, attachments } = JSON.parse(envelope) as { input: Record<string, unknown>; attachments: FileReference[] };
      // The process may take another by now.
      refuseMisfit(target, input);
      const begun = await this.starter.insert(tx, target, {
        org_id: scope.orgId,
        source,
        input,
        label: run.label,
        budget_credits: run.asked_credits,
        restart: { of: run.id, envelope },
        beside: async (id) => {
          await this.files.tie(tx, scope, id, attachments);
          if (kept.length) await tx.execute(COPY_STEPS, [run.id, id, kept]);
        },
      });
      return this.starts.get(tx, scope, processId, begun.id);
    });
  }

  /** Tells a run something, by a name. One step that waits for it takes it, or the next that will. @throws DomainError 404; 409 `run_terminal` */
  signal(
    scope: OrgScope,
    processId: string,
    runId: string,
    { name, payload = null }: { name: string; payload?: unknown },
  ): Promise<ProcessSignal> {
    return this.db.transaction(scope, async (tx) => {
      await this.find(tx, scope, processId, runId);
      const run = await this.wakes.lock(tx, runId);
      if (!run || !['queued', 'running', 'waiting'].includes(run.status)) throw new DomainError('run_terminal', 'The run is over.');
      const id = uuidv7();
      const signal = {
        id,
        org_id: scope.orgId,
        run_id: runId,
        name: storable(name),
        payload: storable(payload),
        sent_by: scope.actor.userId,
      };
      await tx.execute(ADD_SIGNAL, [id, scope.orgId, runId, signal.name, JSON.stringify(signal.payload), signal.sent_by]);
      const told: RunEvent = { type: 'signal_received', step_id: null, path: null, metadata: { name: signal.name } };
      await this.journal.tell(tx, new Map([[runId, [told]]]));
      const [step] = await tx.query(WAITING_FOR, [runId, signal.name]);
      if (step) {
        await tx.query(TAKE_SIGNAL, [runId, signal.name, step.id]);
        await this.wakes.wake(tx, run);
      }
      return { ...signal, consumed_by: step?.id ?? null, created_at: this.db.now() };
    });
  }

  /** Top-level steps whose results stay. */
  private async keptSteps(tx: Tx, run: ProcessRun, target: DeployedProcess, fromStep: string): Promise<string[]> {
    if (target.revision_hash !== run.revision_hash)
      throw new DomainError('revision_changed', 'Another revision is deployed now: the run can only be done again as a whole.');
    const at = target.definition.steps.findIndex(({ id }) => id === fromStep);
    const reached = at >= 0 && (await tx.query(REACHED, [run.id, fromStep]))[0].n > 0;
    if (!reached) {
      const why = at < 0 ? 'There is no such step at the top level.' : 'The run has never come to this step.';
      throw refuseField('unknown_reference', ['from_step'], why);
    }
    return target.definition.steps.slice(0, at).map(({ id }) => id);
  }

  private async find(tx: Tx, scope: OrgScope, processId: string, runId: string): Promise<ProcessRun> {
    const process = await this.processes.find(tx, scope, processId);
    if (!process) throw notFound('Process');
    return this.starts.get(tx, scope, processId, runId);
  }
}
