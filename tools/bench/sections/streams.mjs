/** Many event streams that nobody writes to, and what one event costs when many read it. */
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { cpuMs, figure, median, printTable, quantile, rssKb } from '../lib/measure.mjs';

const READERS = 100;
/** Deltas of the model at an ordinary pace: the next one never comes before the last has been told. */
const DELTA_MS = 100;
/** Long enough for two pings and several checks of access. */
const IDLE_MS = 31_000;
/** Streams that are opened before the first measurement, so that what every process learns once is not counted. */
const WARM = 200;

const KINDS = {
  'one chat': (product, chats, i) => `${product.chatsUrl}/${chats[i % chats.length].id}/stream`,
  'five topics': (product, chats, i) => {
    const topics = ['org', ...[0, 1, 2, 3].map((k) => `chat:${chats[(i + k) % chats.length].id}`)];
    return `${product.url}/api/orgs/${product.seed.org_id}/events?topics=${topics.join(',')}`;
  },
};

/** Readers live in a process of their own: what they hold and compute is not the gateway's. One question at a time. */
class Readers {
  #waiting;

  static async start(token) {
    const readers = new Readers();
    readers.child = fork(fileURLToPath(new URL('../lib/readers.mjs', import.meta.url)));
    readers.child.on('message', (answer) => readers.#settle(answer));
    readers.child.on('exit', () => readers.#settle({ error: 'The readers ended.' }));
    await readers.#ask({ token });
    return readers;
  }

  #ask(message) {
    this.child.send(message);
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  #settle(answer) {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (answer.error) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer);
  }

  open(urls) {
    return this.#ask({ open: urls });
  }

  /** Milliseconds (of the clock that processes share) at which each reader had the text with this mark. */
  heard(mark) {
    return this.#ask({ mark, readers: READERS });
  }

  stop() {
    this.child.kill();
  }
}

/** In a gateway of its own: memory is not given back. */
async function idle(product, kind, count) {
  await product.stop();
  await product.start();
  const [gateway] = product.pids;
  const chats = await product.newChats(Math.min(count, 1_000));
  const readers = await Readers.start(product.seed.api_token);
  const urls = (from, to) => Array.from({ length: to - from }, (_, i) => KINDS[kind](product, chats, from + i));
  await readers.open(urls(0, WARM));
  await sleep(2_000);
  const before = rssKb([gateway]);
  await readers.open(urls(WARM, WARM + count));
  const opened = rssKb([gateway]);
  const cpu = cpuMs([gateway]);
  await sleep(IDLE_MS);
  const result = {
    kb: (rssKb([gateway]) - before) / count,
    openedKb: (opened - before) / count,
    cpu: (cpuMs([gateway]) - cpu) / (IDLE_MS / 1_000),
  };
  readers.stop();
  return result;
}

async function fanOut(product, servers, rounds) {
  await product.start();
  const [chat] = await product.newChats(1);
  const readers = await Readers.start(product.seed.api_token);
  await readers.open(Array.from({ length: READERS }, () => KINDS['one chat'](product, [chat], 0)));
  const redis = new Redis(servers.env.REDIS_URL);
  const [first, last] = [[], []];
  for (let i = 0; i < rounds; i++) {
    const mark = `mark-${i}-`;
    const heard = readers.heard(mark);
    await sleep(DELTA_MS);
    const since = performance.timeOrigin + performance.now();
    await redis.publish(`aps:rt:chat:${chat.id}`, JSON.stringify([{ message_id: chat.id, text: mark }]));
    const { times } = await heard;
    first.push(Math.min(...times) - since);
    last.push(Math.max(...times) - since);
  }
  redis.disconnect();
  readers.stop();
  return { first, last };
}

export async function streams({ product, servers, quick }) {
  const count = quick ? 1_000 : 5_000;
  const rows = [];
  for (const kind of Object.keys(KINDS)) {
    const runs = [];
    for (let round = 0; round < (quick ? 1 : 2); round++) runs.push(await idle(product, kind, count));
    const of = (key) => figure(median(runs.map((run) => run[key])));
    rows.push([kind, count, of('openedKb'), of('kb'), of('cpu')]);
  }
  printTable(
    'Idle event streams, gateway',
    ['stream', 'open', 'RSS KB each, just opened', `RSS KB each, after ${IDLE_MS / 1_000} s`, 'CPU ms a second, all'],
    rows,
  );
  const { first, last } = await fanOut(product, servers, quick ? 50 : 300);
  const row = (name, values) => [name, figure(quantile(values, 0.5)), figure(quantile(values, 0.95))];
  printTable(
    `One delta to ${READERS} readers, ms from its publication`,
    ['', 'p50', 'p95'],
    [row('the first has it', first), row('all have it', last)],
  );
}
