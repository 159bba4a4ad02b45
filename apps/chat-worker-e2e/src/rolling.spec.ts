import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance, sql } from '@aps/platform/testing';
import { until, withPlatform, type Instance } from '../../api-gateway-e2e/support';
import { check } from './invariants';
import { checkCounts, SECOND_KIND, startCount } from './second-kind';
import { begin, finish, type Work } from './turns';

/** How often every process of every app is restarted. TEST_ROLLING_RESTARTS=10 is what a release is measured by; it takes minutes. */
const ROUNDS = Number(process.env.TEST_ROLLING_RESTARTS ?? 1);

const APPS: Instance[][] = [
  ['api-gateway', 'api-gateway:2', 'api-gateway:3'],
  ['chat-worker', 'chat-worker:2', 'chat-worker:3'],
  ['admin-api', 'admin-api:2'],
];

/** A client that keeps its one connection as long as it may, and gives up on nothing silently. */
class KeptConnection {
  private readonly agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  answers = 0;
  /** Connections that it was asked to leave. */
  asked = 0;

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  request(method: string, path: string, body?: unknown): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${this.token}`,
        ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      };
      const request = http.request(this.url + path, { method, headers, agent: this.agent, timeout: 60_000 }, (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
        response.once('error', reject).once('end', () => {
          this.answers++;
          if (response.headers.connection === 'close') this.asked++;
          resolve({ status: response.statusCode ?? 0, body: answer });
        });
      });
      request
        .once('timeout', () => request.destroy(new Error('no answer within a minute')))
        .once('error', reject)
        .end(text);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

describe('rolling restarts under load', () => {
  it(
    `of all apps, ${ROUNDS} times, fail no request, miss no event of a stream, and lose and double no run of either kind`,
    async () => {
      await withPlatform({ apps: APPS.flat(), balanced: true, env: { SHUTDOWN_DELAY_MS: '3000' }, ...SECOND_KIND }, async (platform) => {
        const { org_id: org, api_token: owner, admin_token: operator } = platform.demo;
        const failures: string[] = [];
        let over = false;
        const note = (what: string) => (error: Error) =>
          void failures.push(
            // The cause comes from outside of the test's global scope, where Error is another class.
            `${new Date().toISOString()} ${what}: ${error.message}, ${(error.cause as Error | undefined)?.message}`,
          );
        /** Does something again and again until all restarts are over; what goes wrong is noted, and it goes on. */
        const keepDoing = async (what: string, pauseMs: number, act: () => Promise<void>) => {
          while (!over) {
            await act().catch(note(what));
            await sleep(pauseMs);
          }
        };
        const expected = (status: number, answer: { status: number; body: string }) => {
          if (answer.status !== status) throw new Error(`answered ${answer.status} ${answer.body.slice(0, 300)}`);
          return answer.body ? (JSON.parse(answer.body) as Record<string, unknown>) : {};
        };

        const clients: KeptConnection[] = [];
        const keptBy = (token: string) => clients[clients.push(new KeptConnection(platform.url, token)) - 1];
        const readers = Array.from({ length: 4 }, (_, i) => {
          const client = keptBy(owner);
          return keepDoing(
            `reader ${i}`,
            100 + i * 20,
            async () => void expected(200, await client.request('GET', `${platform.chatsPath()}?limit=5`)),
          );
        });
        const writer = keptBy(owner);
        const writing = keepDoing('writer', 150, async () => {
          const path = `/api/orgs/${org}/agents`;
          const { id } = expected(201, await writer.request('POST', path, { name: `Rolling ${randomUUID()}` }));
          expected(204, await writer.request('DELETE', `${path}/${id as string}`));
        });
        const administration = [keptBy(operator), keptBy(operator)];
        const operating = [
          keepDoing(
            'operator reading',
            150,
            async () => void expected(200, await administration[0].request('GET', '/api/admin/orgs?limit=5')),
          ),
          keepDoing('operator changing', 150, async () => {
            const { id } = expected(
              201,
              await administration[1].request('POST', '/api/admin/allowed-emails', { email: `${randomUUID()}@example.com` }),
            );
            expected(204, await administration[1].request('DELETE', `/api/admin/allowed-emails/${id as string}`));
          }),
        ];

        const works: Work[] = [];
        const heard = new Map<string, number[]>();
        /** The number of the last event of each chat, once all is over. */
        const lastOf = new Map<string, number>();
        /** Follows a chat as a browser does: a stream that ends is opened again from its last id, wherever the balancer leads. */
        const follow = async (chat: string) => {
          const ids: number[] = [];
          heard.set(chat, ids);
          const complete = () => ids.length >= (lastOf.get(chat) ?? Infinity);
          while (!complete()) {
            const stream = await platform.stream(chat, { lastEventId: String(ids.at(-1) ?? 0) });
            if (stream.status !== 200) throw new Error(`answered ${stream.status} ${stream.body}`);
            const before = ids.length;
            await until(
              'the stream ends or is complete',
              () => {
                ids.splice(before, Infinity, ...stream.ids());
                return stream.ended || complete();
              },
              3_600_000,
            );
            ids.splice(before, Infinity, ...stream.ids());
            stream.close();
            await sleep(500);
          }
        };
        const following: Promise<void>[] = [];
        const chance = new Chance(Number(process.env.TEST_SEED ?? 1));
        const sending = keepDoing('sender', 1_500, async () => {
          const begun = await begin(platform, chance, 5);
          works.push(...begun);
          if (following.length < 20) following.push(...begun.map(({ chat }) => follow(chat).catch(note(`stream of ${chat}`))));
        });

        const counting = platform.database((db) => keepDoing('counter', 300, () => startCount(db, org, chance)));

        const restart = async (instances: Instance[]) => {
          for (let round = 0; round < ROUNDS; round++) {
            for (const instance of instances) {
              const ended = await platform.app(instance).terminate(90_000);
              if (ended.code !== 0) failures.push(`${instance} ended with ${JSON.stringify(ended)}`);
              platform.app(instance).spawn();
              await platform.inService(instance);
            }
          }
        };
        await until('the load has begun', () => works.length > 0 && clients.every(({ answers }) => answers > 0));
        await Promise.all(APPS.map(restart));
        await finish(platform, works);
        await platform.database(async (db) => {
          const rows = await db.query(
            sql<{ id: string; event_seq: number }>('SELECT id, event_seq FROM chats WHERE id = ANY($1::uuid[])'),
            [[...heard.keys()]],
          );
          for (const { id, event_seq } of rows) lastOf.set(id, Number(event_seq));
        });
        over = true;
        await Promise.all([...readers, writing, ...operating, sending, counting, ...following]);
        for (const client of clients) client.close();

        expect(failures).toEqual([]);
        for (const [chat, ids] of heard) expect([chat, ids]).toEqual([chat, Array.from({ length: lastOf.get(chat)! }, (_, i) => i + 1)]);
        // Each was led away from a process that ended, and was not cut off from it.
        for (const client of clients) expect(client.asked).toBeGreaterThan(0);
        await platform.database((db) => checkCounts(db, 60_000));
        await check(platform, works);
      });
    },
    ROUNDS * 240_000,
  );
});
