import { Injectable, Optional } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { listTally, Rollout } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, mapListed, OrgTable, type Db, type Listed, type Slice } from '@aps/platform/database';
import { AgentsQueries } from './agents.queries';

export interface ArmCount {
  rollout_id: string;
  arm_label: string | null;
  chats: number;
}

/** How many chats each arm of a rollout ever got. Chats stand above agents, so the chats domain binds this port; an application without it has none. */
export abstract class RolloutChats {
  abstract count(db: Db, scope: OrgScope, rolloutIds: string[]): Promise<ArmCount[]>;
}

/** A rollout as it is shown. */
export interface RolloutView extends Omit<Rollout, 'arms'> {
  billing_unit: 'credits' | 'usd';
  arms: (Rollout['arms'][number] & { chat_count: number })[];
}

@Injectable()
export class RolloutsQueries {
  private readonly rollouts = new OrgTable(Rollout, 'Rollout', { from: listTally('rollouts'), where: { agent_id: 't.of_id = $' } });

  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
    private readonly entitlements: Entitlements,
    @Optional() private readonly chats?: RolloutChats,
  ) {}

  /** Newest first. */
  async list(scope: OrgScope, agentRef: string, page: Slice): Promise<Listed<RolloutView>> {
    const agent_id = await this.agents.idOf(scope, agentRef);
    const rollouts = await this.rollouts.page(this.db, scope, { agent_id }, { started_at: 'DESC', id: 'DESC' }, page);
    return mapListed(rollouts, (items) => this.viewed(scope, items));
  }

  async get(scope: OrgScope, agentRef: string, id: string): Promise<RolloutView> {
    const agent_id = await this.agents.idOf(scope, agentRef);
    return (await this.viewed(scope, [await this.rollouts.get(this.db, scope, { agent_id, id })]))[0];
  }

  private async viewed(scope: OrgScope, rollouts: Rollout[]): Promise<RolloutView[]> {
    const billing_unit = (await this.entitlements.has(scope.orgId, 'enforces_credits')) ? 'credits' : 'usd';
    const ids = rollouts.map((r) => r.id);
    const counts = ids.length && this.chats ? await this.chats.count(this.db, scope, ids) : [];
    return rollouts.map((rollout) => {
      const own = counts.filter((c) => c.rollout_id === rollout.id);
      // A deployment has one arm, and its chats carry no label.
      const chatsOf = (label: string) =>
        own.filter((c) => rollout.kind === 'deploy' || c.arm_label === label).reduce((sum, c) => sum + c.chats, 0);
      return { ...rollout, billing_unit, arms: rollout.arms.map((arm) => ({ ...arm, chat_count: chatsOf(arm.label) })) };
    });
  }
}
