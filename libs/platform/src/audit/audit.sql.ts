import { statement } from '@aps/platform/database';

export const INSERT = statement(`
  INSERT INTO audit_log (id, source, action, org_id, actor_id, target_kind, target_id, metadata, request_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`);
