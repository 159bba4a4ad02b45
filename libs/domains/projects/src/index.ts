export * from './projects.module';
export { ProjectsQueries, type ProjectView } from './projects.queries';
export { ProjectResources } from './resources.service';
