import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import type { Db } from '@aps/platform/database';

/** An agent and the model it names. */
export interface AgentModel {
  id: string;
  name: string;
  model: string;
}

/** What the agents domain, which stands above, tells about the models that agents name. */
export interface AgentModelReader {
  /** Agents that name a model which is not in the list. */
  agentsOutside(db: Db, scope: OrgScope, allowed: readonly string[]): Promise<AgentModel[]>;
}

/** Where domains above say who uses models. They register when they start; an application without them has no such users. */
@Injectable()
export class ModelUsers {
  private agents?: AgentModelReader;

  register(agents: AgentModelReader): void {
    this.agents = agents;
  }

  /** Agents that an allowlist leaves out; an empty list leaves out nobody. */
  async agentsOutside(db: Db, scope: OrgScope, allowed: readonly string[]): Promise<AgentModel[]> {
    return allowed.length && this.agents ? this.agents.agentsOutside(db, scope, allowed) : [];
  }
}
