/**
 * What running processes costs: durable steps beside the least worker that commits each, how soon a run begins, and what a long loop, many
 * timers, many runs that wait and a flood of another organization change. Steps call a server of this process, which tells when they come.
 */
import { strictEqual } from 'node:assert';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { query } from '../../dev/lib/postgres.mjs';
import { Child } from '../lib/children.mjs';
import { compared, cpuMs, figure, interleaved, median, middle, printTable, quantile, ratio, rssKb } from '../lib/measure.mjs';
import { withDatabase } from '../lib/servers.mjs';
import { Product } from '../lib/systems.mjs';

const DATABASE = 'processes';
const QUEUE = 'floor-processes';
const STEPS = 5;
/** Each has 32 runs at work at once, so that none has to wait for another of its own; all of them are as many as one worker takes. */
const ORGS = 8;
const PER_ORG = 32;
const ITERATIONS = 500;
const TIMERS = 1_000;
const POLL_MS = 20;
const PATIENCE_MS = 300_000;
/** Until a worker has collected what a start, or a flood, has left. */
const SETTLE_MS = 3_000;

/** The other side of all steps. Notes when a step's call comes, by its key, which begins with the run. */
async function startOtherSide() {
  const came = new Map();
  const waiting = new Map();
  const server = http.createServer((request, response) => {
    const key = request.headers['idempotency-key'];
    came.set(key, performance.now());
    waiting.get(key)?.();
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'));
  });
  server.keepAliveTimeout = PATIENCE_MS;
  await new Promise((listening) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, listening));
  /** When a call came, or will have come. */
  const at = async (key) => {
    if (!came.has(key)) {
      let late;
      await new Promise((resolve, reject) => {
        waiting.set(key, resolve);
        late = setTimeout(() => reject(new Error(`No call ${key} within ${PATIENCE_MS / 1_000} s`)), PATIENCE_MS);
      });
      clearTimeout(late);
      waiting.delete(key);
    }
    return came.get(key);
  };
  return { port: server.address().port, at, forget: () => came.clear(), close: () => server.close() };
}

const call = (id, url) => ({
  id,
  kind: 'tool',
  tool: 'core.http_request',
  arguments: { method: 'PUT', url, json: { input: '${input.text}' } },
});

const definitions = (url) => ({
  calls: { steps: Array.from({ length: STEPS }, (_, n) => call(`s${n}`, url)) },
  loop: { steps: [{ id: 'each', kind: 'loop', over: '${input.items}', as: 'item', max_iterations: ITERATIONS, steps: [call('s0', url)] }] },
  timer: { steps: [{ id: 'until', kind: 'wait', until: '${input.until}' }] },
  signal: { steps: [{ id: 'paid', kind: 'wait', event: 'paid' }] },
});

/** An organization with a process of each definition, deployed. */
async function organization(product, name, url) {
  const { id } = await product.call(`${product.url}/api/orgs`, { method: 'POST', body: { name } });
  const processes = {};
  for (const [kind, definition] of Object.entries(definitions(url))) {
    const at = `${product.url}/api/orgs/${id}/processes`;
    const process = await product.call(at, { method: 'POST', body: { name: kind, title: 'Bench' } });
    const revision = await product.call(`${at}/${process.id}/revisions`, { method: 'POST', body: { definition } });
    await product.call(`${at}/${process.id}/revisions/${revision.id}/deploy`, { method: 'POST' });
    processes[kind] = { id: process.id, revision, runs: `${at}/${process.id}/runs` };
  }
  return { id, processes };
}

const INPUT = { text: 'An order of ten.' };

