/**
 * What governing models costs: turns of an organization that does it beside those of one that does not, a repoint, the operators' lists
 * over a large catalog, and turns while one of two workers is drained.
 */
import { deepStrictEqual, strictEqual } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../dev/lib/postgres.mjs';
import { call } from '../lib/client.mjs';
import { load } from '../lib/load.mjs';
import { closedLoop, compared, cpuMs, figure, interleaved, median, middle, printTable, ratio } from '../lib/measure.mjs';
import { entitle } from '../lib/plan.mjs';
import { logged } from '../lib/statements.mjs';
import { Product } from '../lib/systems.mjs';
import { startFloor } from './reads.mjs';
import { TEXT, measure } from './turns.mjs';

const DATABASE = 'governance';
const MODES = ['trivial', 'normal', 'high_effort', 'x_high'];
const MODELS = ['mock', 'mock-vision'];
const MODE = 'normal';
const IN_FLIGHT = 64;
const REPOINTED = 1_000;
const CATALOG = 10_000;
/** Enough that each stays short in as long as a drain is watched. */
const WATCHED_CHATS = 512;
const SLOW_MS = 500;
const SLOW = `Take your time.\n\`\`\`mock\n${JSON.stringify({ steps: [{ text: 'Good morning.', delay_ms: SLOW_MS }] })}\n\`\`\``;

/** An organization with one agent. */
export async function organization(product, name) {
  const { id } = await product.call(`${product.url}/api/orgs`, { method: 'POST', body: { name } });
  const agent = await product.call(`${product.url}/api/orgs/${id}/agents`, { method: 'POST', body: { name, instruction: 'Answer.' } });
  return { id, path: `/api/orgs/${id}`, chats: `/api/orgs/${id}/agents/${agent.id}/chats` };
}

/** The product as one organization uses it. */
export function usedBy(product, { chats }, chatSettings) {
  const chatsUrl = product.url + chats;
  return Object.assign(Object.create(product), { chatsUrl, newChat: () => product.newChat(chatsUrl, chatSettings) });
}

/** Allowlists with their defaults, a budget that lasts, and a key of its own. */
async function govern(product, org) {
  const patch = (path, body) => product.call(`${product.url}${org.path}${path}`, { method: 'PATCH', body });
  await patch('/settings/limits', {
    agent_default_model: MODELS[0],
    agent_model_allowlist: MODELS,
    chat_default_model: MODELS[0],
    chat_model_allowlist: MODELS,
    budget_limit_usd: '1000000',
  });
  await patch('/settings/ai/routes', { routes: { mock: { api_key: 'sk-own-0123456789abcdef' } } });
}

async function turnsOf({ product, url, servers, quick, orgs, plain, governed, run }) {
  const [ms, rounds] = quick ? [1_000, 2] : [3_000, 8];
  const variants = (time) => ({ plain: () => run(plain, time), governed: () => run(governed, time) });
  // As long as V8 goes on making code faster.
  await interleaved(variants(quick ? 2_000 : 10_000), 1);
  const runs = await interleaved(variants(ms), rounds);
  await assertGoverned(product, url, orgs);

  const asked = [];
  for (const width of [1, IN_FLIGHT]) {
    const perTurn = [];
    for (const system of [plain, governed]) {
      const { result, statements } = await logged(servers, DATABASE, () => run(system, ms, width));
      perTurn.push(statements.length / result.count);
    }
    asked.push([`statements per turn, ${width} in flight`, ...perTurn.map(figure), figure(perTurn[1] / perTurn[0]), '']);
  }
  const range = (key) => {
    const ratios = runs.governed.map((round, i) => round[key] / runs.plain[i][key]);
    return `${figure(Math.min(...ratios))}–${figure(Math.max(...ratios))}`;
  };
  const row = (name, key) => [name, ...compared(runs.plain, runs.governed, key), range(key)];
  printTable(
    `Turns of an organization with allowlists, mode, budget and own key, ${IN_FLIGHT} in flight`,
    ['', 'without', 'with', 'ratio', `of ${rounds} rounds`],
    [
      row('turns/s', 'rate'),
      row('p50, ms', 'p50'),
      row('p95, ms', 'p95'),
      row('CPU ms of gateway and worker per turn', 'apps'),
      row('CPU ms of PostgreSQL per turn', 'postgres'),
      row('CPU ms of Redis per turn', 'redis'),
      ...asked,
    ],
  );
}

/** The one spends its own key against its budget, the other neither. */
async function assertGoverned(product, url, { plain, governed }) {
  const spent = await query(
    url,
    `SELECT org_id, bool_and(byo_key) AS own, sum(usd_cost) > 0 AS spends FROM inference_receipts WHERE org_id IN ('${plain.id}', '${governed.id}') GROUP BY org_id`,
  );
  const of = ({ id }) => spent.find(({ org_id }) => org_id === id);
  deepStrictEqual([of(plain).own, of(governed).own, of(governed).spends], [false, true, true]);
  const { budget_limit_usd, spend_usd } = await product.call(`${product.url}${governed.path}/settings/limits/usage`);
  deepStrictEqual([budget_limit_usd, Number(spend_usd) > 0], ['1000000', true]);
}

