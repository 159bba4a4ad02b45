export { CommandsRepository } from './commands/commands.repository';
export { EnvironmentsQueries } from './environments.queries';
export { EnvironmentsModule, ExecToolsModule } from './environments.module';
