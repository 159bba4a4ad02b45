import { Injectable } from '@nestjs/common';
import { Database, statement } from '@aps/platform/database';

/** Whoever the gateway says is calling, as the database knows them now. */
export interface Operator {
  user_id: string;
  email: string;
  name: string;
  deactivated: boolean;
  is_platform_admin: boolean;
}

const BY_ID = statement<Operator>(`
  SELECT u.id AS user_id, u.email, u.name, u.deactivated_at IS NOT NULL AS deactivated, p.user_id IS NOT NULL AS is_platform_admin
  FROM users u LEFT JOIN platform_admins p ON p.user_id = u.id
  WHERE u.id = $1`);

/** Never cached: what admin-api does is rare and weighty, and a demotion must hold at once. */
@Injectable()
export class OperatorQueries {
  constructor(private readonly db: Database) {}

  async byId(userId: string): Promise<Operator | undefined> {
    const [row] = await this.db.query(BY_ID, [userId]);
    return row;
  }
}
