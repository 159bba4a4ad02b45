import { Injectable, OnModuleInit } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { ModelUsers, type AgentModel, type AgentModelReader } from '@aps/inference';
import type { Db } from '@aps/platform/database';
import { AgentsQueries } from './agents.queries';

/** Tells who decides about models which agents name them. */
@Injectable()
export class AgentModels implements AgentModelReader, OnModuleInit {
  constructor(
    private readonly users: ModelUsers,
    private readonly agents: AgentsQueries,
  ) {}

  onModuleInit(): void {
    this.users.register(this);
  }

  agentsOutside(db: Db, scope: OrgScope, allowed: readonly string[]): Promise<AgentModel[]> {
    return this.agents.withModelOutside(db, scope, allowed);
  }
}
