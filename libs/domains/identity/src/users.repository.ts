import { Injectable } from '@nestjs/common';
import type { User } from '@aps/entities';
import { statement, type Db, type Tx } from '@aps/platform/database';

/** A user as everybody but the log-in sees it. */
export type UserRow = Omit<User, 'password_hash'>;

const COLUMNS = 'id, email, name, avatar_url, deactivated_at, created_at, updated_at';

const BY_EMAIL = statement(`SELECT ${COLUMNS} FROM users WHERE lower(email) = lower($1)`);
const BY_ID = statement(`SELECT ${COLUMNS} FROM users WHERE id = $1`);
const WITH_HASH_BY_EMAIL = statement(`SELECT ${COLUMNS}, password_hash FROM users WHERE lower(email) = lower($1)`);
const WITH_HASH_BY_ID = statement(`SELECT ${COLUMNS}, password_hash FROM users WHERE id = $1`);
// NO KEY: rows that refer to the user (sessions, memberships) can still be inserted meanwhile.
const LOCK = statement(`SELECT ${COLUMNS}, password_hash FROM users WHERE id = $1 FOR NO KEY UPDATE`);
const INSERT = statement(`INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`);
const SET_PASSWORD = statement('UPDATE users SET password_hash = $2, updated_at = now() WHERE id = $1');
const SET_PROFILE = statement(`UPDATE users SET name = $2, avatar_url = $3, updated_at = now() WHERE id = $1 RETURNING ${COLUMNS}`);
const SET_DEACTIVATED = statement(
  `UPDATE users SET deactivated_at = CASE WHEN $2::boolean THEN now() END, updated_at = now() WHERE id = $1 RETURNING ${COLUMNS}`,
);

@Injectable()
export class UsersRepository {
  async byEmail(db: Db, email: string): Promise<UserRow | null> {
    return (await db.query<UserRow>(BY_EMAIL, [email]))[0] ?? null;
  }

  async byId(db: Db, id: string): Promise<UserRow | null> {
    return (await db.query<UserRow>(BY_ID, [id]))[0] ?? null;
  }

  async withHashByEmail(db: Db, email: string): Promise<User | null> {
    return (await db.query<User>(WITH_HASH_BY_EMAIL, [email]))[0] ?? null;
  }

  async withHashById(db: Db, id: string): Promise<User | null> {
    return (await db.query<User>(WITH_HASH_BY_ID, [id]))[0] ?? null;
  }

  /** Reads a user who cannot change until the transaction ends. */
  async lock(tx: Tx, id: string): Promise<User | null> {
    return (await tx.query<User>(LOCK, [id]))[0] ?? null;
  }

  async insert(tx: Tx, user: Pick<User, 'id' | 'email' | 'name' | 'password_hash'>): Promise<UserRow> {
    return (await tx.query<UserRow>(INSERT, [user.id, user.email, user.name, user.password_hash]))[0];
  }

  async setPassword(tx: Tx, id: string, passwordHash: string): Promise<void> {
    await tx.execute(SET_PASSWORD, [id, passwordHash]);
  }

  async setProfile(tx: Tx, id: string, profile: Pick<User, 'name' | 'avatar_url'>): Promise<UserRow> {
    return (await tx.query<UserRow>(SET_PROFILE, [id, profile.name, profile.avatar_url]))[0];
  }

  async setDeactivated(tx: Tx, id: string, deactivated: boolean): Promise<UserRow> {
    return (await tx.query<UserRow>(SET_DEACTIVATED, [id, deactivated]))[0];
  }
}
