import { NO_CALLER } from '@aps/platform/database';
import { sql, type Chance } from '@aps/platform/testing';
import {
  inflict,
  killed,
  namesOf,
  redisCommand,
  SERVER_FAULTS,
  tableOf,
  timesOf,
  unnoted,
  until,
  type Fault,
  type Instance,
  type Platform,
} from '../../api-gateway-e2e/support';
import { catalogOf, Life } from './lives';
import { aDelivery, Sender, type Delivery } from './sender';
import { proofOf, verdictOf, type Verdict } from './verdict';

/** How much is delivered, and what happens meanwhile. */
export interface Campaign {
  seed: number;
  deliveries: number;
  /** Deliveries that are sent at once. */
  width: number;
  /** Times that each thing happens, spread over the campaign in an order that the seed chooses. */
  faults: Record<FaultKind, number>;
}

type FaultKind = 'billing_webhooks_killed' | 'gateway_killed' | 'redis_flushed';

/** What a campaign came to. */
export interface Certificate extends Verdict {
  seed: number;
  faults: Record<FaultKind, number>;
  organizations: number;
  /** How often a delivery was sent, taken or not. */
  sent: number;
  /** Stored and not applied when Redis lost everything for the last time. */
  waiting_at_the_flush: number;
  /** Names of what the proofs found broken. */
  broken: string[];
  seconds: number;
}

const APPLIERS = ['billing-webhooks', 'billing-webhooks:b'] as const;
export const CAMPAIGN_APPS = ['api-gateway', 'admin-api', ...APPLIERS] as const satisfies Instance[];

/** Of ten deliveries so many are sent twice. */
const TWICE_OF_TEN = 3;
/** The last of them wait for a lock until Redis has been flushed. */
const HELD_MAX = 40;
/** Longest rest: the job of a dead process is taken for lost, is tried again, and is found by the sweep. */
const REST_MS = 240_000;

/** Runs a campaign against a platform that has a Redis of its own. */
export async function certify(platform: Platform, chance: Chance, campaign: Campaign): Promise<Certificate> {
  const began = performance.now();
  const lives = await livesOf(platform, chance, campaign.deliveries);
  const deliveries = chance.shuffled(lives.flatMap(({ events }) => events.map(aDelivery)));
  const twice = deliveries.filter(() => chance.between(1, 10) <= TWICE_OF_TEN);
  const deck = chance.shuffled([...deliveries, ...twice]);

  const sender = new Sender(platform);
  const held = deck.splice(-Math.min(HELD_MAX, Math.ceil(deck.length / 10)));
  const sending = sender.deliverAll(deck, campaign.width);
  // But for the last flush, which comes in the end.
  const counts = { ...campaign.faults, redis_flushed: campaign.faults.redis_flushed - 1 };
  const share = () => sender.acknowledged / deck.length;
  await inflict(chance, counts, (kind) => FAULTS[kind](platform, chance, unnoted), share, sending);
  const waiting_at_the_flush = await flushedBehindLock(platform, sender, held, campaign.width);
  await atRest(platform);
  return {
    seed: campaign.seed,
    faults: campaign.faults,
    organizations: lives.length,
    sent: sender.sent,
    waiting_at_the_flush,
    ...(await verdictOf(platform, lives, deliveries, sender)),
    broken: await proofOf(
      platform,
      lives.map(({ orgId }) => orgId),
    ),
    seconds: Math.round((performance.now() - began) / 1000),
  };
}

/** Organizations whose lives come to so many deliveries. */
async function livesOf(platform: Platform, chance: Chance, deliveries: number): Promise<Life[]> {
  const catalog = await catalogOf(platform);
  const lives: Life[] = [];
  for (let events = 0; events < deliveries; events += lives.at(-1)!.events.length) lives.push(await Life.of(platform, chance, catalog));
  return lives;
}

const FAULTS: Record<FaultKind, Fault> = {
  billing_webhooks_killed: killed(...APPLIERS),
  gateway_killed: killed('api-gateway'),
  redis_flushed: SERVER_FAULTS.redis_flushed,
};

/**
 * The last deliveries are stored while none can be applied; then those die who would have, and Redis loses what it was given.
 *
 * @returns how many deliveries waited
 */
async function flushedBehindLock(platform: Platform, sender: Sender, deliveries: Delivery[], width: number): Promise<number> {
  return platform.database(async (db) => {
    const waiting = await db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql('LOCK TABLE billing_orders, external_subscriptions IN SHARE MODE'));
      await sender.deliverAll(deliveries, width);
      await Promise.all(APPLIERS.map((app) => platform.kill(app)));
      await redisCommand(platform.redis!.url, 'FLUSHALL');
      return (await tx.query(WAITING))[0].n;
    });
    await Promise.all(APPLIERS.map((app) => platform.restart(app)));
    return waiting;
  });
}

const WAITING = sql<{ n: number }>(
  `SELECT count(*)::int AS n FROM billing_events WHERE status IN ('received', 'failed') AND next_attempt_at IS NOT NULL`,
);

/** Waits until no delivery waits for a try. */
function atRest(platform: Platform): Promise<unknown> {
  let left = 0;
  return until(
    () => `deliveries are gone through; ${left} wait`,
    () => platform.database(async (db) => (([{ n: left }] = await db.query(WAITING)), left === 0)),
    REST_MS,
    250,
  );
}

/** The certificate as Markdown. */
export const asTable = ({ faults, wrong, broken, ...figures }: Certificate): string =>
  tableOf('Deliveries', {
    ...figures,
    'organizations that are not as their life says': wrong.length,
    'invariants of credits that are broken': namesOf(broken),
    ...timesOf(faults),
  });
