import { Module } from '@nestjs/common';
import { EnvironmentsModule, ExecToolsModule } from '..';
import { Machines } from '../machines/machines.service';
import { DaemonController } from './daemon.controller';
import { EnvironmentTopics } from './environment-topics';
import { EnvironmentsController } from './environments.controller';

@Module({
  imports: [EnvironmentsModule, ExecToolsModule],
  controllers: [EnvironmentsController, DaemonController],
  providers: [EnvironmentTopics, Machines],
})
export class EnvironmentsHttpModule {}