const operate = (product, method, path, body) =>
  product.call(`${product.url}/api/admin${path}`, { method, body, token: product.seed.admin_token });

/** Turns for as long as a drain is watched, in the middle of which `drain` is called. */
async function watched(system, text, ms, drain) {
  const resting = await system.newChats(WATCHED_CHATS, { listening: true });
  const chats = [...resting];
  const [result] = await Promise.all([
    closedLoop({ width: IN_FLIGHT, ms }, async () => {
      const chat = resting.shift();
      await system.turn(chat, text);
      resting.push(chat);
    }),
    sleep(ms / 2).then(drain),
  ]);
  system.forget(chats);
  return result;
}

async function draining({ product, governed, quick }) {
  const second = await (await product.app('chat-worker')).start();
  product.children.push(second);
  const { items } = await operate(product, 'GET', '/workers');
  strictEqual(items.length, 2);
  const { id } = items.find((worker) => worker.id.split(':')[1] === String(second.pid));
  const tell = (what) => operate(product, 'POST', `/workers/${encodeURIComponent(id)}/${what}`);
  const [ms, rounds] = quick ? [4_000, 1] : [20_000, 3];
  const rows = [];
  for (const [name, text] of [
    ['at once', TEXT],
    [`after ${SLOW_MS} ms`, SLOW],
  ]) {
    const variants = (time) => ({
      both: () => watched(governed, text, time, () => {}),
      drained: async () => {
        const result = await watched(governed, text, time, () => tell('drain'));
        await tell('resume');
        return result;
      },
    });
    // A worker that has just started is slow.
    await watched(governed, text, quick ? 2_000 : 10_000, () => {});
    const { both, drained } = await interleaved(variants(ms), rounds);
    for (const key of ['p50', 'p95', 'rate'])
      rows.push([name, key === 'rate' ? 'turns/s' : `${key}, ms`, middle(both, key), middle(drained, key), ratio(drained, both, key)]);
  }
  printTable(
    `Turns in the ${ms / 1_000} s around the drain of one of two workers, ${IN_FLIGHT} in flight`,
    ['the model answers', '', 'without', 'with', 'ratio'],
    rows.map(([name, key, ...figures]) => [name, key, ...figures.map(figure)]),
  );
}

/** Models `prefix-1`, `prefix-2` … of a route. */
const addModels = (url, route, prefix, count) =>
  query(
    url,
    `INSERT INTO model_catalog (id, key, route_id, label, provider, sort_order, context_window, input_price_per_1m, output_price_per_1m, allowed_efforts)
     SELECT gen_random_uuid(), '${prefix}-' || n, '${route}', 'Model ' || n, 'bench', n, 128000, 1, 2, '{low,high}' FROM generate_series(1, ${count}) n`,
  );

/** Those between begin and end of the transaction in which models move. */
function ofTransaction(statements) {
  const { backend } = statements.find(({ text }) => text.startsWith('UPDATE model_catalog'));
  const asked = statements.filter((statement) => statement.backend === backend).map(({ text }) => text);
  return asked.slice(asked.indexOf('START TRANSACTION'), asked.indexOf('COMMIT') + 1);
}

async function repoints({ product, url, servers, quick }) {
  // No vendor has a key here, so what borrows one cannot be called, and is never the first that works.
  const { id: vendor } = (await operate(product, 'GET', '/ai/routes')).find(({ slug }) => slug === 'openai');
  const route = (slug) => operate(product, 'POST', '/ai/routes', { slug, label: slug, dialect: 'dialect_1', credential_route_id: vendor });
  const [here, there] = [await route('bench-here'), await route('bench-there')];
  await addModels(url, here.id, 'repointed', REPOINTED);
  await query(url, 'VACUUM ANALYZE model_catalog');
  const places = [here.id, there.id];
  const repoint = async () => {
    const [source, target] = places;
    const { moved } = await operate(product, 'POST', `/ai/routes/${source}/repoint`, { target_route_id: target });
    strictEqual(moved.catalog, REPOINTED);
    places.reverse();
  };
  const took = [];
  for (let times = 0; times < (quick ? 4 : 20); times++) {
    const since = performance.now();
    await repoint();
    took.push(performance.now() - since);
  }
  const counts = [];
  for (let times = 0; times < (quick ? 2 : 6); times++) counts.push((await logged(servers, DATABASE, repoint)).statements);
  printTable(
    `A repoint of ${REPOINTED} models`,
    ['', 'median', 'least', 'most'],
    [
      ['ms', took],
      ['statements of its transaction, its begin and end included', counts.map((statements) => ofTransaction(statements).length)],
      ['statements of all processes meanwhile', counts.map(({ length }) => length)],
    ].map(([name, values]) => [name, ...[median(values), Math.min(...values), Math.max(...values)].map(figure)]),
  );
  return here.id;
}

