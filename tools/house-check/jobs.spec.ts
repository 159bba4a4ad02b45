import { readdirSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { Type } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { ForeignId, JOBS, QUEUE_POLICY, QUEUES, RUN_KINDS, WAITED_QUEUES, type JobName, type QueueName } from '@aps/contracts';
import { JOB_HANDLER, type JobHandlerMetadata } from '@aps/platform/queues';
import { z } from 'zod';
import { previewOf } from './testing/surface';

const APPS = path.join(__dirname, '../../apps');
const apps = readdirSync(APPS).filter((name) => existsSync(path.join(APPS, name, 'src/app.module.ts')));

interface FoundHandler extends JobHandlerMetadata {
  owner: string;
}

/** What each app handles and consumes, from its module graph. */
async function workers(): Promise<{ app: string; handlers: FoundHandler[]; queues: QueueName[] }[]> {
  const found = [];
  for (const app of apps) {
    const { AppModule } = (await import(path.join(APPS, app, 'src/app.module'))) as { AppModule: Type<unknown> };
    const graph = await previewOf(AppModule);
    const handlers: FoundHandler[] = [];
    const queues: QueueName[] = [];
    const scanner = new MetadataScanner();
    for (const module of graph.get<ModulesContainer>(ModulesContainer).values()) {
      for (const [token, wrapper] of module.providers) {
        if (typeof token === 'symbol' && token.description === 'OWNED_QUEUES') queues.push(...(wrapper.instance as unknown as QueueName[]));
        const proto = (wrapper.metatype as Type<object> | null)?.prototype as Record<string, object> | undefined;
        for (const method of proto ? scanner.getAllMethodNames(proto) : []) {
          const job = Reflect.getMetadata(JOB_HANDLER, proto![method]) as JobHandlerMetadata | undefined;
          if (job) handlers.push({ ...job, owner: `${(wrapper.metatype as Type<object>).name}.${method}` });
        }
      }
    }
    await graph.close();
    found.push({ app, handlers, queues });
  }
  return found;
}

describe('jobs', () => {
  it('each have one handler, in the one app that owns the queue', async () => {
    const all = await workers();
    const owners = (queue: QueueName) => all.filter((w) => w.queues.includes(queue)).map((w) => w.app);
    expect(Object.fromEntries(QUEUES.map((q) => [q, owners(q).length]))).toEqual(Object.fromEntries(QUEUES.map((q) => [q, 1])));
    for (const [name, { queue }] of Object.entries(JOBS)) {
      const handlers = all.flatMap((w) => w.handlers.filter((h) => h.name === (name as JobName)).map((h) => `${w.app} ${h.owner}`));
      expect([name, handlers.length, handlers[0]?.split(' ')[0]]).toEqual([name, 1, owners(queue)[0]]);
    }
    expect(all.flatMap((w) => w.handlers).filter((h) => !(h.name in JOBS))).toEqual([]);
    for (const [kind, { job, app }] of Object.entries(RUN_KINDS)) expect([kind, app]).toEqual([kind, owners(JOBS[job].queue)[0]]);
    for (const [queue, { app }] of Object.entries(WAITED_QUEUES)) expect([queue, app]).toEqual([queue, owners(queue as QueueName)[0]]);
  });

  it('are tried again after an error, by their own rows or by the policy of their queue', async () => {
    const once = (await workers()).flatMap(({ handlers }) =>
      handlers.filter(({ name, ownsRow }) => !ownsRow && QUEUE_POLICY[JOBS[name].queue].attempts < 3).map(({ name }) => name),
    );
    expect(once).toEqual([]);
  });

  it('carry ids only: no text that a person wrote ever lies in Redis', () => {
    const foreign = (z.toJSONSchema(ForeignId) as { pattern: string }).pattern;
    const loose = Object.entries(JOBS).flatMap(([name, { payload }]) => {
      const schema = z.toJSONSchema(payload) as {
        type: string;
        properties: Record<string, { type?: string; format?: string; pattern?: string; enum?: unknown; const?: unknown }>;
      };
      return Object.entries(schema.properties)
        .filter(([, p]) => !(p.format === 'uuid' || p.type === 'integer' || p.type === 'boolean' || p.enum || p.const !== undefined))
        .filter(([, p]) => p.pattern !== foreign)
        .map(([field]) => `${name}.${field}`);
    });
    expect(loose).toEqual([]);
  });

  it('refuse a payload that is no set of ids', () => {
    for (const { payload } of Object.values(JOBS)) expect(payload.safeParse({ org_id: 'x', chat_id: 1 }).success).toBe(false);
  });

  it('have a version and a queue that exists', () => {
    for (const [name, { queue, version }] of Object.entries(JOBS))
      expect([name, QUEUES.includes(queue), version >= 1]).toEqual([name, true, true]);
  });
});

describe('queues', () => {
  it('each have a policy, a job, and a name that BullMQ and the environment can carry', () => {
    expect(Object.keys(QUEUE_POLICY).sort()).toEqual([...QUEUES].sort());
    expect(QUEUES.filter((q) => !Object.values(JOBS).some((j) => j.queue === q))).toEqual([]);
    expect(QUEUES.filter((q) => !/^[a-z]+(-[a-z]+)*$/.test(q))).toEqual([]);
  });

  it.each(Object.entries(QUEUE_POLICY))(
    '%s looks for lost jobs before their lock can run out twice, and gives everything a bound',
    (_, p) => {
      expect(Object.values(p).every((n) => Number.isInteger(n) && n > 0)).toBe(true);
      expect(p.stalledMs).toBeLessThan(p.lockMs);
    },
  );
});
