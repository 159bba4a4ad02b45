import { Injectable } from '@nestjs/common';
import { PROJECTS } from '@aps/agents';
import { connectionUuid, DomainError, notFound, type ProjectResourceType } from '@aps/contracts';
import { IN_PROJECTS, type ProjectResource } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database } from '@aps/platform/database';
import { ResourcesRepository } from './resources.repository';

export interface Ref {
  entity_type: ProjectResourceType;
  entity_id: string;
}

/** What putting resources into a project came to, each counted once. */
export interface Placed {
  added: number;
  moved: number;
  unchanged: number;
}

/** Its id as its row has it. */
function rowIdOf({ entity_type, entity_id }: Ref): string {
  const id = entity_id.toLowerCase();
  return entity_type === 'connection' ? (connectionUuid(id) ?? id) : id;
}

const TYPES = Object.keys(IN_PROJECTS) as ProjectResource['entity_type'][];

/** Puts resources into projects, and takes them out. Each is in one at most. */
@Injectable()
export class ProjectResources {
  constructor(
    private readonly db: Database,
    private readonly resources: ResourcesRepository,
    private readonly audit: Audit,
  ) {}

  /**
   * All of them or none.
   *
   * @throws DomainError `not_found`; 422 `unknown_reference` with each that is none of the organization's, as skills of the system are, or is
   *   private to somebody else
   */
  add(scope: OrgScope, projectId: string, refs: readonly Ref[]): Promise<Placed> {
    return this.db.transaction(scope, async (tx) => {
      const project = await PROJECTS.rows.get(tx, scope, projectId, 'for no key update');
      const there = new Set<string>();
      const placed: Placed = { added: 0, moved: 0, unchanged: 0 };
      for (const type of TYPES) {
        const ids = refs.filter(({ entity_type }) => entity_type === type).map(rowIdOf);
        const rows = ids.length ? await this.resources.lock(tx, scope, type, ids) : [];
        for (const { id } of rows) there.add(`${type}:${id}`);
        const elsewhere = rows.filter(({ project_id }) => project_id !== project.id);
        if (elsewhere.length)
          await this.resources.move(tx, scope, type, elsewhere.map(({ id }) => id), project.id); // prettier-ignore
        const added = elsewhere.filter(({ project_id }) => project_id === null).length;
        placed.added += added;
        placed.moved += elsewhere.length - added;
        placed.unchanged += rows.length - elsewhere.length;
      }
      const problems = refs.flatMap((ref, i) =>
        there.has(`${ref.entity_type}:${rowIdOf(ref)}`)
          ? []
          : [
              {
                loc: ['body', 'resources', i, 'entity_id'],
                msg: `There is no such ${ref.entity_type}`,
                type: 'semantic.unknown_reference',
              },
            ],
      );
      if (problems.length) throw new DomainError('unknown_reference', 'Some of the resources do not exist.', { problems });
      if (placed.added + placed.moved) await this.audit.record(tx, scope, 'project.resources_added', project.id, { ...placed });
      return placed;
    });
  }

  /** @throws DomainError `not_found` where it is not in the project */
  async remove(scope: OrgScope, projectId: string, ref: Ref): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const project = await PROJECTS.rows.get(tx, scope, projectId, 'for no key update');
      const [resource] = await this.resources.lock(tx, scope, ref.entity_type, [rowIdOf(ref)]);
      if (resource?.project_id !== project.id) throw notFound('Resource');
      await this.resources.move(tx, scope, ref.entity_type, [resource.id], null);
      await this.audit.record(tx, scope, 'project.resource_removed', project.id, { ...ref });
    });
  }
}
