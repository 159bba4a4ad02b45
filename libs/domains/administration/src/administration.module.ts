import { Module } from '@nestjs/common';
import { IdentityModule } from '@aps/identity';
import { GovernanceModule } from '@aps/inference';
import { OrgDiagnosisQueries } from './org-diagnosis.queries';
import { OrgOverviewQueries } from './org-overview.queries';
import { SubscriptionBackfill } from './subscription-backfill';
import { UsageModule } from './usage/usage.module';
import { WorkersQueries } from './workers.queries';
import { WorkersRepository } from './workers.repository';
import { WorkersService } from './workers.service';

@Module({
  imports: [GovernanceModule, IdentityModule, UsageModule],
  providers: [OrgDiagnosisQueries, OrgOverviewQueries, SubscriptionBackfill, WorkersQueries, WorkersRepository, WorkersService],
  exports: [
    GovernanceModule,
    IdentityModule,
    UsageModule,
    OrgDiagnosisQueries,
    OrgOverviewQueries,
    SubscriptionBackfill,
    WorkersQueries,
    WorkersService,
  ],
})
export class AdministrationModule {}
