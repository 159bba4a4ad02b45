import { statement } from '@aps/platform/database';

/** What could be used now of a user's tokens. */
const LIVE = 'user_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';
export const COUNT_LIVE = statement<{ n: number }>(`SELECT count(*)::int AS n FROM api_tokens WHERE ${LIVE}`);
// What they did stands in the audit log by itself.
const OLD = `(expires_at < now() - interval '30 days' OR revoked_at < now() - interval '30 days')`;
/** Removes some that have long been of no use. Values: how many. */
export const PURGE_API_TOKENS = statement(`DELETE FROM api_tokens WHERE id IN (SELECT id FROM api_tokens WHERE ${OLD} LIMIT $1)`);
export const REVOKE_LIVE = statement(`UPDATE api_tokens SET revoked_at = now() WHERE ${LIVE}`);
