import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '@aps/platform/database';

const LIVE = 'user_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())';
const COUNT_LIVE = statement<{ n: number }>(`SELECT count(*)::int AS n FROM api_tokens WHERE ${LIVE}`);
const REVOKE_ALL = statement(`UPDATE api_tokens SET revoked_at = now() WHERE ${LIVE}`);

/** What could be used now of a user's API tokens. */
@Injectable()
export class ApiTokensRepository {
  async countLive(tx: Tx, userId: string): Promise<number> {
    return (await tx.query(COUNT_LIVE, [userId]))[0].n;
  }

  /** @returns how many they were */
  revokeLive(tx: Tx, userId: string): Promise<number> {
    return tx.execute(REVOKE_ALL, [userId]);
  }
}