/** Runs as whoever begins them leaves them, for the relay to publish. @returns their ids */
async function insertRuns(db, org, kind, count, input = INPUT) {
  const { id: process, revision } = org.processes[kind];
  const ids = Array.from({ length: count }, () => uuidv7());
  const source = { kind: 'api', ref_id: null, user_id: null };
  const envelope = JSON.stringify({ id: ids[0], source, received_at: new Date().toISOString(), input, attachments: [], message: null });
  await db.query(
    `WITH r AS (
       INSERT INTO process_runs (id, org_id, status, process_id, revision_id, revision_hash, revision_version, envelope, source_kind, root_run_id)
       SELECT id, $2, 'queued', $3, $4, $5, 1, $6, 'api', id FROM unnest($1::uuid[]) AS id RETURNING id, org_id
     )
     INSERT INTO outbox (id, job, version, payload, available_at)
     SELECT id, 'process.run', 1, jsonb_build_object('org_id', org_id, 'run_id', id), now() FROM r`,
    [ids, org.id, process, revision.id, revision.hash, envelope],
  );
  return ids;
}

/** Waits until a query answers 0. */
async function untilNone(db, text, values) {
  for (const since = performance.now(); (await db.query(text, values)).rows[0].n > 0; await sleep(POLL_MS))
    if (performance.now() - since > PATIENCE_MS) throw new Error(`After ${PATIENCE_MS / 1_000} s it is still to come: ${text}`);
}

const untilEnded = (db, ids) =>
  untilNone(db, 'SELECT count(*)::int AS n FROM process_runs WHERE id = ANY ($1::uuid[]) AND finished_at IS NULL', [ids]);

const secondsOf = async (db, text, values) => Number((await db.query(text, values)).rows[0].s);

/** Steps a second from the first call to the last commit, with what they cost. */
async function costing(pids, count, work) {
  const cpu = () => ({ worker: cpuMs(pids.worker), postgres: cpuMs(pids.postgres), redis: cpuMs(pids.redis) });
  const before = cpu();
  const s = await work();
  const after = cpu();
  return { rate: count / s, ...Object.fromEntries(Object.keys(after).map((part) => [part, (after[part] - before[part]) / count])) };
}

async function steps({ quick, servers, product, floor, peer, orgs, db }) {
  const runs = ORGS * PER_ORG;
  const pids = (worker) => ({ worker: [worker], ...servers.pids });
  const variants = {
    floor: () =>
      costing(pids(floor.pid), runs * STEPS, async () => {
        const ids = Array.from({ length: runs }, () => uuidv7());
        await floor.queue.addBulk(ids.map((id) => floor.jobOf(id)));
        await untilNone(floor.db, 'SELECT $2::int - count(*)::int AS n FROM steps WHERE run = ANY ($1::uuid[])', [ids, runs * STEPS]);
        return secondsOf(floor.db, 'SELECT extract(epoch FROM max(at) - min(began)) AS s FROM steps WHERE run = ANY ($1::uuid[])', [ids]);
      }),
    product: () =>
      costing(pids(product.enginePid), runs * STEPS, async () => {
        const ids = (await Promise.all(orgs.map((org) => insertRuns(db, org, 'calls', PER_ORG)))).flat();
        await untilEnded(db, ids);
        return secondsOf(
          db,
          'SELECT extract(epoch FROM max(finished_at) - min(started_at)) AS s FROM process_runs WHERE id = ANY ($1::uuid[])',
          [ids],
        );
      }),
  };
  if (peer)
    variants.peer = () =>
      costing(pids(peer.pid), runs * STEPS, async () => {
        const done = once(peer.process, 'message');
        peer.process.send(Array.from({ length: runs }, () => floor.jobOf(uuidv7()).data));
        return (await done)[0].s;
      });
  // As long as V8 goes on making code faster.
  await interleaved(variants, quick ? 2 : 6);
  const results = await interleaved(variants, quick ? 2 : 8);
  printTable(
    `Durable steps, ${runs} runs of ${STEPS} at once`,
    ['', 'floor', 'product', 'ratio', ...(peer ? ['DBOS', 'product to it'] : [])],
    [
      ['steps/s', 'rate'],
      ['CPU ms of the worker per step', 'worker'],
      ['CPU ms of PostgreSQL per step', 'postgres'],
      ['CPU ms of Redis per step', 'redis'],
    ].map(([name, key]) => [
      name,
      ...compared(results.floor, results.product, key),
      ...(peer ? [figure(middle(results.peer, key)), figure(ratio(results.product, results.peer, key))] : []),
    ]),
  );
}

