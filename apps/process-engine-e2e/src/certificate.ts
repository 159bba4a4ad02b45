import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '@aps/platform/testing';
import type { Db } from '@aps/platform/database';
import {
  accepted,
  ApiClient,
  creditsOf,
  Cutter,
  frozen,
  inflict,
  killed,
  namesOf,
  payInCredits,
  persist,
  Recoveries,
  recoveryTable,
  requireAlive,
  SERVER_FAULTS,
  tableOf,
  type CreditsVerdict,
  type Fault,
  type Instance,
  type Platform,
  type Recovery,
} from '../../api-gateway-e2e/support';
import { Clients } from './clients';
import { allDeployed, type WorkName } from './definitions';
import type { OtherSide } from './other-side';
import { People } from './people';
import { ALL_WELL, verdictOf, type Verdict } from './verdict';

/** How much is begun, and what happens meanwhile. */
export interface Campaign {
  seed: number;
  /** Runs that are begun, beside those that are done again and those that steps begin. */
  runs: number;
  /** Runs that are driven at once. */
  width: number;
  /** Times that each thing happens, spread over the campaign in an order that the seed chooses. */
  faults: Record<FaultKind, number>;
}

export type FaultKind =
  | 'process_engine_killed'
  | 'process_engine_frozen'
  | 'chat_worker_killed'
  | 'gateway_killed'
  | 'redis_restarted'
  | 'redis_flushed'
  | 'postgres_restarted';

/** What a campaign came to. */
export interface Certificate extends Verdict, CreditsVerdict {
  seed: number;
  faults: Record<FaultKind, number>;
  /** Runs that have not ended. */
  stuck: number;
  /** Questions that two answered at once, and those where both were told that theirs counts. */
  answered_by_two: number;
  answered_twice: number;
  /** Starts whose connection was cut before their answer was heard. */
  cut: number;
  /** Runs that today's code would not go through as they went. */
  not_deterministic: number;
  /** Runs that a fault hit and that nobody went on with. */
  runs_that_never_went_on: number;
  /** Seconds from a fault until a run that it hit went on. */
  recovery_s: Partial<Record<FaultKind, Recovery>>;
  seconds: number;
}

/** What a certificate has to say. */
export const CERTIFIED = { ...ALL_WELL, stuck: 0, answered_twice: 0, not_deterministic: 0, runs_that_never_went_on: 0, credits_broken: [] };

const ENGINES = ['process-engine', 'process-engine:b'] as const;
export const CAMPAIGN_APPS = ['api-gateway', 'admin-api', 'chat-worker', ...ENGINES] as const satisfies Instance[];
const REST_MS = 60_000;
const CHECKS_AT_ONCE = 8;

const SHARES: Partial<Record<WorkName, number>> = { orders: 4, loops: 3, people: 3, families: 2, refusals: 1 };
const DECK = (Object.keys(SHARES) as WorkName[]).flatMap((work) => Array.from({ length: SHARES[work]! }, () => work));

/** Runs a campaign against a platform that has servers of its own. */
export function certify(platform: Platform, chance: Chance, campaign: Campaign, other: OtherSide): Promise<Certificate> {
  other.delay = () => sleep(chance.between(0, 300));
  return platform.database((db) => run(platform, db, chance, campaign, other));
}

async function run(
  platform: Platform,
  db: Db,
  chance: Chance,
  { seed, runs, width, faults }: Campaign,
  other: OtherSide,
): Promise<Certificate> {
  const began = performance.now();
  await payInCredits(platform);
  const processes = await allDeployed(platform, other.url);
  const cutter = await Cutter.before(Number(new URL(platform.url).port), chance);
  const meaning = { killed: 'process_engine_killed', postgresRestarted: 'postgres_restarted' } as const;
  const recoveries = new Recoveries<FaultKind>(db, ['process_runs'], meaning);
  const lossy = new ApiClient(`http://127.0.0.1:${cutter.port}`, platform.demo);
  const clients = new Clients(platform, db, processes, chance, lossy, recoveries);
  const people = new People(platform, db, other, chance);
  let isOver = false;
  let fault: unknown;
  const beside = Promise.all([people.answer().catch((error: unknown) => void (fault = error)), clients.watch(() => isOver)]);
  const share = () => {
    if (fault) throw fault as Error;
    requireAlive(platform, [...ENGINES, 'chat-worker']);
    return clients.over / runs;
  };
  try {
    let left = runs;
    const client = async () => {
      while (left-- > 0) await clients.work(chance.choose(DECK));
    };
    const hit = (kind: FaultKind, owner: string) => {
      const since = performance.now();
      return persist(() => recoveries.hit(kind, owner, since));
    };
    const work = Promise.all(Array.from({ length: width }, client));
    await inflict(chance, faults, (kind) => FAULTS[kind](platform, chance, (owner) => hit(kind, owner)), share, work);
    share();
    const [{ left: none }, goesOn] = [CERTIFIED, async () => recoveries.open > 0 || (await verdictOf(db, [], [], other)).left > none];
    for (const end = Date.now() + REST_MS; Date.now() < end && (await goesOn());) await sleep(1_000);
  } finally {
    isOver = true;
    people.leave();
    cutter.close();
    await beside;
  }
  const { begun, told, stuck } = clients;
  const verdict = await verdictOf(db, begun, told, other);
  const seconds = Math.round((performance.now() - began) / 1000);
  return {
    ...{ seed, faults, cut: cutter.cut, ...verdict, stuck, answered_by_two: people.pairs, answered_twice: people.both_taken },
    not_deterministic: await notDeterministic(
      platform,
      begun.map(({ id, work }) => `${processes[work]}/runs/${id}`),
    ),
    ...(await creditsOf(platform)),
    runs_that_never_went_on: recoveries.open,
    ...{ recovery_s: recoveries.verdict(), seconds },
  };
}

/** How many runs would not go again as they went. */
async function notDeterministic(platform: Platform, runs: string[]): Promise<number> {
  const left = [...runs];
  let found = 0;
  const check = async () => {
    for (let run = left.pop(); run; run = left.pop()) {
      const path = `/api/orgs/${platform.demo.org_id}/processes/${run}/replay-check`;
      const { deterministic, first_divergence } = await persist(() => platform.call('GET', path).then(accepted));
      if (deterministic) continue;
      if (found++ < 5) process.stdout.write(`${run} would go another way: ${JSON.stringify(first_divergence)}\n`);
    }
  };
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, check));
  return found;
}

const FAULTS: Record<FaultKind, Fault> = {
  ...SERVER_FAULTS,
  process_engine_killed: killed(...ENGINES),
  process_engine_frozen: frozen(...ENGINES),
  chat_worker_killed: killed('chat-worker'),
  gateway_killed: killed('api-gateway'),
};

/** The certificate as Markdown. */
export function asTable({ faults, recovery_s: recovery, credits_broken: broken, ...figures }: Certificate): string {
  const table = tableOf('Runs of processes', { ...figures, 'invariants of credits that are broken': namesOf(broken) });
  return [table, '', ...recoveryTable(faults, recovery)].join('\n');
}
