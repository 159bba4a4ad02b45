/**
 * Whether a caller is a member with a live credential, as a condition in SQL: for the statements of hot paths, that commit by themselves
 * and cannot afford another one that asks (see `PrincipalStore.standing`). It takes no locks, so it is true as the statement begins.
 *
 * @param by SQL of each id; a credential of null is the system, whom nobody can lock out
 */
export const memberStands = ({
  credential,
  user,
  org,
}: Record<'credential' | 'user' | 'org', string>): string => `(${credential} IS NULL OR (
  EXISTS (SELECT FROM memberships sm JOIN organizations so ON so.id = sm.org_id JOIN users su ON su.id = sm.user_id
    WHERE sm.org_id = ${org} AND sm.user_id = ${user} AND so.deleted_at IS NULL AND su.deactivated_at IS NULL
      AND (so.suspended_at IS NULL OR EXISTS (SELECT FROM platform_admins sp WHERE sp.user_id = su.id)))
  AND (EXISTS (SELECT FROM sessions ss WHERE ss.id = ${credential} AND ss.revoked_at IS NULL AND ss.expires_at > now())
    OR EXISTS (SELECT FROM api_tokens st WHERE st.id = ${credential} AND st.revoked_at IS NULL AND (st.expires_at IS NULL OR st.expires_at > now())))))`;
