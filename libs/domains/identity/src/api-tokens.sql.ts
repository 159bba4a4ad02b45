import { statement } from '@aps/platform/database';

/** What could be used now of a user's tokens. */
const LIVE = 'user_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';
export const COUNT_LIVE = statement<{ n: number }>(`SELECT count(*)::int AS n FROM api_tokens WHERE ${LIVE}`);
export const REVOKE_LIVE = statement(`UPDATE api_tokens SET revoked_at = now() WHERE ${LIVE}`);
