import { startProviderOf } from '@aps/billing/testing';
import { WEBHOOK_SECRET } from '@aps/platform/testing';
import { TestService } from '@aps/testing';
import { AppModule as AdminApi } from '../../../apps/admin-api/src/app.module';
import { AppModule as Gateway } from '../../../apps/api-gateway/src/app.module';
import { AppModule as BillingWebhooks } from '../../../apps/billing-webhooks/src/app.module';
import { AppModule as InboxIntake } from '../../../apps/inbox-intake/src/app.module';
import type { LocalProvider } from '../../local-provider/server';
import { seedBase } from '../../migrate/seed';

/** Gateway, admin-api, billing-webhooks and inbox-intake as they are deployed, in this process, on a database of their own, with a payment provider. Calls go to the gateway. */
export class House extends TestService {
  adminUrl: string;
  private provider: LocalProvider | undefined;

  constructor() {
    super([Gateway], { settings: { REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '' } });
  }

  protected override async prepare(): Promise<void> {
    await seedBase(this.db);
    this.adminUrl = await this.serve([AdminApi]);
    const webhooksUrl = await this.serve([BillingWebhooks]);
    this.configure({ SMTP_LISTEN_PORT: '0', INBOUND_EMAIL_SECRET_GENERIC: WEBHOOK_SECRET });
    const intakeUrl = await this.serve([InboxIntake]);
    this.configure({ ADMIN_API_URL: this.adminUrl, BILLING_WEBHOOKS_URL: webhooksUrl, INBOX_INTAKE_URL: intakeUrl });
    this.provider = await startProviderOf(this, `${webhooksUrl}/api/webhooks/polar`);
  }

  override async close(): Promise<void> {
    await this.provider?.close();
    await super.close();
  }
}
