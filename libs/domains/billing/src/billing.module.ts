import { Global, Injectable, Module } from '@nestjs/common';
import { Entitlements, type EntitlementSet } from './entitlements';
import { configuredEntitlements } from './entitlements.config';
import { Ledger } from './ledger/ledger.repository';
import { SubscriptionsRepository } from './subscriptions/subscriptions.repository';
import { Subscriptions } from './subscriptions/subscriptions.service';

/** Every organization has what the configuration says. */
@Injectable()
class ConfiguredEntitlements extends Entitlements {
  of(): Promise<EntitlementSet> {
    return Promise.resolve(configuredEntitlements());
  }
}

@Global()
@Module({
  providers: [Ledger, Subscriptions, SubscriptionsRepository, { provide: Entitlements, useClass: ConfiguredEntitlements }],
  exports: [Entitlements, Ledger, Subscriptions, SubscriptionsRepository],
})
export class BillingModule {}
