import { Module } from '@nestjs/common';
import { InferenceModule, ModelUsers, type ModelsCounted, type ModelUser, type ModelUserReader } from '@aps/inference';
import { isOfLive } from '@aps/guards';
import { statement } from '@aps/platform/database';

const NAMED_MODELS = `
  SELECT p.id, p.org_id, p.name, substr(x.ref, 7) AS model_key
  FROM process_revisions r JOIN processes p ON p.id = r.process_id AND p.deleted_at IS NULL CROSS JOIN LATERAL unnest(r.refs) AS x(ref)
  WHERE r.status = 'deployed' AND x.ref LIKE 'model:%' AND ${isOfLive('p')}`;
const AMONG = 'r.refs && $1::text[] AND x.ref = ANY ($1)';
const NAMING = statement<ModelUser>(`${NAMED_MODELS} AND ${AMONG} AND ($3::uuid IS NULL OR p.org_id = $3) ORDER BY p.name, p.id LIMIT $2`);
const counted = (rows: string) => statement<ModelsCounted>(`SELECT n.model_key, count(*)::int AS n FROM (${rows}) n GROUP BY n.model_key`);
const COUNTED = counted(NAMED_MODELS);
const COUNTED_AMONG = counted(`${NAMED_MODELS} AND ${AMONG}`);

/** Processes that name a model where they are deployed. References are values, so that PostgreSQL knows how few revisions have them. */
const PROCESS_MODELS: ModelUserReader = {
  kind: 'process',
  refOf: (key) => `model:${key}`,
  naming: NAMING,
  counted: COUNTED_AMONG,
  countedAll: COUNTED,
};

/** Tells who decides about models which processes name them; all of processes that an application of operators needs. */
@Module({ imports: [InferenceModule] })
export class ProcessModelsModule {
  constructor(users: ModelUsers) {
    users.register(PROCESS_MODELS);
  }
}
