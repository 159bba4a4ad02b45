import { Global, Injectable, Module } from '@nestjs/common';
import { Entitlements, type EntitlementSet } from './entitlements';
import { configuredEntitlements } from './entitlements.config';

/** Every organization has what the configuration says. */
@Injectable()
class ConfiguredEntitlements extends Entitlements {
  of(): Promise<EntitlementSet> {
    return Promise.resolve(configuredEntitlements());
  }
}

@Global()
@Module({
  providers: [{ provide: Entitlements, useClass: ConfiguredEntitlements }],
  exports: [Entitlements],
})
export class BillingModule {}
