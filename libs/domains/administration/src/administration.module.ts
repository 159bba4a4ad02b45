import { Module } from '@nestjs/common';
import { IdentityModule } from '@aps/identity';
import { GovernanceModule } from '@aps/inference';
import { OrgDiagnosisQueries } from './org-diagnosis.queries';
import { OrgOverviewQueries } from './org-overview.queries';
import { SubscriptionBackfill } from './subscription-backfill';
import { UsageQueries } from './usage/usage.queries';
import { WorkersQueries } from './workers.queries';
import { WorkersService } from './workers.service';

/** Stands alone, so that the gateway can serve members their usage without the rest of this domain. */
@Module({ providers: [UsageQueries], exports: [UsageQueries] })
export class UsageModule {}

const modules = [GovernanceModule, IdentityModule, UsageModule];
const services = [OrgDiagnosisQueries, OrgOverviewQueries, SubscriptionBackfill, WorkersQueries, WorkersService];

@Module({ imports: modules, providers: services, exports: [...modules, ...services] })
export class AdministrationModule {}
