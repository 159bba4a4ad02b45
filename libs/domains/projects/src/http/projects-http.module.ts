import { Module } from '@nestjs/common';
import { ProjectsModule } from '../projects.module';
import { ProjectsController } from './projects.controller';
import { ProjectResourcesController } from './resources.controller';

@Module({ imports: [ProjectsModule], controllers: [ProjectsController, ProjectResourcesController] })
export class ProjectsHttpModule {}
