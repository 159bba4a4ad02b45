import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Body, CanActivate, Controller, ExecutionContext, HttpCode, INestApplication, Post, Res } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { DomainError } from '@aps/contracts';
import { NO_CALLER, Database } from '@aps/platform/database';
import { ErrorFilter, NestedField, Operation, StringField } from '@aps/platform/http';
import { sql, createTestDatabase, type TestDatabase } from '@aps/platform/testing';
import type { Response } from 'express';
import request from 'supertest';
import { IdempotencyKeyEntity } from '../../../entities/src/platform/idempotency-key.entity';
import { Idempotent, IdempotencyInterceptor, IdempotencyStore, LEASE_S } from './index';

class Token {
  @StringField({ credential: true, nullable: true })
  token: string | null;
}
class Wrapped {
  @StringField()
  name: string;
  @NestedField(() => Token)
  made: Token;
}

let calls = 0;
/** What the next call of the handler does instead of answering. */
let instead: (() => unknown) | undefined;

@Controller()
class ThingsController {
  @Idempotent()
  @Post('things')
  async create(@Body() body: { name?: string }): Promise<unknown> {
    calls++;
    const act = instead;
    instead = undefined;
    if (act) return act();
    return { n: calls, name: body.name };
  }

  @Idempotent()
  @Post('tokens')
  @Operation({ summary: 'Make a token', answers: Wrapped })
  token() {
    return { name: 'shown', made: { token: `secret-${++calls}` } };
  }

  @Idempotent()
  @HttpCode(204)
  @Post('empty')
  empty() {
    calls++;
  }

  @Idempotent()
  @Post('either')
  either(@Res({ passthrough: true }) res: Response) {
    res.status(202);
    return { n: ++calls };
  }
}

const accessGuard: CanActivate = {
  canActivate(context: ExecutionContext) {
    const req = context.switchToHttp().getRequest<{ headers: Record<string, string>; principal?: unknown; requestId?: string }>();
    req.requestId = randomUUID();
    if (req.headers['x-as']) req.principal = { credentialId: req.headers['x-as'] };
    return true;
  },
};

