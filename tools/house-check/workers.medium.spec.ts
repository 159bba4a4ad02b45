import { Injectable, Module, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { JobName, QueueName } from '@aps/contracts';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { loadConfig } from '@aps/platform/config';
import { createLogger, metrics, NestLogger } from '@aps/platform/observability';
import { JobHandler, proveHandlers, Workers, WorkersModule } from '@aps/platform/queues';
import { PlatformModule } from '@aps/platform/runtime';
import { createTestDatabase, type TestDatabase } from '@aps/platform/testing';
import { Redis } from 'ioredis';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS });
});
afterAll(() => database?.drop());
afterEach(() => {
  delete process.env.QUEUES;
  loadConfig();
});

@Injectable()
class One {
  @JobHandler('chat.title')
  async run(): Promise<void> {}
}
@Injectable()
class Another {
  @JobHandler('chat.title')
  async run(): Promise<void> {}
}

const handlers = (...providers: Type<unknown>[]) => {
  @Module({ providers })
  class Handlers {}
  return Handlers;
};

/** Boots a worker app; its error, or `boots`. */
async function boot(queues: QueueName[], ...providers: Type<unknown>[]): Promise<string> {
  // Each boot stands for a process of its own.
  metrics.clear();
  const schema = { entities: ENTITIES, migrations: MIGRATIONS };
  const module = await Test.createTestingModule({
    imports: [PlatformModule.forRoot('test', schema), handlers(...providers), WorkersModule.forQueues(...queues)],
  })
    .setLogger(new NestLogger(createLogger('test')))
    .compile();
  // The one hook that decides; after a failed init Nest would close nothing.
  try {
    await module.get(Workers, { strict: false }).onApplicationBootstrap();
    return 'boots';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await module.close();
  }
}

describe('a worker', () => {
  it('boots when each job of its queues has one handler', async () => {
    expect(await boot(['titles'], One)).toBe('boots');
  });

  it('refuses to boot on a job without a handler', async () => {
    expect(await boot(['titles'])).toMatch(/job chat\.title of queue titles has no handler/);
  });

  it('refuses to boot on a job with two handlers', async () => {
    expect(await boot(['titles'], One, Another)).toMatch(/job chat\.title has several handlers: One\.run, Another\.run/);
  });

  it('refuses to boot on a Redis that drops jobs', async () => {
    const original = Reflect.get(Redis.prototype, 'info') as (...args: unknown[]) => Promise<string>;
    const info = jest.spyOn(Redis.prototype, 'info').mockImplementation(function (this: Redis, ...args: unknown[]) {
      return args[0] === 'memory' ? Promise.resolve('maxmemory_policy:volatile-lru') : original.apply(this, args);
    });
    expect(await boot(['titles'], One)).toMatch(/volatile-lru, and must be noeviction/);
    info.mockRestore();
  });

  it('refuses to boot on a queue that it does not own', async () => {
    process.env.QUEUES = 'titles,turns';
    loadConfig();
    expect(await boot(['titles'], One)).toMatch(/does not own the queue turns; it owns titles/);
  });

  it('consumes fewer queues than it owns when told so, and then needs no handlers of the others', async () => {
    process.env.QUEUES = 'titles';
    loadConfig();
    expect(await boot(['titles', 'turns', 'maintenance'], One)).toBe('boots');
  });

  it('knows the queues that there are', () => {
    process.env.QUEUES = 'titles,tuns';
    expect(() => loadConfig()).toThrow(/unknown queue tuns; known are .*turns/);
  });
});

it('every problem is named at once', () => {
  const found: { name: JobName; owner: string }[] = [
    { name: 'chat.title', owner: 'A.x' },
    { name: 'chat.title', owner: 'B.y' },
  ];
  expect(() => proveHandlers(found, ['titles', 'turns'])).toThrow(
    /chat\.title has several handlers: A\.x, B\.y.*|turn\.run of queue turns has no handler/,
  );
  expect(() => proveHandlers(found, ['titles', 'turns'])).toThrow(/turn\.run/);
});
