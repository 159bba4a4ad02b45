import { Chance } from '@aps/platform/testing';
import { withPlatform } from '../../api-gateway-e2e/support';
import { asTable, CAMPAIGN_APPS, CERTIFIED, certify, type Campaign } from './certificate';
import { NOTE_MOVES } from './moves';
import { OtherSide } from './other-side';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const long = process.env.CERTIFY_RUNS !== undefined;

/** `npm run certify` runs it at length; CERTIFY_RUNS is the number of runs, TEST_SEED repeats a campaign. */
const CAMPAIGN: Campaign = long
  ? {
      seed,
      runs: Number(process.env.CERTIFY_RUNS),
      width: 64,
      faults: {
        ...{ process_engine_killed: 20, process_engine_frozen: 3, chat_worker_killed: 5, gateway_killed: 2 },
        ...{ redis_restarted: 5, redis_flushed: 1, postgres_restarted: 3 },
      },
    }
  : {
      seed,
      runs: 80,
      width: 24,
      // A freeze lasts longer than all the rest.
      faults: {
        ...{ process_engine_killed: 3, process_engine_frozen: 0, chat_worker_killed: 1, gateway_killed: 1 },
        ...{ redis_restarted: 1, redis_flushed: 1, postgres_restarted: 1 },
      },
    };

describe('crash certificate of processes', () => {
  it(
    'loses no run, does no step twice, asks about what nobody knows, and leaves nothing behind, whatever dies',
    async () => {
      const other = await new OtherSide().start();
      await withPlatform(
        { apps: [...CAMPAIGN_APPS], own: ['postgres', 'redis'], env: { EGRESS_ALLOW: other.address }, tables: NOTE_MOVES },
        async (platform) => {
          const certificate = await certify(platform, new Chance(seed), CAMPAIGN, other);
          process.stdout.write(`\n${asTable(certificate)}\n\nRepeat with TEST_SEED=${seed}\n`);
          expect(certificate).toMatchObject(CERTIFIED);
          expect(certificate.acknowledged).toBeGreaterThanOrEqual(CAMPAIGN.runs);
          const { unknown, cancelled, children, cut, answered_by_two, credits_burned } = certificate;
          expect(Math.min(unknown, cancelled, children, cut, answered_by_two, credits_burned)).toBeGreaterThan(0);
        },
      ).finally(() => other.stop());
    },
    long ? 3_600_000 : 600_000,
  );
});
