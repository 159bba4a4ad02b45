import { BillingModule } from '@aps/billing';
import { IntakeModule } from '@aps/inboxes';
import { DoorsModule } from '@aps/inboxes/http';
import { outcome } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { ProxyModule } from '.';

const CREDENTIALS = 'inbound:a-password';

describe('the way of mail through the gateway', () => {
  const t = testService([...BASE_MODULES, BillingModule, ProxyModule], {
    settings: { SMTP_LISTEN_PORT: '0', INBOUND_EMAIL_DOMAIN: 'inbound.example', INBOUND_EMAIL_SECRET_POSTMARK: CREDENTIALS },
  });
  beforeAll(async () => t.configure({ INBOX_INTAKE_URL: await t.serve([...BASE_MODULES, BillingModule, DoorsModule.over(IntakeModule)]) }));

  const body = { RawEmail: 'Subject: Hi\r\n\r\nHello', OriginalRecipient: 'nobody@acme.inbound.example' };
  const deliver = (headers: Record<string, string>) => t.call('POST', '/api/hooks/email/postmark', { body, headers });

  it('leaves a provider the password that it proves itself by', async () => {
    const authorization = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;
    expect(outcome(await deliver({ authorization: authorization(CREDENTIALS) }))).toEqual([404, 'not_found']);
    expect(outcome(await deliver({ authorization: authorization('inbound:another') }))).toEqual([401, 'bad_signature']);
    expect(outcome(await deliver({}))).toEqual([401, 'bad_signature']);
  });
});
