import { Injectable } from '@nestjs/common';
import type { User } from '@aps/entities';
import { statement, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';

/** A user as everybody but the log-in sees it. */
export type UserRow = Omit<User, 'email_canonical' | 'password_hash'>;
/** What the log-in sees, too. */
export type UserWithHash = Omit<User, 'email_canonical'>;

const COLUMNS = 'id, email, name, avatar_url, email_verified_at, deactivated_at, created_at, updated_at';

const BY_EMAIL = statement<UserRow>(`SELECT ${COLUMNS} FROM users WHERE email_canonical = $1`);
const BY_ID = statement<UserRow>(`SELECT ${COLUMNS} FROM users WHERE id = $1`);
const WITH_HASH_BY_EMAIL = statement<UserWithHash>(`SELECT ${COLUMNS}, password_hash FROM users WHERE email_canonical = $1`);
const WITH_HASH_BY_ID = statement<UserWithHash>(`SELECT ${COLUMNS}, password_hash FROM users WHERE id = $1`);
// NO KEY: rows that refer to the user (sessions, memberships) can still be inserted meanwhile.
const LOCK = statement<UserWithHash>(`SELECT ${COLUMNS}, password_hash FROM users WHERE id = $1 FOR NO KEY UPDATE`);
const INSERT = statement<UserRow>(
  `INSERT INTO users (id, email, email_canonical, name, password_hash, email_verified_at) VALUES ($1, $2, $3, $4, $5, CASE WHEN $6::boolean THEN now() END) RETURNING ${COLUMNS}`,
);
const SET_VERIFIED = statement('UPDATE users SET email_verified_at = now() WHERE id = $1 AND email_verified_at IS NULL');
const SET_PASSWORD = statement('UPDATE users SET password_hash = $2, updated_at = now() WHERE id = $1');
const SET_PROFILE = statement<UserRow>(
  `UPDATE users SET name = $2, avatar_url = $3, updated_at = now() WHERE id = $1 RETURNING ${COLUMNS}`,
);
const SET_DEACTIVATED = statement<UserRow>(
  `UPDATE users SET deactivated_at = CASE WHEN $2::boolean THEN now() END, updated_at = now() WHERE id = $1 RETURNING ${COLUMNS}`,
);

@Injectable()
export class UsersRepository {
  async byEmail(db: Db, email: string): Promise<UserRow | null> {
    return (await db.query(BY_EMAIL, [canonicalEmail(email)]))[0] ?? null;
  }

  async byId(db: Db, id: string): Promise<UserRow | null> {
    return (await db.query(BY_ID, [id]))[0] ?? null;
  }

  async withHashByEmail(db: Db, email: string): Promise<UserWithHash | null> {
    return (await db.query(WITH_HASH_BY_EMAIL, [canonicalEmail(email)]))[0] ?? null;
  }

  async withHashById(db: Db, id: string): Promise<UserWithHash | null> {
    return (await db.query(WITH_HASH_BY_ID, [id]))[0] ?? null;
  }

  /** Reads a user who cannot change until the transaction ends. */
  async lock(tx: Tx, id: string): Promise<UserWithHash | null> {
    return (await tx.query(LOCK, [id]))[0] ?? null;
  }

  async insert(tx: Tx, user: Pick<User, 'id' | 'email' | 'name' | 'password_hash'> & { proven: boolean }): Promise<UserRow> {
    return (await tx.query(INSERT, [user.id, user.email, canonicalEmail(user.email), user.name, user.password_hash, user.proven]))[0];
  }

  async setVerified(tx: Tx, id: string): Promise<void> {
    await tx.execute(SET_VERIFIED, [id]);
  }

  async setPassword(tx: Tx, id: string, passwordHash: string): Promise<void> {
    await tx.execute(SET_PASSWORD, [id, passwordHash]);
  }

  async setProfile(tx: Tx, id: string, profile: Pick<User, 'name' | 'avatar_url'>): Promise<UserRow> {
    return (await tx.query(SET_PROFILE, [id, profile.name, profile.avatar_url]))[0];
  }

  async setDeactivated(tx: Tx, id: string, deactivated: boolean): Promise<UserRow> {
    return (await tx.query(SET_DEACTIVATED, [id, deactivated]))[0];
  }
}
