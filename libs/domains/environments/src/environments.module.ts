import { Module } from '@nestjs/common';
import { EgressModule } from '@aps/platform/egress';
import { RealtimeStreamModule } from '@aps/platform/realtime';
import { ToolsModule } from '@aps/tools';
import { CommandsRepository } from './commands/commands.repository';
import { Commands } from './commands/commands.service';
import { EnvironmentLog } from './environment-log';
import { EnvironmentsQueries } from './environments.queries';
import { EnvironmentsService } from './environments.service';
import { ImageChecks } from './images/image-checks';
import { ImageRegistry } from './images/image-registry';
import { CommandRunner } from './runner/command-runner';
import { EnvironmentsMaintenance, SandboxHosting } from './runner/environments.maintenance';
import { ImageValidations } from './runner/image-validation';
import { Sandboxes } from './sandbox/sandboxes';
import { ExecTools } from './tools/exec.tools';

const exported = [Commands, CommandsRepository, EnvironmentLog, EnvironmentsQueries, EnvironmentsService];

@Module({ imports: [RealtimeStreamModule], providers: exported, exports: exported })
export class EnvironmentsModule {}

/** What runs the commands of sandboxes, for the application that does so. */
@Module({
  imports: [EgressModule, EnvironmentsModule],
  providers: [CommandRunner, EnvironmentsMaintenance, ImageChecks, ImageRegistry, ImageValidations, SandboxHosting, Sandboxes],
  exports: [CommandRunner, EnvironmentsModule, ImageValidations, Sandboxes],
})
export class SandboxesModule {}

/** The tools by which agents use their environment, for gateway and worker. */
@Module({ imports: [EnvironmentsModule, ToolsModule], providers: [ExecTools] })
export class ExecToolsModule {}
