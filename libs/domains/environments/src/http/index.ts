import { Module } from '@nestjs/common';
import { memberTopics, TopicSources } from '@aps/guards';
import { EnvironmentsModule, ExecToolsModule } from '../environments.module';
import { EnvironmentsQueries } from '../environments.queries';
import { SessionParts } from '../machines/machine-session';
import { Machines } from '../machines/machines.service';
import { DaemonController } from './daemon.controller';
import { EnvironmentsController } from './environments.controller';
import { InstallController } from './install.controller';
import { MachineSockets } from './machine-sockets';

@Module({
  imports: [EnvironmentsModule, ExecToolsModule],
  controllers: [EnvironmentsController, DaemonController, InstallController],
  providers: [Machines, MachineSockets, SessionParts],
})
export class EnvironmentsHttpModule {
  /** Environments as topics: `env:{id}`. */
  constructor(sources: TopicSources, environments: EnvironmentsQueries) {
    const states = (ids: string[]) => environments.states(ids);
    sources.register(
      memberTopics('env', 'environments', states, ({ id, status }) => ({ environment_id: id, status, connected: status === 'online' })),
    );
  }
}
