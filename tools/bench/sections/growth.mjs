/** Lists and figures over few rows and over many: what a page costs must follow the page, and not what lies beside it. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../dev/lib/postgres.mjs';
import { download } from '../lib/client.mjs';
import { closedLoop, figure, middle, median, printTable, ratio, rssKb } from '../lib/measure.mjs';
import { withDatabase } from '../lib/servers.mjs';
import { Product } from '../lib/systems.mjs';
import { reads } from './growth/lists.mjs';
import { AGENT_SEEDS, aRun, NAMED, places, SEEDS, SHARED } from './growth/seeds.mjs';

/** Waits until the worker has folded what the seeds appended. */
export async function folded(url) {
  const tallies = await query(
    url,
    `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'folded'`,
  );
  const left = tallies.map(({ name }) => `(SELECT count(*)::int FROM ${name} WHERE NOT folded)`).join(' + ');
  while ((await query(url, `SELECT ${left} AS n`))[0].n > 0) await sleep(500);
}

/** Somebody who belongs to many organizations, and signs in a lot. @returns the id, and the token of a first session */
async function aPerson(servers, url, product) {
  const email = 'person@growth.example';
  const [{ id }] = await query(
    url,
    `INSERT INTO users (id, email, email_canonical, email_verified_at, name, password_hash)
     SELECT gen_random_uuid(), '${email}', '${email}', now(), 'Person', password_hash FROM users WHERE email = '${servers.seed.user.email}' RETURNING id`,
  );
  const body = { email, password: servers.seed.user.password };
  const { session } = await product.call(`${product.url}/api/auth/login`, { method: 'POST', body, token: undefined });
  return { id, token: session.token };
}

/** A database with so many rows behind a product that had started, and planned its statements, before they came. */
async function grown(servers, name, rows) {
  const { seed } = servers;
  const own = await withDatabase(servers, name);
  const { DATABASE_URL: url } = own.env;
  const product = await new Product(own, { admin: true }).start();
  const org = seed.org_id;
  const api = `${product.url}/api/orgs/${org}`;
  const make = (path, body) => product.call(`${api}${path}`, { method: 'POST', body });
  const [mine, theirs, varied] = await Promise.all(['Mine', 'Theirs', 'Varied'].map((agent) => make('/agents', { name: agent })));
  const template = await make('/prompt-templates', { name: 'Bench', text: 'Hello.' });
  const inbox = await make('/inboxes', { name: 'Bench', slug: 'bench' });
  const process = await make('/processes', { name: 'Bench', title: 'Does it' });
  const revision = await make(`/processes/${process.id}/revisions`, {
    definition: { steps: [{ id: 'say', kind: 'transform', set: { text: 'hello' } }] },
  });
  await query(url, places({ org }));
  await query(url, aRun({ org, process: process.id, processRevision: revision.id }));
  const chat = await product.newChat(`${api}/agents/${varied.id}/chats`);
  const person = await aPerson(servers, url, product);
  const idOf = async (of) => (await query(url, `SELECT id FROM ${of}`))[0].id;
  const place = {
    rows,
    org,
    mine: mine.id,
    theirs: theirs.id,
    varied: varied.id,
    chat: chat.id,
    inbox: inbox.id,
    process: process.id,
    processRevision: revision.id,
    run: NAMED,
    template: template.id,
    templateRevision: template.current_revision.id,
    owner: await idOf(`users WHERE email = '${seed.user.email}'`),
    operator: await idOf(`users WHERE email = '${seed.platform_admin.email}'`),
    person: person.id,
    route: await idOf(`inference_routes WHERE slug = 'mock'`),
    tokens: { operator: seed.admin_token, person: person.token },
  };
  const all = reads(place);
  // Six times each, after which PostgreSQL may keep a plan that it made for next to nothing. What a list has by then, seeds add to.
  for (let times = 0; times < 6; times++) for (const read of all) read.before = (await ask({ product }, read)).total;

  const ofAgent = async (agent) => ({ ...place, agent, revision: await idOf(`agent_revisions WHERE agent_id = '${agent}'`) });
  const [ofMine, ofTheirs, ofVaried] = await Promise.all([place.mine, place.theirs, place.varied].map(ofAgent));
  const agentSeeds = [
    ...Object.keys(AGENT_SEEDS).map((what) => [what, ofMine]),
    ...['chats', 'decisions', 'receipts', 'turns', 'requests'].map((what) => [what, { ...ofTheirs, owner: null }]),
    ['decisions', { ...ofVaried, allIn: chat.id, basis: 'n' }],
    ['requests', { ...ofVaried, allIn: chat.id, rows: SHARED }],
    ['requests', { ...place, agent: null, rows: SHARED }],
  ];
  for (const [what, of] of agentSeeds) await query(url, AGENT_SEEDS[what](of));
  for (const of of Object.values(SEEDS)) await query(url, of(place));
  await folded(url);
  await query(url, 'VACUUM ANALYZE');
  return { product, url, api, mine: `/agents/${place.mine}`, reads: all };
}

