import { Module } from '@nestjs/common';
import { AgentsModule } from '@aps/agents';
import { ProjectsQueries } from './projects.queries';
import { ResourcesRepository } from './resources.repository';
import { ProjectResources } from './resources.service';

const exported = [ProjectsQueries, ProjectResources];

@Module({ imports: [AgentsModule], providers: [...exported, ResourcesRepository], exports: [AgentsModule, ...exported] })
export class ProjectsModule {}
