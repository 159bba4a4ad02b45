import { Chance } from '@aps/platform/testing';
import { withPlatform } from '../../api-gateway-e2e/support';
import { Ledger } from '@aps/tools/testing';
import { asTable, CAMPAIGN_APPS, certify, type Campaign } from './certificate';
import { check } from './invariants';
import { SECOND_KIND } from './second-kind';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const long = process.env.CERTIFY_MESSAGES !== undefined;

/** `npm run certify` runs it at length; CERTIFY_MESSAGES is the number of messages, TEST_SEED repeats a campaign. */
const CAMPAIGN: Campaign = long
  ? {
      seed,
      messages: Number(process.env.CERTIFY_MESSAGES),
      counts: Math.round(Number(process.env.CERTIFY_MESSAGES) / 2),
      width: 48,
      faults: {
        worker_killed: 20,
        worker_ended: 5,
        worker_frozen: 3,
        gateway_killed: 5,
        redis_restarted: 5,
        redis_flushed: 1,
        postgres_restarted: 3,
      },
    }
  : {
      seed,
      messages: 150,
      counts: 75,
      width: 24,
      faults: {
        worker_killed: 2,
        worker_ended: 1,
        worker_frozen: 0,
        gateway_killed: 1,
        redis_restarted: 1,
        redis_flushed: 1,
        postgres_restarted: 1,
      },
    };

describe('crash certificate', () => {
  it(
    'loses nothing, does nothing twice and leaves nothing stuck, whatever dies',
    async () => {
      const ledger = await new Ledger().start();
      await withPlatform(
        {
          apps: [...CAMPAIGN_APPS],
          own: ['postgres', 'redis'],
          env: { RATE_LIMITS: 'off', LEDGER_URL: ledger.url },
          maxConcurrentChats: 500,
          ...SECOND_KIND,
        },
        async (platform) => {
          const certificate = await certify(platform, new Chance(seed), CAMPAIGN, ledger);
          process.stdout.write(`\n${asTable(certificate)}\n\nRepeat with TEST_SEED=${seed}\n`);
          expect(certificate).toMatchObject({
            ...{ lost: 0, duplicated: 0, side_effects_twice: 0, side_effects_missing: 0, stuck: 0, credits_broken: [] },
            ...{ calls_out_twice: 0, calls_out_missing: 0, calls_out_unsaid: 0, counts_wrong: 0, runs_that_never_went_on: 0 },
          });
          expect(certificate.credits_burned).toBeGreaterThan(0);
          expect(certificate.acknowledged).toBeGreaterThanOrEqual(CAMPAIGN.messages);
          await check(platform);
        },
      ).finally(() => ledger.stop());
    },
    long ? 3_600_000 : 600_000,
  );
});
