import { Controller, Injectable, Module } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Broadcasts, JobPayload } from '@aps/contracts';
import { ChatsModule, TurnsModule } from '../chats.module';
import { EndService } from '../control/end.service';
import { TitleService } from '../turns/title.service';
import { TurnKind } from '../turns/turn.kind';
import { OnBroadcast } from '@aps/platform/broadcast';
import { Database } from '@aps/platform/database';
import { durationHistogram } from '@aps/platform/observability';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { RunLeases, Runs } from '@aps/platform/runs';

const stopToAbort = durationHistogram('stop_to_abort_seconds', 'Time from a stop request to the abort of the turn');

@Injectable()
export class TurnProcessor {
  constructor(
    private readonly runs: Runs,
    private readonly turns: TurnKind,
  ) {}

  @JobHandler('turn.run', { ownsRow: true })
  run(payload: JobPayload<'turn.run'>, context: JobContext): Promise<void> {
    return this.runs.run(this.turns, payload, context);
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

@Injectable()
export class EndProcessor {
  constructor(private readonly ends: EndService) {}

  @JobHandler('agent.end_chats')
  ofAgent({ org_id, agent_id }: JobPayload<'agent.end_chats'>, context: JobContext): Promise<void> {
    return this.ends.ofAgent(org_id, agent_id, context.signal);
  }

  @JobHandler('member.end_chats')
  ofMember({ org_id, user_id }: JobPayload<'member.end_chats'>, context: JobContext): Promise<void> {
    return this.ends.ofMember(org_id, user_id, context.signal);
  }
}

/** Hears stops as they happen; the heartbeat would find them out a little later. */
@Controller()
export class ChatBroadcasts {
  constructor(
    private readonly db: Database,
    private readonly leases: RunLeases,
  ) {}

  @OnBroadcast('chat.stop')
  onStop(@Payload() { turn_id, at }: Broadcasts['chat.stop']): void {
    if (this.leases.stop(turn_id)) stopToAbort.observe(Math.max(0, this.db.now().getTime() - Date.parse(at)) / 1000);
  }
}

@Module({ imports: [ChatsModule, TurnsModule], providers: [TurnProcessor, TitleProcessor, EndProcessor], controllers: [ChatBroadcasts] })
export class ChatsJobsModule {}
