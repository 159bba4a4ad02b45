import { Module } from '@nestjs/common';
import { AgentsModule, ScopeOwners } from '@aps/agents';
import { ConnectionDependents, ConnectionListings, ConnectionsModule } from '@aps/connections';
import { ChatsModule } from '@aps/chats';
import { DefinitionsModule } from './definitions.module';
import { ProcessModelsModule } from './process-models.queries';
import { ProcessesQueries } from './processes.queries';
import { ProcessesService } from './processes.service';
import { CallsQueries } from './reading/calls.queries';
import { RunsQueries } from './reading/runs.queries';
import { DeployCheck } from './revisions/deploy-check';
import { ProcessRevisions } from './revisions/revisions.service';
import { Staleness } from './revisions/staleness';
import { StaleProcesses } from './revisions/staleness.maintenance';
import { RunServicesModule } from './runs/run-services.module';

const exported = [CallsQueries, ProcessesQueries, ProcessesService, ProcessRevisions, RunsQueries];

/** Processes as their organization sees them. */
@Module({
  imports: [AgentsModule, ChatsModule, ConnectionsModule, DefinitionsModule, ProcessModelsModule, RunServicesModule],
  providers: [...exported, DeployCheck],
  exports: [DefinitionsModule, RunServicesModule, ...exported],
})
export class ProcessesModule {
  constructor(
    owners: ScopeOwners,
    dependents: ConnectionDependents,
    listings: ConnectionListings,
    processes: ProcessesQueries,
    staleness: Staleness,
  ) {
    owners.register('process', processes);
    dependents.register({ of: (db, scope, connections) => processes.callingConnections(db, scope, connections) });
    listings.onListed((orgId) => staleness.recheck(orgId));
  }
}

/** What is done for processes again and again, for an application that has the tools of steps. */
@Module({ imports: [DefinitionsModule], providers: [StaleProcesses] })
export class ProcessesMaintenanceModule {}
