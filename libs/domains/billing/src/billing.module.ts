import { Global, Injectable, Module } from '@nestjs/common';
import { Blockers } from './blockers';
import { Entitlements, type EntitlementSet } from './entitlements';
import { configuredEntitlements } from './entitlements.config';

/** Every organization has what the configuration says. */
@Injectable()
class ConfiguredEntitlements extends Entitlements {
  of(): Promise<EntitlementSet> {
    return Promise.resolve(configuredEntitlements());
  }
}

/** Nothing is counted, so nothing runs out. */
@Injectable()
class NoBlockers extends Blockers {
  of(): Promise<null> {
    return Promise.resolve(null);
  }
}

@Global()
@Module({
  providers: [
    { provide: Entitlements, useClass: ConfiguredEntitlements },
    { provide: Blockers, useClass: NoBlockers },
  ],
  exports: [Entitlements, Blockers],
})
export class BillingModule {}
