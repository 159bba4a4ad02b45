import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { isUuid, refuseField } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import { ProcessRefs } from '@aps/processes';
import type { Target } from './inboxes.policy';

/** Agents and processes that messages can be handed to. */
@Injectable()
export class Handlers {
  constructor(
    private readonly agents: AgentsQueries,
    private readonly processes: ProcessRefs,
  ) {}

  /** Whether there is such a live one in the organization. Of a process nothing need be deployed yet. */
  async exists(tx: Tx, scope: OrgScope, { kind, id }: Target): Promise<boolean> {
    if (kind === 'process') return this.processes.exists(tx, scope.orgId, id);
    return isUuid(id) && (await this.agents.forNewChat(tx, scope, id)) !== null;
  }

  /** Whether it takes what it is handed: of a process, one is deployed. */
  async isReady(tx: Tx, scope: OrgScope, target: Target): Promise<boolean> {
    if (target.kind === 'process') return this.processes.isDeployed(tx, scope.orgId, target.id);
    return this.exists(tx, scope, target);
  }

  /** @throws DomainError 422 `unknown_reference` */
  async require(tx: Tx, scope: OrgScope, target: Target): Promise<void> {
    if (!(await this.exists(tx, scope, target))) throw refuseField('unknown_reference', ['target_id'], `There is no such ${target.kind}.`);
  }
}
