import { Chance } from '@aps/platform/testing';
import { withPlatform } from '../../api-gateway-e2e/support';
import { asTable, CAMPAIGN_APPS, certify, type Campaign } from './certificate';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const long = process.env.CERTIFY_DELIVERIES !== undefined;

/** `npm run certify` runs it at length; CERTIFY_DELIVERIES is the number of deliveries, TEST_SEED repeats a campaign. */
const CAMPAIGN: Campaign = long
  ? {
      seed,
      deliveries: Number(process.env.CERTIFY_DELIVERIES),
      width: 24,
      faults: { billing_webhooks_killed: 20, gateway_killed: 2, redis_flushed: 3 },
    }
  : { seed, deliveries: 300, width: 12, faults: { billing_webhooks_killed: 4, gateway_killed: 1, redis_flushed: 1 } };

describe('crash certificate of deliveries', () => {
  it(
    'grants each order once, stores each delivery once and leaves none behind, whatever dies',
    async () => {
      await withPlatform(
        {
          apps: [...CAMPAIGN_APPS],
          own: ['redis'],
          provider: true,
          env: { CREDITS_DEFAULT_NEW_ORG_PLAN: 'trial', MAX_OWNED_ORGS: '0' },
        },
        async (platform) => {
          const certificate = await certify(platform, new Chance(seed), CAMPAIGN);
          process.stdout.write(`\n${asTable(certificate)}\n\nRepeat with TEST_SEED=${seed}\n`);
          expect(certificate).toMatchObject({
            ...{ lost: 0, stored_twice: 0, left: 0, unresolved: 0, granted_wrong: 0, wrong: [], broken: [] },
          });
          expect(certificate.acknowledged).toBeGreaterThanOrEqual(CAMPAIGN.deliveries);
          expect(certificate.waiting_at_the_flush).toBeGreaterThan(0);
        },
      );
    },
    long ? 3_600_000 : 600_000,
  );
});
