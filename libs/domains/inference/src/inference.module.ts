import { Global, Module } from '@nestjs/common';
import { EgressModule } from '@aps/platform/egress';
import { InferenceBroadcasts } from './inference.broadcasts';
import { InferenceRepository } from './inference.repository';
import { InferenceSettings } from './inference.settings';
import { ModelCatalog } from './model-catalog.service';
import { ModelCalls } from './model-calls.service';
import { ModelResolver } from './model-resolver.service';
import { ReceiptsRepository } from './receipts.repository';

/** Choosing and calling models. */
@Global()
@Module({
  imports: [EgressModule],
  controllers: [InferenceBroadcasts],
  providers: [InferenceRepository, InferenceSettings, ModelResolver, ModelCatalog, ModelCalls, ReceiptsRepository],
  exports: [InferenceRepository, InferenceSettings, ModelResolver, ModelCatalog, ModelCalls, ReceiptsRepository],
})
export class InferenceModule {}
