/**
 * `npm run bench`: what the platform costs beside the least code that does the same (the floor), in one run, as ratios.
 *
 *   --quick            about a minute instead of several: fewer and shorter rounds
 *   --only <sections>  some of start, reads, turns, first-token, held, streams, stops, takeovers, flood, governance, metering, deliveries, credits, intake, acknowledging, rules, processes, growth, messages, separated by commas
 *   --profile <folder> the product's processes write CPU profiles there; `node tools/bench/profile.mjs <file>` sums one up
 *
 * Prints Markdown. Ends with 0 unless something breaks: ratios are for people to judge. docs/operations/performance.md explains them.
 */
import { mkdirSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { build } from '../dev/build.mjs';
import { UserError, runMain, seconds } from '../dev/lib/console.mjs';
import { checkNode, ensureInstalled } from '../dev/lib/install.mjs';
import { stopAll } from './lib/children.mjs';
import { startServers } from './lib/servers.mjs';
import { Floor, Product } from './lib/systems.mjs';
import { acknowledging } from './sections/acknowledging.mjs';
import { credits } from './sections/credits.mjs';
import { deliveries } from './sections/deliveries.mjs';
import { firstToken } from './sections/first-token.mjs';
import { flood } from './sections/flood.mjs';
import { governance } from './sections/governance.mjs';
import { growth } from './sections/growth.mjs';
import { held } from './sections/held.mjs';
import { intake } from './sections/intake.mjs';
import { messages } from './sections/messages.mjs';
import { metering } from './sections/metering.mjs';
import { processes } from './sections/processes.mjs';
import { reads } from './sections/reads.mjs';
import { rules } from './sections/rules.mjs';
import { start } from './sections/start.mjs';
import { stops } from './sections/stops.mjs';
import { streams } from './sections/streams.mjs';
import { takeovers } from './sections/takeovers.mjs';
import { turns } from './sections/turns.mjs';

const SECTIONS = {
  start,
  reads,
  turns,
  'first-token': firstToken,
  held,
  streams,
  stops,
  takeovers,
  flood,
  governance,
  metering,
  deliveries,
  credits,
  intake,
  acknowledging,
  rules,
  processes,
  growth,
  messages,
};

function options() {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string' }, profile: { type: 'string' } },
  });
  const names = values.only?.split(',') ?? Object.keys(SECTIONS);
  const unknown = names.find((name) => !SECTIONS[name]);
  if (unknown !== undefined) throw new UserError(`There is no section ${unknown}; there are: ${Object.keys(SECTIONS).join(', ')}.`);
  return { ...values, names };
}

/** Rejects on Ctrl-C, so that what was started is ended and removed. */
const interrupted = new Promise((_resolve, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => reject(new UserError('Interrupted.')));
});
interrupted.catch(() => {});

async function main() {
  const { quick, names, profile } = options();
  if (process.platform !== 'linux') throw new UserError('CPU and memory are read from /proc: the benchmark needs Linux.');
  checkNode();
  await ensureInstalled();
  await build();
  if (profile) mkdirSync(profile, { recursive: true });
  const since = performance.now();
  const busy = () => `load ${loadavg()[0].toFixed(1)} on ${availableParallelism()} cores`;
  const servers = await startServers();
  try {
    console.log(`\nNode ${process.versions.node}, ${servers.detail}, ${busy()}${quick ? ', quick' : ''}`);
    const context = { servers, quick, floor: new Floor(servers), product: new Product(servers, { profileDir: profile }) };
    for (const name of names) await Promise.race([SECTIONS[name](context), interrupted]);
    console.log(`\n${seconds(performance.now() - since)}, ${busy()}`);
  } finally {
    await stopAll();
    await servers.stop();
  }
}

await runMain(main);
process.exit();
