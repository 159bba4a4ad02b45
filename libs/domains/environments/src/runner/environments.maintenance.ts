import { Injectable } from '@nestjs/common';
import { Maintenance } from '@aps/platform/maintenance';
import { CommandsRepository } from '../commands/commands.repository';
import { EnvironmentLog } from '../environment-log';

const AT_ONCE = 100;
const FORGOTTEN = 1_000;

/** Ends commands that nobody ends any more, tells of machines that are gone, and forgets what is old. */
@Injectable()
export class EnvironmentsMaintenance {
  constructor(maintenance: Maintenance, commands: CommandsRepository, log: EnvironmentLog) {
    maintenance.register({ name: 'environment_commands', everyS: 5, batch: AT_ONCE, run: () => commands.sweep(AT_ONCE) });
    maintenance.register({ name: 'environment_machines', everyS: 5, batch: AT_ONCE, run: () => log.tellSilent(AT_ONCE) });
    maintenance.register({ name: 'environment_history', everyS: 300, batch: FORGOTTEN, run: () => commands.forget(FORGOTTEN) });
    maintenance.register({ name: 'environment_images', everyS: 60, batch: AT_ONCE, run: () => log.giveUpValidations(AT_ONCE) });
  }
}
