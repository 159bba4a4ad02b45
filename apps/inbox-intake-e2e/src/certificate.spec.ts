import { withPlatform } from '../../api-gateway-e2e/support';
import { Chance, SmtpServer, WEBHOOK_SECRET } from '@aps/platform/testing';
import { asTable, CAMPAIGN_APPS, certify, type Campaign } from './certificate';
import { ALL_WELL_AND_REPLIED } from './verdict';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const long = process.env.CERTIFY_INBOX !== undefined;

/** `npm run certify` runs it at length; CERTIFY_INBOX is the number of messages, TEST_SEED repeats a campaign. */
const CAMPAIGN: Campaign = long
  ? {
      seed,
      messages: Number(process.env.CERTIFY_INBOX),
      width: 24,
      faults: { inbox_intake_killed: 20, chat_worker_killed: 5, redis_restarted: 5, redis_flushed: 3, postgres_restarted: 3 },
    }
  : {
      seed,
      messages: 200,
      width: 12,
      faults: { inbox_intake_killed: 3, chat_worker_killed: 1, redis_restarted: 1, redis_flushed: 1, postgres_restarted: 1 },
    };

describe('crash certificate of inboxes', () => {
  it(
    'stores each message once, evaluates it, begins one chat for it, and answers it once, whatever dies and whoever intervenes',
    async () => {
      const outside = new SmtpServer();
      const SMTP_URL = await outside.listen();
      await withPlatform(
        {
          apps: [...CAMPAIGN_APPS],
          balanced: true,
          own: ['postgres', 'redis'],
          env: { INBOUND_EMAIL_SECRET_GENERIC: WEBHOOK_SECRET, SMTP_URL },
        },
        async (platform) => {
          const certificate = await certify(platform, outside, new Chance(seed), CAMPAIGN);
          process.stdout.write(`\n${asTable(certificate)}\n\nRepeat with TEST_SEED=${seed}\n`);
          const { messages } = CAMPAIGN;
          expect(certificate).toMatchObject({ ...ALL_WELL_AND_REPLIED, acknowledged: messages, classified_twice: 0 });
          // One that is terminated need not have got so far.
          expect(certificate.classified).toBeGreaterThanOrEqual(messages - certificate.terminated);
          expect(Math.min(certificate.released, certificate.terminated, certificate.cut, certificate.replied!)).toBeGreaterThan(0);
        },
      ).finally(() => outside.close());
    },
    long ? 3_600_000 : 480_000,
  );
});
