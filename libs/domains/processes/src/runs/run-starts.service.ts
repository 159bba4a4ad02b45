import { Injectable } from '@nestjs/common';
import { DomainError, notFound, refuseField, requireValid } from '@aps/contracts';
import { Process, type ProcessRun } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { advisoryLock, Database, OrgTable, storable, type Tx } from '@aps/platform/database';
import { hashOf } from '@aps/platform/definitions';
import { validate } from '@aps/platform/json-schema';
import { ProcessRefs, type DeployedProcess } from '../revisions/process-refs';
import { RunStarter } from '../engine/run-starter';
import { RunFiles } from '../engine/run-files';
import { BEGUN_BY_KEY, RUN } from './runs.sql';

/** What a run is begun with. */
export interface NewRun {
  input: Record<string, unknown>;
  /** A filename takes the place of the file's own. */
  attachments?: { file_id: string; filename?: string }[];
  label?: string | null;
  /** The same one begins nothing more within a day, whoever of the process's callers says it. */
  idempotency_key?: string | null;
  budget_credits?: string | null;
}

/** Begins runs for those who call. */
@Injectable()
export class RunStarts {
  private readonly processes = new OrgTable(Process, 'Process');

  constructor(
    private readonly db: Database,
    private readonly refs: ProcessRefs,
    private readonly starter: RunStarter,
    private readonly files: RunFiles,
  ) {}

  /**
   * @returns the run, and whether an earlier call with the same key has begun it
   * @throws DomainError 404; 409 `not_deployed`, `concurrency_limit`; 422 `validation_error` for an input that does not fit, `unknown_reference`
   *   for files, `idempotency_mismatch`
   */
  async start(scope: OrgScope, processId: string, asked: NewRun): Promise<{ run: ProcessRun; replayed: boolean }> {
    await this.processes.get(this.db, scope, processId);
    const { input, label, budget_credits, idempotency_key } = asked;
    const files = asked.attachments ?? [];
    const ids = files.map(({ file_id }) => file_id);
    const found = await this.files.references(scope, ids);
    const attachments = found.map((file, i) => ({ ...file, filename: files[i].filename ?? file.filename }));
    const named = files.map(({ file_id, filename }) => (filename === undefined ? file_id : { file_id, filename: storable(filename) }));
    const sha256 = hashOf({ input: storable(input), ids: named, label: label ?? null, budget_credits: budget_credits ?? null });
    return this.db.transaction(scope, async (tx) => {
      if (idempotency_key) {
        await advisoryLock(tx, `process_start:${processId}:${idempotency_key}`);
        const [before] = await tx.query(BEGUN_BY_KEY, [processId, idempotency_key]);
        if (before && before.request_sha256 !== sha256)
          throw refuseField('idempotency_mismatch', ['idempotency_key'], 'The key came with another request before.');
        if (before) return { run: await this.get(tx, scope, processId, before.id), replayed: true };
      }
      const target = await this.requireDeployed(tx, scope, processId);
      refuseMisfit(target, input);
      const { id } = await this.starter.insert(tx, target, {
        org_id: scope.orgId,
        source: { kind: 'api', ref_id: null, user_id: scope.actor.userId },
        input,
        attachments,
        label,
        budget_credits,
        ...(idempotency_key && { idempotency: { key: idempotency_key, sha256 } }),
        beside: (runId) => this.files.tie(tx, scope, runId, attachments),
      });
      return { run: await this.get(tx, scope, processId, id), replayed: false };
    });
  }

  /** What is deployed of a process, held until the transaction ends. @throws DomainError 409 `not_deployed` */
  async requireDeployed(tx: Tx, scope: OrgScope, processId: string): Promise<DeployedProcess> {
    const target = await this.refs.deployed(tx, scope.orgId, processId);
    if (!target) throw new DomainError('not_deployed', 'No revision of this process is deployed. Deploy one first.');
    return target;
  }

  /** @throws DomainError 404 */
  async get(tx: Tx, scope: OrgScope, processId: string, runId: string): Promise<ProcessRun> {
    const [run] = await tx.query(RUN, [scope.orgId, processId, runId]);
    if (!run) throw notFound('Run');
    return run;
  }
}

/** @throws DomainError 422 `validation_error` for an input, as it comes in a body, that the process does not take */
export function refuseMisfit({ definition: { input_schema } }: DeployedProcess, input: Record<string, unknown>): void {
  if (input_schema === null) return;
  const problems = validate(input_schema, input).map(({ path, message }) => ({
    loc: ['body', 'input', ...path.split('.').filter(Boolean)],
    msg: message,
    type: 'value_error',
  }));
  requireValid(problems);
}
