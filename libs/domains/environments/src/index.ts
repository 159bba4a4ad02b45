export { CommandsRepository } from './commands/commands.repository';
export { EnvironmentsQueries } from './environments.queries';
export * from './environments.module';
