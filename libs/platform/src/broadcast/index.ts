import { setTimeout as sleep } from 'node:timers/promises';
import { Global, Inject, Injectable, Logger, Module } from '@nestjs/common';
import { EventPattern, ServerRedis, type CustomStrategy, type RedisOptions } from '@nestjs/microservices';
import type { BroadcastName, Broadcasts } from '@aps/contracts';
import { CommandRedis, redisConfig } from '@aps/platform/redis';
import type { Redis } from 'ioredis';

/** Options of Nest's Redis transport. */
function transportOptions(): Required<RedisOptions>['options'] {
  const url = new URL(redisConfig.value.url);
  return {
    host: url.hostname,
    port: Number(url.port || 6379),
    ...(url.username && { username: decodeURIComponent(url.username) }),
    ...(url.password && { password: decodeURIComponent(url.password) }),
    ...(url.pathname.length > 1 && { db: Number(url.pathname.slice(1)) }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
    // A listener says nothing, and would not notice for hours that its server has vanished.
    keepAlive: 30_000,
    retryAttempts: Number.MAX_SAFE_INTEGER,
    retryDelay: 500,
  };
}

/** Nest tells of every attempt. That Redis is away, and back, its own module says once. */
const SILENT = { log: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Logger;

class Listener extends ServerRedis {
  protected override readonly logger = SILENT;

  /** Nest listens for nothing where the first attempt to connect fails, though the connections try again. */
  override start(callback: () => void): void {
    const ready = (client: Redis) =>
      new Promise<void>((resolve) => {
        client.once('ready', resolve);
        client.connect().catch(() => undefined);
      });
    const [sub, pub] = [this.subClient as Redis, this.pubClient as Redis];
    void Promise.all([ready(sub), ready(pub)]).then(() => {
      this.bindEvents(sub, pub);
      callback();
    });
  }

  /** Nest says goodbye and waits for the answer, which a Redis that stands still never gives: a process that ends would wait out its grace. */
  override close(): Promise<void> {
    this.isManuallyClosed = true;
    for (const client of [this.pubClient, this.subClient]) (client as Redis | null)?.disconnect();
    return Promise.resolve();
  }
}

/** The listening side of an app: Nest's microservice that hears broadcasts. */
export const broadcastListener = (): CustomStrategy => ({ strategy: new Listener(transportOptions()) });

// Without the stack's prefix, because decorators run before the configuration is read. A stack that shares its Redis with another hears
// that one's broadcasts, too: they name rows by UUID, or make it read again what it has cached.
const channel = (name: BroadcastName) => `aps:${name}`;

/** A controller method with this decorator hears a broadcast, in every replica. */
export const OnBroadcast = (name: BroadcastName): MethodDecorator => EventPattern(channel(name));

/** A Redis that stands still keeps nobody's answer for longer. By then nobody believes any more what was remembered of who may do what. */
const HANDED_ON_MS = 1_000;

/** Tells something to every replica, best effort: a column holds the truth, so a lost broadcast only costs time. */
@Injectable()
export class Broadcaster {
  private readonly logger = new Logger('Broadcaster');

  /**
   * @param redis a connection that writes, too: a server that was demoted takes what is published, and tells only its own listeners. Without
   * one nobody is told: a migration has no Redis.
   */
  constructor(@Inject(CommandRedis) private readonly redis?: Redis) {}

  send<N extends BroadcastName>(name: N, message: Broadcasts[N]): void {
    void this.publish(name, message);
  }

  /** The same. Until Redis has handed it on, and no longer than {@link HANDED_ON_MS}: who waits is answered after all have heard of it. */
  async sent<N extends BroadcastName>(name: N, message: Broadcasts[N]): Promise<void> {
    // Redis may answer who publishes before it writes to who listens, but none that asks after that.
    const handedOn = this.publish(name, message).then(() => this.redis?.ping().catch(() => undefined));
    await Promise.race([handedOn, sleep(HANDED_ON_MS, undefined, { ref: false })]);
  }

  /** In the form that Nest's listeners read. */
  private async publish<N extends BroadcastName>(name: N, data: Broadcasts[N]): Promise<void> {
    const pattern = channel(name);
    await this.redis
      ?.publish(pattern, JSON.stringify({ pattern, data }))
      .catch((error: Error) => this.logger.warn(`Broadcast ${name} was not sent: ${error.message}`));
  }
}

@Global()
@Module({ providers: [Broadcaster], exports: [Broadcaster] })
export class BroadcastModule {}
