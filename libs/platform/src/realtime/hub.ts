import { Inject, Injectable, Logger } from '@nestjs/common';
import type { TopicSignal } from '@aps/contracts';
import { gauge } from '@aps/platform/observability';
import { SubscriberRedis } from '@aps/platform/redis';
import type { Redis } from 'ioredis';
import { channelOf } from './publisher';

/** Called with what was published; with `null` when something may have been missed and the spine must be asked. */
export type TopicListener = (signal: TopicSignal | null) => void;

/** Fans the topics' channels out to the readers of this process. A channel is subscribed while it has at least one listener. */
@Injectable()
export class RealtimeHub {
  private readonly logger = new Logger('RealtimeHub');
  private readonly listeners = new Map<string, Set<TopicListener>>();

  constructor(@Inject(SubscriberRedis) private readonly redis: Redis) {
    redis.on('message', (channel: string, message: string) => this.dispatch(channel, message));
    // After an outage ioredis subscribes again by itself; what was published in between is gone.
    redis.on('ready', () => this.everyone(null));
    gauge('realtime_topics', 'Topics with at least one open stream', [], (g) => g.set(this.listeners.size));
  }

  /** True while published signals arrive; otherwise readers must poll. */
  get connected(): boolean {
    return this.redis.status === 'ready';
  }

  /**
   * Starts listening. When the promise resolves, everything published from then on reaches the listener, so a reader that asks the
   * spine afterwards misses nothing.
   *
   * @returns stops listening
   */
  async listen(topic: string, listener: TopicListener): Promise<() => void> {
    const channel = channelOf(topic);
    let set = this.listeners.get(channel);
    if (!set) {
      this.listeners.set(channel, (set = new Set()));
      set.add(listener);
      if (this.connected) await this.redis.subscribe(channel).catch((error: Error) => this.logger.warn(`Subscribing failed: ${error.message}`));
      else this.redis.subscribe(channel).catch(() => undefined);
    } else {
      set.add(listener);
    }
    return () => {
      set.delete(listener);
      if (set.size > 0 || this.listeners.get(channel) !== set) return;
      this.listeners.delete(channel);
      if (this.connected) this.redis.unsubscribe(channel).catch(() => undefined);
    };
  }

  private dispatch(channel: string, message: string): void {
    const set = this.listeners.get(channel);
    if (!set) return;
    const signal = JSON.parse(message) as TopicSignal;
    for (const listener of set) listener(signal);
  }

  private everyone(signal: null): void {
    for (const set of this.listeners.values()) for (const listener of set) listener(signal);
  }
}
