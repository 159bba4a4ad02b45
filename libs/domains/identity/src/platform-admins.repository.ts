import { Injectable } from '@nestjs/common';
import { advisoryLock, statement, type Db, type Tx } from '@aps/platform/database';

/** A platform administrator. */
export interface PlatformAdminView {
  user_id: string;
  email: string;
  name: string;
  /** Null for the first one, whom the configuration names. */
  added_by: { user_id: string; email: string } | null;
  created_at: Date;
}

const VIEW = `
  SELECT p.user_id, u.email, u.name, CASE WHEN a.id IS NOT NULL THEN jsonb_build_object('user_id', a.id, 'email', a.email) END AS added_by, p.created_at
  FROM platform_admins p JOIN users u ON u.id = p.user_id LEFT JOIN users a ON a.id = p.added_by`;

const LIST = statement<PlatformAdminView>(`${VIEW} ORDER BY p.created_at, p.user_id`);
const BY_ID = statement<PlatformAdminView>(`${VIEW} WHERE p.user_id = $1`);
const INSERT = statement('INSERT INTO platform_admins (user_id, added_by) VALUES ($1, $2) ON CONFLICT (user_id) DO NOTHING');
const DELETE = statement('DELETE FROM platform_admins WHERE user_id = $1');
const IS_ADMIN = statement('SELECT 1 FROM platform_admins WHERE user_id = $1');
const ANY = statement('SELECT 1 FROM platform_admins LIMIT 1');
const OTHERS = statement(`
  SELECT 1 FROM platform_admins p JOIN users u ON u.id = p.user_id WHERE p.user_id <> $1 AND u.deactivated_at IS NULL LIMIT 1`);

@Injectable()
export class PlatformAdminsRepository {
  /** Everything that may lower the number of administrators who can act takes this first; else two of them undo each other. */
  async lock(tx: Tx): Promise<void> {
    await advisoryLock(tx, 'platform-admins');
  }

  list(db: Db): Promise<PlatformAdminView[]> {
    return db.query(LIST);
  }

  async byId(db: Db, userId: string): Promise<PlatformAdminView> {
    return (await db.query(BY_ID, [userId]))[0];
  }

  /** @returns false when the user was one already */
  async insert(tx: Tx, userId: string, addedBy: string | null): Promise<boolean> {
    return (await tx.execute(INSERT, [userId, addedBy])) > 0;
  }

  async remove(tx: Tx, userId: string): Promise<void> {
    await tx.execute(DELETE, [userId]);
  }

  async isAdmin(db: Db, userId: string): Promise<boolean> {
    return (await db.query(IS_ADMIN, [userId])).length > 0;
  }

  async exist(db: Db): Promise<boolean> {
    return (await db.query(ANY)).length > 0;
  }

  /** Whether somebody else could still administer the platform; deactivated users cannot. */
  async othersCanAct(tx: Tx, userId: string): Promise<boolean> {
    return (await tx.query(OTHERS, [userId])).length > 0;
  }
}
