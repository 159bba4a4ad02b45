import { Injectable } from '@nestjs/common';
import type { ApiToken } from '@aps/entities';
import { sliceBounds, statement, type Db, type Tx } from '@aps/platform/database';

/** A token as its owner sees it ever after. */
export type ApiTokenRow = Omit<ApiToken, 'token_hash' | 'user_id' | 'revoked_at'>;

const COLUMNS = 'id, name, description, scope, org_id, prefix, last4, last_used_at, expires_at, created_at';
/** $2: the organization that the caller's own token is pinned to; such a caller sees its kin only. */
const MINE = 'user_id = $1 AND revoked_at IS NULL AND ($2::uuid IS NULL OR org_id = $2)';

const LIST = statement<ApiTokenRow>(`SELECT ${COLUMNS} FROM api_tokens WHERE ${MINE} ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4`);
const COUNT = statement<{ n: number }>(`SELECT count(*)::int AS n FROM api_tokens WHERE ${MINE}`);
const REVOKE = statement<ApiTokenRow>(`UPDATE api_tokens SET revoked_at = now() WHERE ${MINE} AND id = $3 RETURNING ${COLUMNS}`);
const LIVE = 'user_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';
const COUNT_LIVE = statement<{ n: number }>(`SELECT count(*)::int AS n FROM api_tokens WHERE ${LIVE}`);
const REVOKE_ALL = statement(`UPDATE api_tokens SET revoked_at = now() WHERE ${LIVE}`);
const INSERT = statement<ApiTokenRow>(`
  INSERT INTO api_tokens (id, user_id, name, description, scope, org_id, token_hash, prefix, last4, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(days => $10::int))
  RETURNING ${COLUMNS}`);

@Injectable()
export class ApiTokensRepository {
  async list(
    db: Db,
    userId: string,
    orgPin: string | null,
    page: { limit?: number; offset?: number },
  ): Promise<{ items: ApiTokenRow[]; total: number }> {
    const items = await db.query(LIST, [userId, orgPin, ...sliceBounds(page)]);
    const [{ n }] = await db.query(COUNT, [userId, orgPin]);
    return { items, total: n };
  }

  /** Without `expiresInDays` it never expires. */
  async insert(
    tx: Tx,
    token: Pick<ApiToken, 'id' | 'user_id' | 'name' | 'description' | 'scope' | 'org_id' | 'token_hash' | 'prefix' | 'last4'>,
    expiresInDays: number | null,
  ): Promise<ApiTokenRow> {
    const values = [
      token.id,
      token.user_id,
      token.name,
      token.description,
      token.scope,
      token.org_id,
      token.token_hash,
      token.prefix,
      token.last4,
      expiresInDays,
    ];
    return (await tx.query(INSERT, values))[0];
  }

  /** How many could be used now. */
  async countLive(tx: Tx, userId: string): Promise<number> {
    return (await tx.query(COUNT_LIVE, [userId]))[0].n;
  }

  /** @returns how many could be used until now */
  revokeAllOf(tx: Tx, userId: string): Promise<number> {
    return tx.execute(REVOKE_ALL, [userId]);
  }

  /** @returns null when it is none of the caller's live tokens */
  async revoke(tx: Tx, userId: string, orgPin: string | null, id: string): Promise<ApiTokenRow | null> {
    return (await tx.query(REVOKE, [userId, orgPin, id]))[0] ?? null;
  }
}
