import { Controller, Injectable, Module } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Broadcasts, JobPayload } from '@aps/contracts';
import { Leases, TitleService, TurnRunner, TurnsModule } from '@aps/chats';
import { OnBroadcast } from '@aps/platform/broadcast';
import { durationHistogram } from '@aps/platform/observability';
import { JobHandler, type JobContext } from '@aps/platform/queues';

const stopToAbort = durationHistogram('stop_to_abort_seconds', 'Time from a stop request to the abort of the turn');

@Injectable()
export class TurnProcessor {
  constructor(private readonly runner: TurnRunner) {}

  @JobHandler('turn.run', { ownsRow: true })
  run(payload: JobPayload<'turn.run'>, context: JobContext): Promise<void> {
    return this.runner.run(payload, context);
  }
}

@Injectable()
export class TitleProcessor {
  constructor(private readonly titles: TitleService) {}

  @JobHandler('chat.title')
  run(payload: JobPayload<'chat.title'>, context: JobContext): Promise<void> {
    return this.titles.generate(payload.chat_id, context.signal);
  }
}

/** Hears stops as they happen; the heartbeat would find them out a little later. */
@Controller()
export class ChatBroadcasts {
  constructor(private readonly leases: Leases) {}

  @OnBroadcast('chat.stop')
  onStop(@Payload() { turn_id, at }: Broadcasts['chat.stop']): void {
    if (this.leases.stopTurn(turn_id)) stopToAbort.observe(Math.max(0, Date.now() - Date.parse(at)) / 1000);
  }
}

@Module({ imports: [TurnsModule], providers: [TurnProcessor, TitleProcessor], controllers: [ChatBroadcasts] })
export class ChatsJobsModule {}
