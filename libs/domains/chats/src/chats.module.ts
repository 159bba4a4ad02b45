import { Module } from '@nestjs/common';
import { AgentsModule } from '@aps/agents';
import { InferenceModule } from '@aps/inference';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { ToolsModule } from '@aps/tools';
import { ChatsQueries } from './chats.queries';
import { ChatsRepository } from './chats.repository';
import { ChatsService } from './chats.service';
import { QueueDepth } from './queue-depth';
import { SendService } from './send.service';
import { CoreTools } from './tools/core-tools';
import { TodoRepository } from './tools/todo.repository';
import { Leases } from './turns/leases';
import { ModelStepRunner } from './turns/model-step';
import { TitleService } from './turns/title.service';
import { ToolStepRunner } from './turns/tool-step';
import { TurnClaims } from './turns/turn-claims';
import { TurnEndings } from './turns/turn-endings';
import { TurnRunner } from './turns/turn-runner';
import { TurnSweeper } from './turns/turn-sweeper';
import { TurnRepository } from './turns/turn.repository';

/** Chats as their users see them. */
@Module({
  imports: [AgentsModule, InferenceModule, IdempotencyModule],
  providers: [ChatsQueries, ChatsRepository, ChatsService, SendService, QueueDepth, TodoRepository, TurnRepository, TurnEndings],
  exports: [ChatsQueries, ChatsService, SendService, TurnRepository, TurnEndings, TodoRepository],
})
export class ChatsModule {}

/** The running of turns, for workers. */
@Module({
  imports: [ChatsModule, AgentsModule, InferenceModule, ToolsModule],
  providers: [TurnRunner, TurnClaims, Leases, ModelStepRunner, ToolStepRunner, TitleService, TurnSweeper, CoreTools],
  exports: [TurnRunner, TitleService, Leases],
})
export class TurnsModule {}
