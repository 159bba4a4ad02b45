import { AdministrationHttpModule, InternalAuthenticator, InternalCallerModule } from '@aps/administration/http';
import { BillingModule, OrgPlans } from '@aps/billing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule } from '@aps/guards';
import { InferenceModule } from '@aps/inference';
import { OrgsModule } from '@aps/orgs';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MailModule } from '@aps/platform/mail';
import { PlatformModule } from '@aps/platform/runtime';

/** What stands behind the gateway for operators. */
export const ADMIN_API = [
  PlatformModule.forRoot('test-behind', { entities: ENTITIES, migrations: MIGRATIONS }),
  IdempotencyModule,
  MailModule,
  InternalCallerModule,
  GuardsModule.forRoot(InternalAuthenticator),
  BillingModule,
  OrgsModule.forRoot(OrgPlans),
  InferenceModule,
  AdministrationHttpModule,
];
