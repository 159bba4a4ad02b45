import { Global, Module } from '@nestjs/common';
import { Blockers, RateCardsModule } from '@aps/billing';
import { EgressModule } from '@aps/platform/egress';
import { HoldRepository } from './holds/hold.repository';
import { Holds } from './holds/holds.service';
import { ModelResolver } from './choice/model-resolver.service';
import { ModelUsers } from './governance/model-users';
import { OrgRuntimeService } from './governance/org-runtime.service';
import { InferenceBroadcasts } from './inference.broadcasts';
import { InferenceRepository } from './inference.repository';
import { InferenceSettings } from './inference.settings';
import { ModelCalls } from './model-calls.service';
import { ModelCatalog } from './model-catalog.service';
import { ModelQueries } from './model.queries';
import { ReceiptsRepository } from './receipts.repository';

const exported = [
  Holds,
  InferenceRepository,
  InferenceSettings,
  ModelCatalog,
  ModelQueries,
  ModelResolver,
  ModelUsers,
  OrgRuntimeService,
  ReceiptsRepository,
];

/** Choosing and calling models, and holding organizations to their credits or their budget. */
@Global()
@Module({
  imports: [EgressModule, RateCardsModule],
  controllers: [InferenceBroadcasts],
  providers: [...exported, HoldRepository, ModelCalls, { provide: Blockers, useExisting: Holds }],
  exports: [...exported, Blockers],
})
export class InferenceModule {}
