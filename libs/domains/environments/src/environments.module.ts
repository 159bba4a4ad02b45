import { Module } from '@nestjs/common';
import { RealtimeStreamModule } from '@aps/platform/realtime';
import { ToolsModule } from '@aps/tools';
import { CommandsRepository } from './commands/commands.repository';
import { Commands } from './commands/commands.service';
import { EnvironmentLog } from './environment-log';
import { EnvironmentsQueries } from './environments.queries';
import { EnvironmentsService } from './environments.service';
import { ExecTools } from './tools/exec.tools';

const exported = [Commands, CommandsRepository, EnvironmentLog, EnvironmentsQueries, EnvironmentsService];

@Module({ imports: [RealtimeStreamModule], providers: exported, exports: exported })
export class EnvironmentsModule {}

/** The tools by which agents use their environment, for gateway and worker. */
@Module({ imports: [EnvironmentsModule, ToolsModule], providers: [ExecTools] })
export class ExecToolsModule {}
