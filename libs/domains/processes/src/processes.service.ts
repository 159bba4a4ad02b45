import { Injectable } from '@nestjs/common';
import { prefixedId, slugsFor } from '@aps/contracts';
import { Process } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { changesOf, Database, Deletions, OrgTable } from '@aps/platform/database';
import { ProcessesQueries, type ProcessView } from './processes.queries';
import { Removal } from './engine/removal';

/** Makes, edits and deletes processes. */
@Injectable()
export class ProcessesService {
  private readonly processes = new OrgTable(Process, 'Process');

  constructor(
    private readonly db: Database,
    private readonly queries: ProcessesQueries,
    private readonly removal: Removal,
    private readonly deletions: Deletions,
    private readonly audit: Audit,
  ) {}

  /** Nothing is deployed of it yet. Its slug is made from its name, and stays. */
  create(scope: OrgScope, input: Pick<Process, 'name' | 'title'> & Partial<Pick<Process, 'description'>>): Promise<ProcessView> {
    return this.db.transaction(scope, async (tx) => {
      const slugs = slugsFor(input.name, null, 'process');
      const columns = { id: prefixedId('prc'), ...input, created_by: scope.actor.userId };
      const { id, slug } = await this.processes.insertUnder(tx, scope, slugs, columns);
      await this.audit.record(tx, scope, 'process.created', id, { slug });
      return this.queries.get(scope, id, tx);
    });
  }

  /** @throws DomainError `not_found` */
  update(scope: OrgScope, id: string, input: Partial<Pick<Process, 'title' | 'description'>>): Promise<ProcessView> {
    return this.db.transaction(scope, async (tx) => {
      const changes = changesOf(await this.processes.get(tx, scope, id, 'for no key update'), input);
      const fields = Object.keys(changes);
      if (fields.length) {
        await this.processes.update(tx, scope, id, changes);
        await this.audit.record(tx, scope, 'process.updated', id, { fields });
      }
      return this.queries.get(scope, id, tx);
    });
  }

  /** Its live runs are cancelled, where they are many by a job, and its slug is free. Nobody begins a run of it meanwhile: that refers to its row. @throws DomainError `not_found` */
  async delete(scope: OrgScope, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const { slug } = await this.processes.get(tx, scope, id, 'for update');
      await this.removal.begin(tx, scope, id);
      await this.processes.delete(tx, scope, id);
      await this.deletions.tell(tx, { kind: 'process', orgId: scope.orgId, id, slug });
      await this.audit.record(tx, scope, 'process.deleted', id, { slug });
    });
  }
}