/** Fills the catalog, or leaves the few of the installation; every process knows of it then. */
async function resize({ product, url }, route, isLarge) {
  await query(url, `DELETE FROM model_catalog WHERE route_id = '${route}'`);
  const [{ n }] = await query(url, 'SELECT count(*)::int AS n FROM model_catalog');
  if (isLarge) await addModels(url, route, 'listed', CATALOG - n);
  await query(url, 'VACUUM ANALYZE model_catalog');
  await operate(product, 'PATCH', `/ai/routes/${route}`, { label: isLarge ? 'Large' : 'Small' });
}

/** What the size of the catalog costs turns, whose organization names a model, or leaves the choice to us. */
async function catalogs(context, route) {
  const { quick, plain, governed, run } = context;
  const [ms, rounds] = quick ? [1_000, 1] : [3_000, 4];
  const over = (isLarge, system) => async () => {
    await resize(context, route, isLarge);
    return run(system, ms);
  };
  const runs = await interleaved(
    { few: over(false, plain), many: over(true, plain), fewNamed: over(false, governed), manyNamed: over(true, governed) },
    rounds,
  );
  const row = (name, few, many, key) => [name, ...compared(few, many, key)];
  printTable(
    `Turns over a catalog of ${CATALOG} models`,
    ['', 'few models', 'many', 'ratio'],
    [
      ['the first that works', runs.few, runs.many],
      ['mode and allowlist', runs.fewNamed, runs.manyNamed],
    ].flatMap(([name, few, many]) => [
      row(`${name}: turns/s`, few, many, 'rate'),
      row(`${name}: CPU ms of gateway and worker per turn`, few, many, 'apps'),
    ]),
  );
  await resize(context, route, true);
}

async function lists({ product, url, servers, quick }) {
  const token = servers.seed.admin_token;
  const floor = await startFloor({ ...servers, env: { ...servers.env, DATABASE_URL: url }, token });
  const [ms, rounds] = quick ? [1_000, 2] : [4_000, 5];
  const rows = [];
  for (const [name, floorPath, productPath] of [
    ['models', 'models', 'models'],
    ['routes', 'routes', 'ai/routes'],
  ]) {
    const places = {
      floor: { url: `${floor.url}/${floorPath}`, pids: floor.pids },
      product: { url: `${product.url}/api/admin/${productPath}`, pids: product.pids },
    };
    const [least, whole] = await Promise.all(Object.values(places).map((place) => call(place.url, { token })));
    const ids = (list) => list.map(({ id }) => id);
    deepStrictEqual(ids(whole), ids(least));
    const variants = Object.fromEntries(
      Object.entries(places).map(([key, place]) => [
        key,
        async () => {
          const before = cpuMs(place.pids);
          const result = await load({ url: place.url, token, connections: 1, ms });
          if (result.failed) throw new Error(`${result.failed} answers of ${place.url} were not 200`);
          return { ...result, cpu: (cpuMs(place.pids) - before) / result.count };
        },
      ]),
    );
    await interleaved(variants, 1);
    const runs = await interleaved(variants, rounds);
    rows.push([`${name} (${whole.length})`, ...compared(runs.floor, runs.product, 'p50'), ...compared(runs.floor, runs.product, 'cpu')]);
  }
  printTable(
    `Lists of operators over ${CATALOG} models`,
    ['list', 'one query, p50 ms', 'product', 'ratio', 'one query, CPU ms', 'product', 'ratio'],
    rows,
  );
}

export async function governance({ product: shared, servers, quick }) {
  // A database is copied while nobody is there.
  await shared.stop();
  await query(servers.env.DATABASE_URL, `CREATE DATABASE ${DATABASE} TEMPLATE agent_platform`);
  const url = Object.assign(new URL(servers.env.DATABASE_URL), { pathname: `/${DATABASE}` }).href;
  const start = async () => {
    const product = new Product({ ...servers, env: { ...servers.env, DATABASE_URL: url, REDIS_PREFIX: DATABASE } }, { admin: true });
    product.flags = shared.flags;
    return product.start();
  };
  // A plan that includes allowlists excludes modes: this organization had one, and has another.
  const before = await start();
  const orgs = { plain: await organization(before, 'Plain'), governed: await organization(before, 'Governed') };
  await govern(before, orgs.governed);
  await before.stop();
  await entitle(url, { direct_model_choice: false });
  const product = await start();
  await operate(product, 'PATCH', '/ai-settings', Object.fromEntries(MODES.map((mode) => [`mode_${mode}`, { model_key: MODELS[0] }])));

  const context = {
    product,
    url,
    servers,
    quick,
    orgs,
    plain: usedBy(product, orgs.plain),
    governed: usedBy(product, orgs.governed, { model_mode_override: MODE }),
    run: (system, ms, width = IN_FLIGHT) => measure(system, servers.pids, { width, ms, listening: true }),
  };
  await turnsOf(context);
  const route = await repoints(context);
  await catalogs(context, route);
  await lists(context);
  await resize(context, route, false);
  await draining(context);
  await product.stop();
}
