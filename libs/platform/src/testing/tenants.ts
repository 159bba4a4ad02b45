import { hashToken, newSessionToken } from '@aps/platform/crypto';
import type { Db } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { sql } from './sql';

export interface TestUser {
  id: string;
  /** Bearer token of a session. */
  token: string;
}

/** A signed-in user, with a role in each of these organizations. Written as rows: specs of rooms that know no command for it need users, too. */
export async function insertUser(db: Db, roles: Record<string, string> = {}): Promise<TestUser> {
  const [id, token] = [uuidv7(), newSessionToken()];
  await db.execute(
    sql(
      `INSERT INTO users (id, email, email_canonical, name, password_hash, email_verified_at) VALUES ($1, $2, $2, 'Test', 'none', now())`,
    ),
    [id, `${id}@example.com`],
  );
  await db.execute(sql(`INSERT INTO sessions (id, user_id, token_hash, expires_at) VALUES ($1, $2, $3, now() + interval '1 day')`), [
    uuidv7(),
    id,
    hashToken(token),
  ]);
  for (const [orgId, role] of Object.entries(roles))
    await db.execute(sql('INSERT INTO memberships (id, org_id, user_id, role) VALUES ($1, $2, $3, $4)'), [uuidv7(), orgId, id, role]);
  return { id, token };
}

/** An organization with an owner and a member. */
export async function insertOrganization(db: Db): Promise<{ id: string; owner: TestUser; member: TestUser }> {
  const id = uuidv7();
  await db.execute(sql(`INSERT INTO organizations (id, name, slug) VALUES ($1, 'Test', $2)`), [id, `test-${id}`]);
  const owner = await insertUser(db, { [id]: 'OWNER' });
  return { id, owner, member: await insertUser(db, { [id]: 'MEMBER' }) };
}
