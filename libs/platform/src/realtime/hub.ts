import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { TopicSignal } from '@aps/contracts';
import { gauge } from '@aps/platform/observability';
import { SubscriberRedis } from '@aps/platform/redis';
import type { Redis } from 'ioredis';
import { channelOf } from './publisher';

/** Hears what is published on a topic. Objects and no functions: there are thousands, and each is somebody's state anyway. */
export interface TopicListener {
  onSignal(signal: TopicSignal): void;
}

/** A Redis that stands still, or goes while it is asked, keeps nobody waiting for longer: what is owed to it by then is asked of the next. */
const STANDING_MS = 1_000;

interface Channel {
  listeners: Set<TopicListener>;
  /** Settles when the subscription stands, could not be made, or {@link STANDING_MS} are over. */
  standing: Promise<unknown>;
}

/** Fans the topics' channels out to the readers of this process. A channel is subscribed while it has at least one listener. */
@Injectable()
export class RealtimeHub {
  private readonly logger = new Logger('RealtimeHub');
  private readonly channels = new Map<string, Channel>();

  constructor(@Inject(SubscriberRedis) private readonly redis: Redis) {
    redis.on('message', (channel: string, message: string) => this.dispatch(channel, message));
    gauge('realtime_topics', 'Topics with at least one open stream', [], (g) => g.set(this.channels.size));
  }

  /** True while published signals arrive; otherwise readers must poll. */
  get connected(): boolean {
    return this.redis.status === 'ready';
  }

  /** Calls back whenever signals arrive again. ioredis has subscribed by itself; what was published in between is gone. */
  onReturn(callback: () => void): void {
    this.redis.on('ready', callback);
  }

  /**
   * Starts listening. When the promise resolves, everything published from then on reaches the listener, so a reader that asks the
   * event log afterwards misses nothing. Without Redis it resolves at once, and with one that does not answer after {@link STANDING_MS}:
   * {@link onReturn}, and looking again by oneself, tell of the rest.
   */
  async listen(topic: string, listener: TopicListener): Promise<void> {
    const name = channelOf(topic);
    const channel = this.channels.get(name) ?? this.subscribe(name);
    channel.listeners.add(listener);
    if (this.connected) await channel.standing;
  }

  /** Stops listening; nothing happens where nobody listened. */
  unlisten(topic: string, listener: TopicListener): void {
    const name = channelOf(topic);
    const channel = this.channels.get(name);
    if (!channel?.listeners.delete(listener) || channel.listeners.size > 0) return;
    this.channels.delete(name);
    // Also while Redis is away: ioredis would subscribe again when it is back.
    this.redis.unsubscribe(name).catch(() => undefined);
  }

  /** Topics with this beginning that somebody listens to here. */
  listenedTo(beginning: string): string[] {
    const [all, wanted] = [channelOf(''), channelOf(beginning)];
    return [...this.channels.keys()].filter((name) => name.startsWith(wanted)).map((name) => name.slice(all.length));
  }

  /** Tells the listeners of this process of what it has found by itself, and no other process. */
  tell(topic: string, signal: TopicSignal): void {
    for (const listener of this.channels.get(channelOf(topic))?.listeners ?? []) listener.onSignal(signal);
  }

  private subscribe(name: string): Channel {
    const subscribed = this.redis.subscribe(name).catch((error: Error) => this.logger.warn(`Subscribing failed: ${error.message}`));
    const channel = {
      listeners: new Set<TopicListener>(),
      standing: Promise.race([subscribed, sleep(STANDING_MS, undefined, { ref: false })]),
    };
    this.channels.set(name, channel);
    return channel;
  }

  private dispatch(name: string, message: string): void {
    const channel = this.channels.get(name);
    if (!channel) return;
    const signal = JSON.parse(message) as TopicSignal;
    for (const listener of channel.listeners) listener.onSignal(signal);
  }
}
