import { BullModule } from '@nestjs/bullmq';
import { Global, Module } from '@nestjs/common';
import { QUEUES } from '@aps/contracts';
import { CommandRedis, redisConfig } from '@aps/platform/redis';
import type { Redis } from 'ioredis';
import { Outbox } from './outbox';
import { OutboxRelay } from './relay';

const queues = BullModule.registerQueue(...QUEUES.map((name) => ({ name, streams: { events: { maxLen: 100 } } })));

/** Lets an application hand out work. */
@Global()
@Module({
  imports: [
    BullModule.forRootAsync({
      inject: [CommandRedis],
      // Requests publish over the fail-fast connection: while Redis is away they must learn it at once.
      useFactory: (redis: Redis) => ({ connection: redis, prefix: redisConfig.value.prefix, skipVersionCheck: true }),
    }),
    queues,
  ],
  providers: [Outbox],
  exports: [Outbox, queues],
})
export class OutboxModule {}

/** Adds the relay; imported by worker applications. */
@Module({ imports: [OutboxModule], providers: [OutboxRelay] })
export class OutboxRelayModule {}
