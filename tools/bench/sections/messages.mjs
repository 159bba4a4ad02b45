/** The lists and counts of one inbox, over ten thousand messages and over a million. */
import { strictEqual } from 'node:assert';
import { query } from '../../dev/lib/postgres.mjs';
import { closedLoop, figure, interleaved, middle, printTable, ratio } from '../lib/measure.mjs';
import { withDatabase } from '../lib/servers.mjs';
import { Product } from '../lib/systems.mjs';
import { folded } from './growth.mjs';
import { reads } from './growth/lists.mjs';
import { SEEDS } from './growth/seeds.mjs';

/** A database whose product had planned its statements before the messages came. */
async function filled(servers, rows) {
  const own = await withDatabase(servers, `messages_${rows}`);
  const { DATABASE_URL: url } = own.env;
  const product = await new Product(own).start();
  const org = servers.seed.org_id;
  const { id: inbox } = await product.call(`${product.url}/api/orgs/${org}/inboxes`, {
    method: 'POST',
    body: { name: 'Bench', slug: 'bench' },
  });
  const place = { rows, org, inbox, tokens: {} };
  const all = reads(place).filter(({ path }) => path.includes(`/inboxes/${inbox}/messages`));
  const ask = ({ path }) => product.call(product.url + path);
  // Six times each, after which PostgreSQL may keep a plan that it made for next to nothing.
  for (let times = 0; times < 6; times++) for (const read of all) await ask(read);
  await query(url, SEEDS.inboxMessages(place));
  await folded(url);
  await query(url, 'VACUUM ANALYZE');
  for (const read of all) {
    const { total } = await ask(read);
    if (read.added !== undefined) strictEqual(total, read.added, `the total of ${read.what} over ${rows} rows`);
  }
  return { product, reads: all, ask };
}

export async function messages({ product: shared, servers, quick }) {
  await shared.stop();
  const sizes = quick ? [1_000, 20_000] : [10_000, 1_000_000];
  const [few, many] = [await filled(servers, sizes[0]), await filled(servers, sizes[1])];
  const rows = [];
  for (const [at, { what }] of few.reads.entries()) {
    const loop = (place) => () => closedLoop({ width: 1, ms: quick ? 150 : 1_000 }, () => place.ask(place.reads[at]));
    const runs = await interleaved({ few: loop(few), many: loop(many) }, quick ? 2 : 6);
    rows.push([
      what,
      ...[runs.few, runs.many].flatMap((of) => [figure(middle(of, 'p50')), figure(middle(of, 'p95'))]),
      figure(ratio(runs.many, runs.few, 'p50')),
    ]);
  }
  printTable(
    'One inbox, one request at a time, ms',
    ['read', ...sizes.flatMap((size) => [`${size.toLocaleString('en')} messages, p50`, 'p95']), 'p50, ratio'],
    rows,
  );
  for (const { product } of [few, many]) await product.stop();
}
