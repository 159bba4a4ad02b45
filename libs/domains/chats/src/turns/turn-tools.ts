import { Injectable } from '@nestjs/common';
import type { AgentContext } from '@aps/agents';
import { DecisionLog } from '@aps/decisions';
import { EnvironmentsQueries } from '@aps/environments';
import { covers, EXEC_SCOPE, ToolCatalog, type ToolSet } from '@aps/tools';
import type { OwnedTurn } from './running-turn';

/** What of a turn says what it may call. */
type GrantedTurn = Pick<OwnedTurn, 'org_id' | 'chat_id' | 'principal_id' | 'enabled_scopes' | 'origin'>;

/** Finds out what a turn may call. */
@Injectable()
export class TurnTools {
  constructor(
    private readonly catalog: ToolCatalog,
    private readonly decisionLog: DecisionLog,
    private readonly environments: EnvironmentsQueries,
  ) {}

  /** By the grants of the agent's sealed revision, its team and its project, less what its chat has switched off. Fixed when the turn is taken up. */
  async of(turn: GrantedTurn, config: AgentContext): Promise<ToolSet> {
    const { org_id: orgId, principal_id: principalId, enabled_scopes, origin } = turn;
    // Who may run no commands needs no place for them.
    const [decision_log, environment] = await Promise.all([
      this.decisionLog.isOn(orgId),
      covers(config.allowed_tools, EXEC_SCOPE) ? this.environments.placeOf(turn.chat_id, config.environment_id) : null,
    ]);
    return this.catalog.of({ orgId, principalId, grants: { ...config, enabled_scopes, origin, decision_log, environment } });
  }
}
