import { Module } from '@nestjs/common';
import { DecisionsModule } from '../decisions.module';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { AgentDecisionsController } from './agent-decisions.controller';
import { ChatDecisionsController } from './chat-decisions.controller';

@Module({ imports: [DecisionsModule, IdempotencyModule], controllers: [AgentDecisionsController, ChatDecisionsController] })
export class DecisionsHttpModule {}
