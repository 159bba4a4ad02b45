import { Injectable, Module } from '@nestjs/common';
import { InferenceModule, ModelUsers, type ModelUser, type ModelUserReader } from '@aps/inference';
import { isOfLive } from '@aps/guards';
import { statement, type Db } from '@aps/platform/database';

const NAMED = `
  SELECT p.id, p.org_id, p.name, substr(x.ref, 7) AS model_key
  FROM process_revisions r JOIN processes p ON p.id = r.process_id AND p.deleted_at IS NULL CROSS JOIN LATERAL unnest(r.refs) AS x(ref)
  WHERE r.status = 'deployed' AND x.ref LIKE 'model:%' AND ${isOfLive('p')}`;
const AMONG = 'r.refs && $1::text[] AND x.ref = ANY ($1)';
const NAMING = statement<ModelUser>(`${NAMED} AND ${AMONG} AND ($3::uuid IS NULL OR p.org_id = $3) ORDER BY p.name, p.id LIMIT $2`);
const counted = (rows: string) =>
  statement<{ model_key: string; n: number }>(`SELECT n.model_key, count(*)::int AS n FROM (${rows}) n GROUP BY n.model_key`);
const COUNTED = counted(NAMED);
const COUNTED_AMONG = counted(`${NAMED} AND ${AMONG}`);

const refsOf = (keys: readonly string[]) => keys.map((key) => `model:${key}`);

/** Processes that name a model where they are deployed. */
@Injectable()
export class ProcessModels implements ModelUserReader {
  readonly kind = 'process';

  naming(db: Db, keys: readonly string[], limit: number, orgId?: string): Promise<ModelUser[]> {
    return db.query(NAMING, [refsOf(keys), limit, orgId ?? null]);
  }

  counted(db: Db, keys?: readonly string[]): Promise<{ model_key: string; n: number }[]> {
    return keys ? db.query(COUNTED_AMONG, [refsOf(keys)]) : db.query(COUNTED, []);
  }
}

/** Tells who decides about models which processes name them; all of processes that an application of operators needs. */
@Module({ imports: [InferenceModule], providers: [ProcessModels] })
export class ProcessModelsModule {
  constructor(users: ModelUsers, models: ProcessModels) {
    users.register(models);
  }
}