/** Begins a run. @returns ms until its first step was reached, from the request and from its answer, and until its last was */
async function begun({ product, otherSide }, org) {
  const asked = performance.now();
  const { id } = await product.call(org.processes.calls.runs, { method: 'POST', body: { input: INPUT } });
  const answered = performance.now();
  const first = await otherSide.at(`${id}/s0`);
  const last = await otherSide.at(`${id}/s${STEPS - 1}`);
  return { asked: first - asked, answered: first - answered, last: last - asked };
}

async function beginnings(context, org, times, pauseMs = POLL_MS) {
  const all = [];
  for (let i = 0; i < times; i++) {
    all.push(await begun(context, org));
    await sleep(pauseMs);
  }
  return all;
}

const p50 = (all, key) =>
  quantile(
    all.map((one) => one[key]),
    0.5,
  );

async function starts(context) {
  const { quick, floor, otherSide, orgs } = context;
  const times = quick ? 15 : 40;
  const variants = {
    floor: async () => {
      const all = [];
      for (let i = 0; i < times; i++) {
        const id = uuidv7();
        const { name, data } = floor.jobOf(id);
        const since = performance.now();
        await floor.queue.add(name, data);
        all.push({ added: (await otherSide.at(`${id}/s0`)) - since });
        await otherSide.at(`${id}/s${STEPS - 1}`);
        await sleep(POLL_MS);
      }
      return { added: p50(all, 'added') };
    },
    product: async () => {
      const all = await beginnings(context, orgs[0], times);
      return { asked: p50(all, 'asked'), answered: p50(all, 'answered') };
    },
  };
  const runs = await interleaved(variants, quick ? 2 : 6);
  const added = runs.floor.map((run) => ({ asked: run.added, answered: run.added }));
  printTable(
    'Start of a run, p50 ms until its first step is reached',
    ['from', 'floor, from adding its job', 'product', 'ratio'],
    [
      ['its answer', ...compared(added, runs.product, 'answered')],
      ['its request', ...compared(added, runs.product, 'asked')],
    ],
  );
}

async function loops({ quick, product, orgs, db }) {
  const items = Array.from({ length: ITERATIONS }, (_, n) => n);
  const runs = [];
  for (let times = 0; times < (quick ? 1 : 3); times++) {
    const { id } = await product.call(orgs[0].processes.loop.runs, { method: 'POST', body: { input: { ...INPUT, items } } });
    await untilEnded(db, [id]);
    const { rows } = await db.query(
      `SELECT extract(epoch FROM started_at)::float8 * 1000 AS began, extract(epoch FROM finished_at)::float8 * 1000 AS ended FROM process_steps WHERE run_id = $1 AND kind = 'tool' ORDER BY seq`,
      [id],
    );
    strictEqual(rows.length, ITERATIONS);
    const hundred = (from) => rows[from + 99].ended - rows[from].began;
    runs.push({ first: hundred(0), last: hundred(ITERATIONS - 100) });
  }
  printTable(
    `A loop of ${ITERATIONS} calls, ms`,
    ['first 100', 'last 100', 'ratio'],
    [[middle(runs, 'first'), middle(runs, 'last'), median(runs.map(({ first, last }) => last / first))].map(figure)],
  );
}

