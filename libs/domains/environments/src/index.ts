export { CommandsRepository } from './commands/commands.repository';
export { EnvironmentsQueries } from './environments.queries';
export * from './environments.module';
export { CommandRunner } from './runner/command-runner';
export { ImageValidations } from './runner/image-validation';
export { Sandboxes } from './sandbox/sandboxes';
