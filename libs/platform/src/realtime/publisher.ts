import { Inject, Injectable } from '@nestjs/common';
import type { TopicSignal } from '@aps/contracts';
import { CommandRedis, redisConfig } from '@aps/platform/redis';
import type { Redis } from 'ioredis';

/** The pub/sub channel of a topic. One channel per topic, so a gateway hears only what its own readers asked for. */
export const channelOf = (topic: string): string => `${redisConfig.value.prefix}:rt:${topic}`;

/** Wakes the readers of a topic. Always after the commit, always best effort: readers that miss it catch up from the event log. */
@Injectable()
export class RealtimePublisher {
  constructor(@Inject(CommandRedis) private readonly redis: Redis) {}

  publish(topic: string, signal: TopicSignal): void {
    this.redis.publish(channelOf(topic), JSON.stringify(signal)).catch(() => undefined);
  }
}
