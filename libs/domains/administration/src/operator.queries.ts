import type { User } from '@aps/entities';
import { statement } from '@aps/platform/database';

/** Whoever the gateway says is calling, as the database knows them now. */
type Operator = Pick<User, 'email' | 'name'> & { userId: string; isPlatformAdmin: boolean; deactivated: boolean };

/** Asked for every request and never cached: what admin-api does is rare and weighty, and a demotion must hold at once. */
export const OPERATOR = statement<Operator>(`
  SELECT u.id AS "userId", u.email, u.name, u.deactivated_at IS NOT NULL AS deactivated, p.user_id IS NOT NULL AS "isPlatformAdmin"
  FROM users u LEFT JOIN platform_admins p ON p.user_id = u.id
  WHERE u.id = $1`);
