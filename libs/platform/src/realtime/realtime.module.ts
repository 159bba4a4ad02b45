import { Global, Module } from '@nestjs/common';
import { RealtimeHub } from './hub';
import { RealtimePublisher } from './publisher';
import { EventLog } from './event-log';
import { SseStreams } from './sse';

/** For processes that cause events. */
@Global()
@Module({ providers: [RealtimePublisher, EventLog], exports: [RealtimePublisher, EventLog] })
export class RealtimePublishModule {}

/** For processes that serve streams. */
@Global()
@Module({ imports: [RealtimePublishModule], providers: [RealtimeHub, SseStreams], exports: [RealtimeHub, SseStreams] })
export class RealtimeStreamModule {}
