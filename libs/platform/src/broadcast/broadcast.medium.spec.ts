import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { Controller, type INestMicroservice } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { loadConfig } from '@aps/platform/config';
import { CommandRedis, connectRedis } from '@aps/platform/redis';
import { eventually, testEnvironment } from '@aps/platform/testing';
import type { Redis } from 'ioredis';
import { Broadcaster, broadcastListener, OnBroadcast } from '.';

@Controller()
class Hearer {
  readonly heard: unknown[] = [];

  @OnBroadcast('worker.changed')
  hear(@Payload() message: unknown): void {
    this.heard.push(message);
  }
}

describe('broadcasts', () => {
  let server: net.Server;
  let app: INestMicroservice;
  let redis: Redis;
  /** Connections that found nobody. */
  let refused = 0;
  afterAll(async () => {
    await app?.close();
    redis?.disconnect();
    server?.close();
  });

  it('are heard by a process that was there before Redis', async () => {
    const address = new URL(process.env.TEST_REDIS_URL!);
    server = net.createServer((client) => {
      // The first of each connection.
      if (refused < 2) return void (++refused && client.destroy());
      const upstream = net.connect(Number(address.port), address.hostname);
      for (const socket of [client, upstream]) socket.on('error', () => undefined);
      client.pipe(upstream).pipe(client);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const late = Object.assign(new URL(address), { hostname: '127.0.0.1', port: String((server.address() as AddressInfo).port) });
    const environment = testEnvironment('postgres://nobody');
    loadConfig(environment);
    redis = connectRedis('commands');
    loadConfig({ ...environment, REDIS_URL: late.href });
    const providers = [Broadcaster, { provide: CommandRedis, useValue: redis }];
    const module = await Test.createTestingModule({ providers, controllers: [Hearer] }).compile();
    app = module.createNestMicroservice(broadcastListener());
    await app.listen();
    expect(refused).toBe(2);
    const worker_id = 'of-this-test';
    const { heard } = app.get(Hearer);
    await eventually(
      async () => {
        app.get(Broadcaster).send('worker.changed', { worker_id });
        return heard;
      },
      // Others of this Redis are heard, too.
      () => heard.some((message) => (message as { worker_id: string }).worker_id === worker_id),
    );
  });
});
