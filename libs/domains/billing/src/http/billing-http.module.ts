import { Module } from '@nestjs/common';

/** What operators do about plans and credits; served by admin-api. */
@Module({})
export class BillingAdminHttpModule {}