/** Timers of one organization, and of several. */
async function timers({ quick, orgs, db }) {
  const rows = [];
  for (const of of [orgs.slice(0, 1), orgs]) {
    const count = TIMERS / of.length;
    // Until all of them wait.
    const until = new Date(Date.now() + (quick ? 20_000 : 40_000));
    const ids = (await Promise.all(of.map((org) => insertRuns(db, org, 'timer', count, { until: until.toISOString() })))).flat();
    const since = performance.now();
    await untilNone(db, `SELECT count(*)::int AS n FROM process_runs WHERE id = ANY ($1::uuid[]) AND status <> 'waiting'`, [ids]);
    const waited = (performance.now() - since) / 1_000;
    if (Date.now() > until) throw new Error(`It took more than ${waited} s until all of them waited.`);
    await untilEnded(db, ids);
    const late = (text) =>
      secondsOf(db, `SELECT extract(epoch FROM ${text} - $2::timestamptz) AS s FROM process_runs WHERE id = ANY ($1::uuid[])`, [
        ids,
        until,
      ]);
    rows.push([
      of.length,
      figure(waited),
      figure(await late('percentile_disc(0.5) WITHIN GROUP (ORDER BY finished_at)')),
      figure(await late('max(finished_at)')),
    ]);
  }
  printTable(`${TIMERS} timers due at once, s`, ['organizations', 'until all of them waited', 'late, p50', 'late, last'], rows);
}

/** Runs that wait for a signal; every other one for a time that is far away, too. */
async function insertWaiting(db, org, count) {
  const { id: process, revision } = org.processes.signal;
  for (let left = count; left > 0; left -= 10_000) {
    const ids = Array.from({ length: Math.min(left, 10_000) }, () => uuidv7());
    await db.query(
      `WITH i AS MATERIALIZED (
         SELECT id, CASE WHEN n % 2 = 0 THEN now() + interval '7 days' END AS due FROM unnest($1::uuid[]) WITH ORDINALITY AS x(id, n)
       ), r AS (
         INSERT INTO process_runs (id, org_id, status, wait, process_id, revision_id, revision_hash, revision_version, envelope, source_kind, root_run_id, started_at, steps_done)
         SELECT id, $2, 'waiting', jsonb_build_object('resume_at', due), $3, $4, $5, 1, '{}', 'api', id, now(), 1 FROM i
         RETURNING id, org_id
       ), o AS (
         INSERT INTO outbox (id, job, version, payload, available_at)
         SELECT id, 'process.run', 1, jsonb_build_object('org_id', $2::uuid, 'run_id', id), due FROM i WHERE due IS NOT NULL
       )
       INSERT INTO process_steps (id, org_id, run_id, seq, path, step_id, kind, attempt, status, event, waiting_until, started_at)
       SELECT r.id, r.org_id, r.id, 1, 'paid', 'paid', 'wait', 1, 'waiting', 'paid', i.due, now() FROM r JOIN i ON i.id = r.id`,
      [ids, org.id, process, revision.id, revision.hash],
    );
  }
  await db.query('ANALYZE process_runs, process_steps, outbox');
}

async function waiting(context) {
  const { quick, product, orgs, db } = context;
  const count = quick ? 20_000 : 100_000;
  const look = async () => {
    const all = await beginnings(context, orgs[0], quick ? 30 : 100);
    await sleep(SETTLE_MS);
    return { mb: rssKb([product.enginePid]) / 1_024, first: p50(all, 'asked'), last: p50(all, 'last') };
  };
  const before = await look();
  await insertWaiting(db, orgs[0], count);
  await sleep(SETTLE_MS);
  const after = await look();
  const row = (name, key) => [name, figure(before[key]), figure(after[key]), figure(after[key] / before[key])];
  printTable(
    `A new run beside ${count.toLocaleString('en')} of its organization that wait`,
    ['', 'without', 'with', 'ratio'],
    [
      row('until its first step is reached, p50 ms', 'first'),
      row(`until its last of ${STEPS} is, p50 ms`, 'last'),
      row('RSS of process-engine, MB', 'mb'),
    ],
  );
}

