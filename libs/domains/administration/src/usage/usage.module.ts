import { Module } from '@nestjs/common';
import { UsageQueries } from './usage.queries';

/** Stands alone, so that the gateway can serve members their usage without the rest of this domain. */
@Module({ providers: [UsageQueries], exports: [UsageQueries] })
export class UsageModule {}
