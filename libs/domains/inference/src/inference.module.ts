import { Global, Module } from '@nestjs/common';
import { Blockers } from '@aps/billing';
import { EgressModule } from '@aps/platform/egress';
import { BudgetRepository } from './budgets/budget.repository';
import { Budgets } from './budgets/budgets.service';
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
  Budgets,
  InferenceRepository,
  InferenceSettings,
  ModelCalls,
  ModelCatalog,
  ModelQueries,
  ModelResolver,
  ModelUsers,
  OrgRuntimeService,
  ReceiptsRepository,
];

/** Choosing and calling models, and holding organizations to their budget. */
@Global()
@Module({
  imports: [EgressModule],
  controllers: [InferenceBroadcasts],
  providers: [...exported, BudgetRepository, { provide: Blockers, useExisting: Budgets }],
  exports: [...exported, Blockers],
})
export class InferenceModule {}
