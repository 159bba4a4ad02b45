import { Injectable } from '@nestjs/common';
import type { FileReference } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import { ProcessRefs } from '../revisions/process-refs';
import { Cancellation } from './cancellation';
import type { RunMessage, RunSource } from './envelope';
import { LOCK_RESTARTED, RESTARTS } from './process-run.sql';
import { RunFiles } from './run-files';
import { RunStarter, type WithinRun } from './run-starter';

/** What a domain above begins a run with. */
export interface RunBegin {
  source: Pick<RunSource, 'kind' | 'ref_id'> & Partial<Pick<RunSource, 'user_id'>>;
  input: Record<string, unknown>;
  message: RunMessage | null;
  attachments: FileReference[];
  label: string | null;
  /** The run whose agent begins it, and goes on without it. */
  within?: WithinRun;
}

/** Begins and ends runs in the transactions of whoever has something to do with them. */
@Injectable()
export class RunBegins {
  constructor(
    private readonly refs: ProcessRefs,
    private readonly starter: RunStarter,
    private readonly files: RunFiles,
    private readonly cancellation: Cancellation,
  ) {}

  /**
   * @returns that nothing is deployed of the process, if there is one; that the input does not fit it; or that it takes no more of this key at
   *   present. Then nothing was written
   */
  async begin(
    tx: Tx,
    orgId: string,
    processId: string,
    { source, ...run }: RunBegin,
  ): Promise<{ run_id: string } | { refused: 'no_process' | 'misfit'; why: string } | { refused: 'full'; why: string; key: string }> {
    const target = await this.refs.deployed(tx, orgId, processId);
    if (!target) return { refused: 'no_process', why: 'Nothing of this process is deployed.' };
    const scope = OrgScope.system(orgId, source.kind);
    const begun = await this.starter.insertOrRefusal(tx, target, {
      org_id: orgId,
      source: { user_id: null, ...source },
      ...run,
      beside: (runId) => this.files.tie(tx, scope, runId, run.attachments),
    });
    return 'refused' in begun ? begun : { run_id: begun.id };
  }

  /** How many more runs of a key a process would take; any number where that is not what it would refuse. */
  async roomOf(tx: Tx, orgId: string, processId: string, key: string): Promise<number> {
    const target = await this.refs.deployed(tx, orgId, processId);
    return target ? this.starter.roomOf(tx, target, key) : Infinity;
  }

  /**
   * Cancels runs, and those that do them or one within them again, with all that they have begun; what is over stays so. A run that has begun to do one again before the transaction ends
   * is cancelled with it.
   */
  async cancelWithRestarts(tx: Tx, orgId: string, runIds: string[]): Promise<void> {
    // A run is done again by later ones alone, so everybody locks them in one order.
    for (let ids = runIds; ids.length > 0;) {
      await this.cancellation.cancelTrees(tx, orgId, ids, { tellParents: true });
      const over = (await tx.query(LOCK_RESTARTED, [ids])).map(({ id }) => id);
      ids = (await tx.query(RESTARTS, [over])).map(({ id }) => id);
    }
  }
}
