import { Injectable } from '@nestjs/common';
import { RolloutChats, type ArmCount } from '@aps/agents';
import { listTally } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { statement, type Db } from '@aps/platform/database';

const COUNT = statement<ArmCount>(`
  SELECT t.of_id AS rollout_id, nullif(t.facet, '') AS arm_label, sum(t.n)::int AS chats FROM ${listTally('chats')}
  WHERE t.of_id = ANY($1::uuid[]) AND t.org_id = $2 GROUP BY t.of_id, t.facet HAVING sum(t.n) > 0`);

/** Counts every chat that an arm of a rollout ever got. */
@Injectable()
export class ChatsOfRollouts extends RolloutChats {
  count(db: Db, scope: OrgScope, rolloutIds: string[]): Promise<ArmCount[]> {
    return db.query(COUNT, [rolloutIds, scope.orgId]);
  }
}
