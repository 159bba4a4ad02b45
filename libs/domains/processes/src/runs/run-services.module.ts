import { Module } from '@nestjs/common';
import { ChatsModule } from '@aps/chats';
import { PromptsModule } from '@aps/prompts';
import { DefinitionsModule } from '../definitions.module';
import { RunControlModule } from '../engine/engine.module';
import { RunReviews } from '../reviews/run-reviews.service';
import { RunControl } from './run-control.service';
import { RunStarts } from './run-starts.service';

const services = [RunControl, RunReviews, RunStarts];

/** What people do with runs. */
@Module({
  imports: [ChatsModule, DefinitionsModule, PromptsModule, RunControlModule],
  providers: services,
  exports: [...services, RunControlModule],
})
export class RunServicesModule {}
