import { Global, Inject, Injectable, Logger, Module, OnApplicationShutdown } from '@nestjs/common';
import { Redis, type Command, type RedisOptions } from 'ioredis';
import { redisConfig } from './redis.config';

const logger = new Logger('Redis');

/**
 * Commands of the same moment leave in one write: each write wakes Redis. (ioredis' own way to do that makes a pipeline each time, and
 * with the queue's scripts on the connection that takes longer than the write.)
 */
class Connection extends Redis {
  private gathering = false;

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const socket = this.stream;
    if (socket && !this.gathering) {
      this.gathering = true;
      socket.cork();
      queueMicrotask(() => {
        this.gathering = false;
        socket.uncork();
      });
    }
    return super.sendCommand(command, stream);
  }
}

/** A server that has owed an answer for so long is gone: longer than any command blocks, where none is given more time. */
const SILENT_MS = 20_000;

/**
 * Opens a connection.
 *
 * - `commands`: for requests. Fails fast while Redis is away (no offline queue, short time-out), because a caller waits.
 * - `blocking`: for queue workers and subscribers. Waits for ever and resumes by itself.
 *
 * Both leave a server that was demoted: after a failover the old master may live on as a replica, with our connections to it, and answer
 * all but writes. So do connections that are made by `duplicate()`. And both leave one that has vanished without a word, after {@link SILENT_MS}:
 * what is sent to it would be sent again for a quarter of an hour, while the next one is there. A subscriber hears from a replica whatever its master is told.
 */
export function connectRedis(kind: 'commands' | 'blocking', overrides: RedisOptions = {}): Redis {
  let demoted = false;
  const common: RedisOptions = {
    lazyConnect: true,
    connectTimeout: 5_000,
    keepAlive: 30_000,
    socketTimeout: Math.max(SILENT_MS, redisConfig.value.commandTimeoutMs),
    retryStrategy: (times) => {
      // Its address may lead to the old master for a while yet, and there each connection is ready at once and refused at once.
      const tries = demoted ? times + 3 : times;
      demoted = false;
      return Math.min(50 * 2 ** Math.min(tries, 6), 2_000) * (0.75 + Math.random() / 2);
    },
    reconnectOnError: ({ message }) => {
      // Of scripts, some versions say it in the middle.
      if (!message.includes('READONLY')) return false;
      if (!demoted) logger.warn('Redis is a replica now; connecting anew');
      demoted = true;
      // Nothing was written, so it is sent again, where commands may wait for the next connection.
      return 2;
    },
  };
  const options: RedisOptions =
    kind === 'commands'
      ? { ...common, enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: redisConfig.value.commandTimeoutMs, ...overrides }
      : { ...common, maxRetriesPerRequest: null, ...overrides };
  const redis = new Connection(redisConfig.value.url, options);
  let down = false;
  redis.on('error', (error: Error) => {
    // Once per outage: ioredis reports every attempt.
    if (!down) logger.warn(`Redis is away: ${error.message || (error as { code?: string }).code}`);
    down = true;
  });
  // What the last connection owed is not owed by the next.
  redis.on('close', () => {
    clearTimeout(redis['socketTimeoutTimer'] as NodeJS.Timeout | undefined);
    redis['socketTimeoutTimer'] = undefined;
  });
  redis.on('ready', () => {
    if (down) logger.log('Redis is back');
    down = false;
  });
  // A failed first attempt is reported above and retried; nobody waits for this promise.
  redis.connect().catch(() => undefined);
  return redis;
}

/** The connection for commands that a request or a job waits for. */
export class CommandRedis extends Redis {}

/** The connection that only listens (a subscribed connection takes no other commands). */
export class SubscriberRedis extends Redis {}

@Injectable()
class RedisShutdown implements OnApplicationShutdown {
  constructor(
    @Inject(CommandRedis) private readonly commands: Redis,
    @Inject(SubscriberRedis) private readonly subscriber: Redis,
  ) {}

  onApplicationShutdown(): void {
    this.commands.disconnect();
    this.subscriber.disconnect();
  }
}

@Global()
@Module({
  providers: [
    { provide: CommandRedis, useFactory: () => connectRedis('commands') },
    { provide: SubscriberRedis, useFactory: () => connectRedis('blocking') },
    RedisShutdown,
  ],
  exports: [CommandRedis, SubscriberRedis],
})
export class RedisModule {}
