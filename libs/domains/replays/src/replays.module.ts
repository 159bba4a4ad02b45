import { Module } from '@nestjs/common';
import { AgentsModule } from '@aps/agents';
import { ChatsModule } from '@aps/chats';
import { InferenceModule } from '@aps/inference';
import { RunsModule } from '@aps/platform/runs';
import { DraftChecks } from './draft-checks.service';
import { ReplayKind } from './replay.kind';
import { ReplayStarts } from './replay-starts.service';
import { Replays } from './replaying';
import { ReplayRetention } from './replays.maintenance';
import { ReplaysRepository } from './replays.repository';
import { Simulations } from './simulations.service';

/** Replays as people begin and read them. */
@Module({
  imports: [AgentsModule, InferenceModule],
  providers: [DraftChecks, ReplayStarts, ReplaysRepository, Simulations],
  exports: [DraftChecks, ReplaysRepository, Simulations],
})
export class ReplaysModule {}

/** The running of replays, and what is done to old ones, for a worker application. */
@Module({
  imports: [AgentsModule, ChatsModule, InferenceModule, ReplaysModule, RunsModule],
  providers: [ReplayKind, ReplayRetention, Replays],
  exports: [ReplayKind, RunsModule],
})
export class ReplayingModule {}
