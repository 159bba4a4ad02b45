import type { ModelsCounted, ModelUser, ModelUserReader } from '@aps/inference';
import { isOfLive } from '@aps/guards';
import { statement } from '@aps/platform/database';

/** As `modelsOf` finds them in a rule set: one whose stages are null has none. Drafts are asked for their models when they are deployed. */
const NAMED_MODELS = `
  SELECT DISTINCT i.id, i.org_id, i.name, stage->>'model' AS model_key
  FROM inbox_revisions r JOIN inboxes i ON i.id = r.inbox_id AND i.deleted_at IS NULL CROSS JOIN jsonb_path_query(r.definition, '$.stages[*]') stage
  WHERE r.status = 'deployed' AND stage->>'kind' = 'classifier' AND stage->>'model' IS NOT NULL AND ($1::text[] IS NULL OR stage->>'model' = ANY($1))`;
const NAMING_MODELS = statement<ModelUser>(
  `SELECT * FROM (${NAMED_MODELS}) n WHERE ($3::uuid IS NULL OR n.org_id = $3) AND ${isOfLive('n')} ORDER BY n.name, n.id LIMIT $2`,
);
const MODELS_COUNTED = statement<ModelsCounted>(
  `SELECT n.model_key, count(*)::int AS n FROM (${NAMED_MODELS}) n WHERE ${isOfLive('n')} GROUP BY n.model_key`,
);

/** Inboxes whose deployed rules have a model classify messages. */
export const INBOX_MODELS: ModelUserReader = { kind: 'inbox', naming: NAMING_MODELS, counted: MODELS_COUNTED };
