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

const modules = [GovernanceModule, IdentityModule, UsageModule];
const services = [OrgDiagnosisQueries, OrgOverviewQueries, SubscriptionBackfill, WorkersQueries, WorkersService];

@Module({ imports: modules, providers: [...services, WorkersRepository], exports: [...modules, ...services] })
export class AdministrationModule {}
