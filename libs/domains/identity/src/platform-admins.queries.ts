import type { PlatformAdminRow, User } from '@aps/entities';
import { advisoryLock, Listing, statement, type Tx } from '@aps/platform/database';

/** A platform administrator. */
export interface PlatformAdminView extends Pick<PlatformAdminRow, 'user_id' | 'created_at'>, Pick<User, 'email' | 'name'> {
  /** Null for the first one, whom the configuration names. */
  added_by: { user_id: string; email: string } | null;
}

/** In the order in which they were added. */
export const PLATFORM_ADMINS = new Listing<PlatformAdminView, object>({
  key: 'p.user_id',
  select: `p.user_id, u.email, u.name, CASE WHEN a.id IS NOT NULL THEN jsonb_build_object('user_id', a.id, 'email', a.email) END AS added_by, p.created_at`,
  from: 'platform_admins p JOIN users u ON u.id = p.user_id LEFT JOIN users a ON a.id = p.added_by',
  order: 'p.created_at, p.user_id',
});
const IS_NEEDED = statement<{ needed: boolean }>(`
  SELECT EXISTS (SELECT FROM platform_admins WHERE user_id = $1)
    AND NOT EXISTS (SELECT FROM platform_admins p JOIN users u ON u.id = p.user_id WHERE p.user_id <> $1 AND u.deactivated_at IS NULL) AS needed`);

/** Everything that may lower the number of administrators who can act takes this first; else two of them undo each other. */
export const lockAdmins = (tx: Tx): Promise<void> => advisoryLock(tx, 'platform-admins');

/** Whether a user is an administrator and nobody else could administer the platform; deactivated users cannot. */
export const isNeededAdmin = async (tx: Tx, userId: string): Promise<boolean> => (await tx.query(IS_NEEDED, [userId]))[0].needed;
