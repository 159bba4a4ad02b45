import { Module } from '@nestjs/common';
import { EnvironmentsModule, ExecToolsModule } from '../environments.module';
import { SessionParts } from '../machines/machine-session';
import { Machines } from '../machines/machines.service';
import { DaemonController } from './daemon.controller';
import { EnvironmentTopics } from './environment-topics';
import { EnvironmentsController } from './environments.controller';
import { InstallController } from './install.controller';
import { MachineSockets } from './machine-sockets';

@Module({
  imports: [EnvironmentsModule, ExecToolsModule],
  controllers: [EnvironmentsController, DaemonController, InstallController],
  providers: [EnvironmentTopics, Machines, MachineSockets, SessionParts],
})
export class EnvironmentsHttpModule {}
