import { Injectable } from '@nestjs/common';
import type { AgentContext } from '@aps/agents';
import { DecisionLog } from '@aps/decisions';
import { ToolCatalog, type ToolSet } from '@aps/tools';
import type { OwnedTurn } from './running-turn';

/** What of a turn says what it may call. */
type GrantedTurn = Pick<OwnedTurn, 'org_id' | 'principal_id' | 'enabled_scopes' | 'origin'>;

/** Finds out what a turn may call. */
@Injectable()
export class TurnTools {
  constructor(
    private readonly catalog: ToolCatalog,
    private readonly decisionLog: DecisionLog,
  ) {}

  /** By the grants of the agent's sealed revision, its team and its project, less what its chat has switched off. Fixed when the turn is taken up. */
  async of({ org_id: orgId, principal_id: principalId, enabled_scopes, origin }: GrantedTurn, config: AgentContext): Promise<ToolSet> {
    const grants = { ...config, enabled_scopes, origin, decision_log: await this.decisionLog.isOn(orgId) };
    return this.catalog.of({ orgId, principalId, grants });
  }
}
