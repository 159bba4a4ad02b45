import { Injectable } from '@nestjs/common';
import { RolloutChats, type ArmCount } from '@aps/agents';
import type { OrgScope } from '@aps/guards';
import { statement, type Db } from '@aps/platform/database';

// By the rollouts alone, see the entity; that they are of this organization costs no index. Deleted chats were assigned, too.
const COUNT = statement<ArmCount>(`
  SELECT rollout_id, arm_label, count(*)::int AS chats FROM chats
  WHERE rollout_id = ANY($1::uuid[]) AND org_id IS NOT DISTINCT FROM $2 GROUP BY rollout_id, arm_label`);

/** Counts every chat that an arm of a rollout ever got. */
@Injectable()
export class ChatsOfRollouts extends RolloutChats {
  count(db: Db, scope: OrgScope, rolloutIds: string[]): Promise<ArmCount[]> {
    return db.query(COUNT, [rolloutIds, scope.orgId]);
  }
}
