import { Injectable } from '@nestjs/common';
import { isUuid } from '@aps/contracts';
import { idTypeOf, IN_PROJECTS, type ProjectResource } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { statement, type Tx } from '@aps/platform/database';

type Type = ProjectResource['entity_type'];

/** A live resource, locked. */
export interface PlacedResource {
  id: string;
  project_id: string | null;
}

const ofEach = <S>(make: (table: string) => S): Record<Type, S> =>
  Object.fromEntries(Object.entries(IN_PROJECTS).map(([type, table]) => [type, make(table)])) as Record<Type, S>;

/** Others' private connections are not there. */
const seen = (table: string) => (table === 'connections' ? `(scope = 'org' OR owner_user_id = $3)` : '$3::uuid IS NOT NULL');
const LOCK = ofEach((table) =>
  statement<PlacedResource>(`
  SELECT id::text AS id, project_id FROM ${table} WHERE org_id = $1 AND id = ANY($2::${idTypeOf(table)}[]) AND deleted_at IS NULL
    AND ${seen(table)} ORDER BY id FOR NO KEY UPDATE`),
);
const MOVE = ofEach((table) =>
  statement(`UPDATE ${table} SET project_id = $3, updated_at = now() WHERE org_id = $1 AND id = ANY($2::${idTypeOf(table)}[])`),
);

/** Resources of all types, as far as projects are concerned: which one each is in, which its own row says. */
@Injectable()
export class ResourcesRepository {
  /** Those of the ids that are live resources of this type, as far as the caller sees them. */
  lock(tx: Tx, scope: OrgScope, type: Type, ids: readonly string[]): Promise<PlacedResource[]> {
    const formed = idTypeOf(IN_PROJECTS[type]) === 'uuid' ? ids.filter(isUuid) : ids;
    return tx.query(LOCK[type], [scope.orgId, formed, scope.userId]);
  }

  /** Of resources that are locked. @param projectId null: into none */
  async move(tx: Tx, scope: OrgScope, type: Type, ids: readonly string[], projectId: string | null): Promise<void> {
    await tx.execute(MOVE[type], [scope.orgId, ids, projectId]);
  }
}
