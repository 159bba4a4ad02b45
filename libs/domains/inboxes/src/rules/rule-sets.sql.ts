import { statement } from '@aps/platform/database';

/** A definition that messages run under, which is never changed: drafts are, and no message runs under one. */
export const DEFINITION = statement<{ definition: Record<string, unknown>; size: number }>(`
  SELECT definition, octet_length(definition::text) AS size FROM inbox_revisions
  WHERE org_id = $1 AND id = $2 AND status IN ('deployed', 'archived')`);