/** What is summed up, compared with the rows of its window. */
async function assertFigures({ product, url, api }) {
  const [org] = api.split('/').slice(-1);
  const [{ totals, from }, { spend_usd }] = await Promise.all(['/usage', '/settings/limits/usage'].map((path) => product.call(api + path)));
  const [byHand] = await query(
    url,
    `SELECT (SELECT count(*)::int FROM chats WHERE org_id = '${org}' AND created_at >= '${from}') AS chats,
       (SELECT count(*)::int FROM turns WHERE org_id = '${org}' AND dispatched_at >= '${from}' AND status NOT IN ('cancelled', 'skipped')) AS turns,
       sum(input_tokens + output_tokens)::int AS tokens, trim_scale(sum(usd_cost))::text AS cost_usd, trim_scale(sum(credits))::text AS credits
     FROM inference_receipts WHERE org_id = '${org}' AND created_at >= '${from}'`,
  );
  deepStrictEqual(totals, byHand);
  const [{ spent }] = await query(
    url,
    `SELECT coalesce(trim_scale(sum(usd_cost)), 0)::text AS spent FROM inference_receipts
     WHERE org_id = '${org}' AND chat_id IS NOT NULL AND created_at >= date_trunc('month', now(), 'UTC')`,
  );
  strictEqual(spend_usd, spent);
}

const ask = ({ product }, { path, as }) => product.call(`${product.url}${path}`, as && { token: as });

const SAMPLE_MS = 20;

/** One list answered whole: what it takes, and what those who ask for a page notice of it. */
async function everyRow({ product, api, mine }, rows, { rounds, ms }) {
  const { api_token: token } = product.seed;
  const [gateway] = product.pids;
  const all = `${api}${mine}/chats`;
  const page = () => product.call(`${all}?limit=20`);
  const before = rssKb([gateway]);
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, rssKb([gateway]))), SAMPLE_MS);
  const began = performance.now();
  const { bytes, end } = await download(all, { token });
  const took = performance.now() - began;
  clearInterval(watch);
  strictEqual(end.slice(end.lastIndexOf(']')), `],"total":${rows},"next_offset":null}`);

  const alone = [];
  const beside = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(await closedLoop({ width: 1, ms }, page));
    const over = new AbortController();
    const downloads = (async () => {
      while (!over.signal.aborted) await download(all, { token, signal: over.signal });
    })();
    beside.push(await closedLoop({ width: 1, ms }, page));
    over.abort();
    await downloads;
  }
  const mb = (kb) => figure(kb / 1_024);
  printTable(
    `Every row of ${rows.toLocaleString('en')} chats in one answer`,
    ['', 'alone', 'beside it, all the time', 'ratio'],
    [
      ...['p50', 'p95'].map((key) => [
        `a page of 20, ${key}, ms`,
        figure(middle(alone, key)),
        figure(middle(beside, key)),
        figure(ratio(beside, alone, key)),
      ]),
      ['resident memory of the gateway, MB', mb(before), mb(peak), figure(peak / before)],
      ['the answer, s', '', figure(took / 1_000), ''],
      ['the answer, MB', '', mb(bytes / 1_024), ''],
    ],
  );
}

export async function growth({ servers, quick }) {
  const sizes = quick ? [1_000, 20_000] : [1_000, 100_000];
  const places = [];
  for (const rows of sizes) places.push(await grown(servers, `growth_${rows}`, rows));
  for (const place of places) await assertFigures(place);
  const [rounds, ms] = quick ? [2, 150] : [4, 400];
  const rows = [];
  for (const [i, { what }] of places[0].reads.entries()) {
    const runs = places.map(() => []);
    for (const [at, place] of places.entries()) {
      const { before, added } = place.reads[i];
      const { total } = await ask(place, place.reads[i]);
      if (added !== undefined) strictEqual(total, before + added, `the total of ${what} over ${sizes[at]} rows`);
    }
    for (let round = 0; round < rounds; round++)
      for (const [at, place] of places.entries()) runs[at].push(await closedLoop({ width: 1, ms }, () => ask(place, place.reads[i])));
    const [few, many] = runs;
    rows.push([
      what,
      ...[few, many].flatMap((of) => [figure(middle(of, 'p50')), figure(middle(of, 'p95'))]),
      figure(median(many.map((run, round) => run.p50 / few[round].p50))),
    ]);
  }
  printTable(
    `Growth, one request at a time, ms`,
    ['read', ...sizes.flatMap((size) => [`${size.toLocaleString('en')} rows, p50`, 'p95']), 'p50, ratio'],
    rows,
  );
  await everyRow(places[1], sizes[1], { rounds, ms: 4 * (quick ? 400 : 1_000) });
  for (const { product } of places) await product.stop();
}
