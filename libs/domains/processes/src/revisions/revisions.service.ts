import { Injectable } from '@nestjs/common';
import { Process, ProcessRevision } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, now, OrgTable, type Listed } from '@aps/platform/database';
import { hashOf } from '@aps/platform/definitions';
import { Not } from 'typeorm';
import type { DefinitionWarning } from '../definition';
import { StepTools } from '../tools/step-tools';
import { DeployCheck } from './deploy-check';
import { pushedDefinition, storedDefinition } from './revision.policy';
import { calledTools, snapshotOf } from './tool-snapshot';

/** What has become of a process's revisions. */
export interface ProcessDeployment {
  revision: ProcessRevision;
  /** Null where nothing was deployed before, or nothing has changed. */
  previous_revision_id: string | null;
  warnings: DefinitionWarning[];
}

/** The definitions of processes. Whoever changes one holds the row of its process, so that one is deployed at any moment, and numbers have one order. */
@Injectable()
export class ProcessRevisions {
  private readonly processes = new OrgTable(Process, 'Process');
  private readonly revisions = new OrgTable(ProcessRevision, 'Revision', undefined, 'large');

  constructor(
    private readonly db: Database,
    private readonly check: DeployCheck,
    private readonly tools: StepTools,
    private readonly audit: Audit,
  ) {}

  /** Newest version first. @throws DomainError `not_found` */
  async list(scope: OrgScope, processId: string): Promise<Listed<ProcessRevision>> {
    await this.processes.get(this.db, scope, processId);
    return this.revisions.page(this.db, scope, { process_id: processId }, { version: 'DESC' }, {});
  }

  /**
   * Makes a draft, unless the newest revision says the same.
   *
   * @throws DomainError `not_found`; 422 `revision_invalid` with every problem of the definition
   */
  async push(
    scope: OrgScope,
    processId: string,
    { definition, sop_text }: { definition: Record<string, unknown>; sop_text?: string | null },
  ): Promise<{ revision: ProcessRevision; created: boolean }> {
    await this.processes.get(this.db, scope, processId);
    pushedDefinition(definition);
    const content = { definition, sop_text: sop_text || null };
    const hash = hashOf(content);
    return this.db.transaction(scope, async (tx) => {
      const { last_version } = await this.processes.get(tx, scope, processId, 'for no key update');
      const [latest] = await this.revisions.list(tx, scope, { process_id: processId }, { version: 'DESC' }, 1);
      if (latest?.hash === hash) return { revision: latest, created: false };
      const version = last_version + 1;
      const created_by = scope.actor.userId;
      const revision = await this.revisions.insert(tx, scope, { ...content, hash, process_id: processId, version, created_by });
      await this.processes.update(tx, scope, processId, { last_version: version });
      await this.audit.record(tx, scope, 'process_revision.created', revision.id, { process_id: processId, version });
      return { revision, created: true };
    });
  }

  /**
   * Makes a draft, or what was deployed before, what new runs do. Runs that have begun end by what they began with. What is deployed is
   * looked at and pinned anew where its process is stale: what it names may be there again, under another id.
   *
   * @throws DomainError `not_found`; 403 `entitlement_required`; 422 `revision_invalid` with what must be mended
   */
  async deploy(scope: OrgScope, processId: string, id: string): Promise<ProcessDeployment> {
    const process = await this.processes.get(this.db, scope, processId);
    const asked = await this.revisions.get(this.db, scope, { id, process_id: processId });
    // Who may not deploy any more is told so by the commit, also where there is nothing to do.
    if (stands(process, asked)) return this.db.transaction(scope, () => Promise.resolve(unchanged(asked)));
    // A revision never changes; and who lists tools may ask others for them.
    const definition = storedDefinition(asked.definition);
    const called = await calledTools(this.tools, scope.orgId, definition);
    return this.db.transaction(scope, async (tx) => {
      const { named, warnings } = await this.check.pass(tx, scope, processId, definition, called);
      const locked = await this.processes.get(tx, scope, processId, 'for no key update');
      const meanwhile = await this.revisions.get(tx, scope, id);
      if (stands(locked, meanwhile)) return unchanged(meanwhile);
      // The one that is deployed goes first: there are never two.
      const other = { process_id: processId, status: 'deployed' as const, id: Not(id) };
      const previous = await this.revisions.update(tx, scope, other, { status: 'archived' });
      const deployed = { status: 'deployed' as const, deployed_by: scope.actor.userId, deployed_at: now, ...named };
      const revision = (await this.revisions.update(tx, scope, id, { ...deployed, tool_snapshot: snapshotOf(called, this.db.now()) }))!;
      await this.processes.update(tx, scope, processId, { current_revision_id: id, stale_reason: null, stale_checked_at: now });
      const previous_revision_id = previous?.id ?? null;
      const facts = { process_id: processId, version: revision.version, previous_revision_id };
      await this.audit.record(tx, scope, 'process_revision.deployed', id, facts);
      return { revision, previous_revision_id, warnings };
    });
  }
}

/** Nothing is left to deploy. */
const stands = (process: Process, revision: ProcessRevision): boolean => revision.status === 'deployed' && process.stale_reason === null;

const unchanged = (revision: ProcessRevision): ProcessDeployment => ({ revision, previous_revision_id: null, warnings: [] });
