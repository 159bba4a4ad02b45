import { Module } from '@nestjs/common';
import { providerConfig } from '../provider/provider.config';
import { BillingEffects } from './billing-effects';
import { BillingEventsQueries } from './billing-events.queries';
import { DeliveriesRepository } from './deliveries.repository';
import { DeliveriesService } from './deliveries.service';
import { EffectsRepository } from './effects.repository';
import { REPLAYED_EFFECTS, ReplayService } from './replay.service';

const exported = [BillingEffects, BillingEventsQueries, DeliveriesService];

/** Deliveries of the payment provider, and what they do. */
@Module({ providers: [...exported, DeliveriesRepository, EffectsRepository], exports: exported })
export class DeliveriesModule {}

/** What operators do about them. */
@Module({
  imports: [DeliveriesModule],
  providers: [
    ReplayService,
    {
      provide: REPLAYED_EFFECTS,
      inject: [BillingEffects],
      useFactory: (effects: BillingEffects) => (providerConfig.value.effects ? effects : undefined),
    },
  ],
  exports: [DeliveriesModule, ReplayService],
})
export class BillingEventsModule {}
