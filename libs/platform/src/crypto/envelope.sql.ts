import { statement } from '@aps/platform/database';

export const KEY_OF_ORG = statement<DataKeyRow>('SELECT id, org_id, master_version, wrapped_key FROM data_keys WHERE org_id = $1');
export const KEY_BY_ID = statement<DataKeyRow>('SELECT id, org_id, master_version, wrapped_key FROM data_keys WHERE id = $1');
export const INSERT = statement(
  'INSERT INTO data_keys (id, org_id, master_version, wrapped_key) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
);
export const STALE = statement<DataKeyRow>(`
  SELECT id, org_id, master_version, wrapped_key FROM data_keys
  WHERE master_version < $1 ORDER BY id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`);
export const REWRAP = statement('UPDATE data_keys SET master_version = $2, wrapped_key = $3, rewrapped_at = now() WHERE id = $1');
export interface DataKeyRow {
  id: string;
  org_id: string | null;
  master_version: number;
  wrapped_key: Buffer;
}
