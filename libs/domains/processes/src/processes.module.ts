import { Module } from '@nestjs/common';
import { AgentsModule, ScopeOwners } from '@aps/agents';
import { ChatsModule } from '@aps/chats';
import { DefinitionsModule } from './definitions.module';
import { ProcessModelsModule } from './process-models.queries';
import { ProcessesQueries } from './processes.queries';
import { ProcessesService } from './processes.service';
import { CallsQueries } from './reading/calls.queries';
import { RunsQueries } from './reading/runs.queries';
import { DeployCheck } from './revisions/deploy-check';
import { ProcessRevisions } from './revisions/revisions.service';
import { StaleProcesses } from './revisions/staleness.maintenance';
import { RunServicesModule } from './runs/run-services.module';

const exported = [CallsQueries, ProcessesQueries, ProcessesService, ProcessRevisions, RunsQueries];

/** Processes as their organization sees them. */
@Module({
  imports: [AgentsModule, ChatsModule, DefinitionsModule, ProcessModelsModule, RunServicesModule],
  providers: [...exported, DeployCheck],
  exports: [DefinitionsModule, RunServicesModule, ...exported],
})
export class ProcessesModule {
  constructor(owners: ScopeOwners, processes: ProcessesQueries) {
    owners.register('process', processes);
  }
}

/** What is done for processes again and again, for an application that has the tools of steps. */
@Module({ imports: [DefinitionsModule], providers: [StaleProcesses] })
export class ProcessesMaintenanceModule {}