describe('idempotency', () => {
  let database: TestDatabase;
  let app: INestApplication;
  let store: IdempotencyStore;
  const me = randomUUID();

  beforeAll(async () => {
    database = await createTestDatabase({ entities: [IdempotencyKeyEntity] });
    await database.dataSource.synchronize();
    const module = await Test.createTestingModule({
      controllers: [ThingsController],
      providers: [
        { provide: Database, useValue: database.db },
        IdempotencyStore,
        IdempotencyInterceptor,
        { provide: APP_GUARD, useValue: accessGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
    }).compile();
    module.useLogger(false);
    app = await module.createNestApplication({ logger: false }).init();
    store = app.get(IdempotencyStore);
  });
  beforeEach(async () => {
    calls = 0;
    instead = undefined;
    await database.db.execute(sql('DELETE FROM idempotency_keys'));
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const post = (path: string, key?: string, body: object = { name: 'a' }, as: string | null = me) => {
    const r = request(app.getHttpServer()).post(path);
    if (key) void r.set('Idempotency-Key', key);
    if (as) void r.set('X-As', as);
    return r.send(body);
  };
  const rows = () => database.db.query(sql<{ body: string | null; status_code: number | null }>('SELECT * FROM idempotency_keys'));

  describe('at a handler', () => {
    it('answers a repeat as the first time, status and body', async () => {
      for (const [path, status] of [
        ['/things', 201],
        ['/either', 202],
        ['/empty', 204],
      ] as const) {
        const before = calls;
        const first = await post(path, 'k' + path).expect(status);
        expect(first.headers).not.toHaveProperty('idempotency-replayed');
        const again = await post(path, 'k' + path).expect(status);
        expect(again.headers['idempotency-replayed']).toBe('true');
        expect(again.body).toEqual(first.body);
        expect(again.text).toBe(first.text);
        expect(calls).toBe(before + 1);
      }
    });

    it('costs nothing without a key or a token', async () => {
      const begin = jest.spyOn(store, 'begin');
      await post('/things').expect(201);
      await post('/things', 'k', {}, null).expect(201);
      await post('/things', 'k', {}, null).expect(201);
      expect(begin).not.toHaveBeenCalled();
      expect(calls).toBe(3);
      begin.mockRestore();
    });

    it('refuses a bad key, and a key that comes with another request', async () => {
      expect((await post('/things', 'a b').expect(400)).body).toMatchObject({ code: 'idempotency_key_invalid' });
      await post('/things', 'k').expect(201);
      const other = await post('/things', 'k', { name: 'b' }).expect(422);
      expect(other.body).toMatchObject({
        code: 'idempotency_mismatch',
        detail: [{ loc: ['header', 'Idempotency-Key'], type: 'semantic.idempotency_mismatch' }],
      });
      await post('/tokens', 'k').expect(422);
      expect(calls).toBe(1);
    });

    it('keeps the keys of two tokens apart', async () => {
      await post('/things', 'k').expect(201);
      const theirs = await post('/things', 'k', { name: 'theirs' }, randomUUID()).expect(201);
      expect(theirs.body).toMatchObject({ name: 'theirs' });
    });

    it('does a thing once when many ask at once', async () => {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      instead = async () => {
        await held;
        return { done: true };
      };
      const first = post('/things', 'k').then((r) => r);
      while (calls === 0) await new Promise((r) => setImmediate(r));
      const others = await Promise.all(Array.from({ length: 10 }, () => post('/things', 'k')));
      expect(others.map((o) => [o.status, (o.body as { code: string }).code, o.headers['retry-after']])).toEqual(
        others.map(() => [409, 'idempotency_in_progress', expect.stringMatching(/^([1-9]|10)$/)]),
      );
      release();
      expect((await first).body).toEqual({ done: true });
      expect((await post('/things', 'k').expect(201)).body).toEqual({ done: true });
      expect(calls).toBe(1);
    });

    it('gives a refusal again, and tries again what may end differently', async () => {
      const refuse = (error: Error) => {
        instead = () => {
          throw error;
        };
      };
      refuse(new DomainError('slug_taken', 'Taken.'));
      const first = await post('/things', 'refused').expect(409);
      const again = await post('/things', 'refused').expect(409);
      expect(again.body).toEqual(first.body);
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(calls).toBe(1);

      for (const error of [
        new DomainError('credits_exhausted', 'Empty.'),
        new DomainError('queue_full', 'Full.'),
        new DomainError('service_unavailable', 'Away.'),
        new Error('bug'),
        Object.assign(new Error('deadlock'), { code: '40P01' }),
        Object.assign(new Error('a row that is referred to is gone'), { code: '23503' }),
      ]) {
        const key = randomUUID();
        refuse(error);
        expect((await post('/things', key)).status).toBeGreaterThanOrEqual(402);
        expect((await post('/things', key).expect(201)).headers).not.toHaveProperty('idempotency-replayed');
      }
    });

    it('shows a credential once, and keeps none', async () => {
      const { body } = await post('/tokens', 'k').expect(201);
      expect(body).toEqual({ name: 'shown', made: { token: expect.stringMatching(/^secret-/) } });
      expect(JSON.stringify(await rows())).not.toContain('secret-');
      const again = await post('/tokens', 'k').expect(201);
      expect([again.body, again.headers['idempotency-replayed']]).toEqual([{ name: 'shown', made: { token: null } }, 'true']);
    });

    it('answers even when the answer cannot be kept', async () => {
      const complete = jest.spyOn(store, 'complete').mockRejectedValueOnce(new Error('away'));
      await post('/things', 'k').expect(201);
      complete.mockRestore();
      await post('/things', 'k').expect(409);
    });
  });

  describe('the store', () => {
    const hash = Buffer.alloc(32, 1);
    const start = async (key: string, h = hash) => {
      const begun = await store.begin(me, key, h);
      if (begun.state !== 'started') throw new Error('answered');
      return begun.attempt;
    };
    const die = (key: string) =>
      database.db.execute(sql(`UPDATE idempotency_keys SET locked_until = now() - interval '1 second' WHERE key = $1`), [key]);

    it('lets a repeat go on with what a failed or dead try made', async () => {
      const thing = randomUUID();
      for (const end of [(a: Awaited<ReturnType<typeof start>>) => store.abandon(a), () => die('k')]) {
        await database.db.execute(sql('DELETE FROM idempotency_keys'));
        const first = await start('k');
        expect(first.resourceId).toBeNull();
        await database.db.transaction(NO_CALLER, (tx) => store.attach(tx, first, thing));
        await expect(start('k')).rejects.toMatchObject({ code: 'idempotency_in_progress' });
        await end(first);
        await expect(start('k', Buffer.alloc(32, 2))).rejects.toMatchObject({ code: 'idempotency_mismatch' });
        expect((await start('k')).resourceId).toBe(thing);
      }
    });

    it('forgets a failed try that made nothing', async () => {
      await store.abandon(await start('k'));
      expect(await rows()).toHaveLength(0);
      await start('k', Buffer.alloc(32, 2));
    });

    it('takes no word from a try that was replaced', async () => {
      const dead = await start('k');
      await die('k');
      const alive = await start('k');
      await expect(database.db.transaction(NO_CALLER, (tx) => store.attach(tx, dead, randomUUID()))).rejects.toMatchObject({
        code: 'idempotency_in_progress',
      });
      expect(await store.complete(dead, { status: 201, body: '"dead"' })).toBe(false);
      await store.abandon(dead);
      expect(await store.complete(alive, { status: 201, body: '"alive"' })).toBe(true);
      expect(await store.begin(me, 'k', hash)).toEqual({ state: 'answered', answer: { status: 201, body: '"alive"' } });
      await store.abandon(alive);
      expect(await rows()).toHaveLength(1);
    });

    it('keeps a key as long as its process lives, and says when one of a dead process is free', async () => {
      const slow = await start('k');
      const leased = async () =>
        (
          await database.db.query(sql<{ s: number }>(`SELECT extract(epoch FROM locked_until - now())::float AS s FROM idempotency_keys`))
        )[0].s;
      expect(await leased()).toBeLessThanOrEqual(LEASE_S);
      await database.db.execute(sql(`UPDATE idempotency_keys SET locked_until = now() + interval '2500 milliseconds'`));
      // Beats come by themselves.
      while ((await leased()) < 5) await sleep(100);
      await store.abandon(slow);
      expect(await rows()).toEqual([]);

      const dead = await start('k');
      store['running'].delete(dead);
      await database.db.execute(sql(`UPDATE idempotency_keys SET locked_until = now() + interval '99500 milliseconds'`));
      const refused = (await start('k').catch((error: DomainError) => error)) as DomainError;
      expect([refused.code, refused.retryAfterS! > 50 && refused.retryAfterS! <= 100]).toEqual(['idempotency_in_progress', true]);
    });

    it('gives a dead try’s place to one repeat only', async () => {
      await start('k');
      await die('k');
      const tries = await Promise.allSettled(Array.from({ length: 8 }, () => start('k')));
      expect(tries.filter((t) => t.status === 'fulfilled')).toHaveLength(1);
    });

    it('answers within the transaction of the effect, or not at all', async () => {
      const attempt = await start('k');
      const lost = database.db.transaction(NO_CALLER, async (tx) => {
        await store.complete(attempt, { status: 201, body: '{}' }, tx);
        throw new Error('rolled back');
      });
      await expect(lost).rejects.toThrow('rolled back');
      await expect(start('k')).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    });

    it('forgets after a day, and purges in portions', async () => {
      for (const key of ['a', 'b', 'c', 'd']) await store.complete(await start(key), { status: 200, body: null });
      const first = await start('attached');
      await database.db.transaction(NO_CALLER, (tx) => store.attach(tx, first, randomUUID()));
      await database.db.execute(sql(`UPDATE idempotency_keys SET expires_at = expires_at - interval '24 hours 1 second' WHERE key <> 'd'`));
      // Anything may come under an expired key, purged or not.
      expect((await start('attached', Buffer.alloc(32, 9))).resourceId).toBeNull();
      expect((await start('c', Buffer.alloc(32, 9))).id).toBeDefined();
      expect([await store.purge(1), await store.purge(10), await store.purge(10)]).toEqual([1, 1, 0]);
      expect(await rows()).toHaveLength(3);
    });
  });
});