async function flood(context) {
  const { quick, orgs, db } = context;
  const [many, one] = orgs;
  const times = quick ? 10 : 20;
  const alone = await beginnings(context, one, times);
  const ids = await insertRuns(db, many, 'calls', quick ? 1_000 : 5_000);
  // Until they have come to the worker.
  await untilNone(db, 'SELECT 1 - least(1, count(*)::int) AS n FROM process_runs WHERE id = ANY ($1::uuid[]) AND started_at IS NOT NULL', [
    ids,
  ]);
  const beside = await beginnings(context, one, times, 200);
  const { rows } = await db.query('SELECT count(*)::int AS n FROM process_runs WHERE id = ANY ($1::uuid[]) AND finished_at IS NULL', [ids]);
  const row = (name, all) => [
    name,
    ...['asked', 'last'].flatMap((key) =>
      [0.5, 0.9999].map((q) =>
        figure(
          quantile(
            all.map((run) => run[key]),
            q,
          ),
        ),
      ),
    ),
  ];
  printTable(
    `A run beside ${ids.length.toLocaleString('en')} of another organization, ms (${rows[0].n.toLocaleString('en')} were left in the end)`,
    ['', 'first step, p50', 'max', 'last step, p50', 'max'],
    [row('alone', alone), row('beside them', beside)],
  );
}

async function startFloor(servers, url) {
  const child = await new Child('floor-processes', {
    file: fileURLToPath(new URL('../floor/processes.mjs', import.meta.url)),
    dir: servers.dir,
    env: { ...servers.env, DATABASE_URL: servers.floorUrl, QUEUE },
  }).start();
  const redis = new Redis(servers.env.REDIS_URL, { maxRetriesPerRequest: null });
  const queue = new Queue(QUEUE, { connection: redis });
  const db = new pg.Pool({ connectionString: servers.floorUrl, max: 2 });
  return {
    pid: child.pid,
    queue,
    db,
    jobOf: (id) => ({ name: 'run', data: { id, url, steps: STEPS, input: INPUT.text }, opts: { removeOnComplete: true } }),
    stop: async () => {
      await child.stop();
      await queue.close();
      redis.disconnect();
      await db.end();
    },
  };
}

/** DBOS, where BENCH_PEERS names a folder that it is installed in. */
async function startPeer(servers) {
  const folder = process.env.BENCH_PEERS;
  if (!folder || !existsSync(path.join(folder, 'node_modules/@dbos-inc/dbos-sdk'))) return undefined;
  const own = Object.assign(new URL(servers.env.DATABASE_URL), { pathname: '/dbos' }).href;
  await query(servers.env.DATABASE_URL, 'CREATE DATABASE dbos');
  return new Child('peer-dbos', {
    file: fileURLToPath(new URL('../peers/dbos.mjs', import.meta.url)),
    dir: servers.dir,
    env: { ...servers.env, DATABASE_URL: own },
  }).start();
}

export async function processes({ product: shared, servers, quick }) {
  // A database is copied while nobody is there.
  await shared.stop();
  const otherSide = await startOtherSide();
  const url = `http://127.0.0.1:${otherSide.port}/`;
  const own = await withDatabase(servers, DATABASE);
  own.env = { ...own.env, MAX_OWNED_ORGS: '0', EGRESS_ALLOW: `127.0.0.1:${otherSide.port}` };
  const product = new Product(own, { processes: true });
  product.flags = shared.flags;
  await product.start();
  const floor = await startFloor(servers, url);
  const peer = await startPeer(servers);
  const db = new pg.Pool({ connectionString: own.env.DATABASE_URL, max: ORGS });
  // When the servers end before it, something else has failed, and is told.
  db.on('error', () => {});
  const orgs = [];
  for (let n = 0; n < ORGS; n++) orgs.push(await organization(product, `Bench ${n}`, url));

  const context = { quick, servers, product, floor, peer, otherSide, orgs, db };
  for (const part of [steps, starts, loops, timers, waiting, flood]) {
    await part(context);
    otherSide.forget();
  }
  await db.end();
  await floor.stop();
  await peer?.stop();
  await product.stop();
  otherSide.close();
}
