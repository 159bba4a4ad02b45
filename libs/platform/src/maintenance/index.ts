import { Global, Module } from '@nestjs/common';
import { Maintenance } from './maintenance';
import { PlatformTasks } from './platform-tasks';

export * from './maintenance';
export { RowByRow } from './row-by-row';
export { TallyFoldingModule } from './tally-folding';

/** For worker applications. Needs the database, crypto and idempotency rooms. */
@Global()
@Module({ providers: [Maintenance, PlatformTasks], exports: [Maintenance] })
export class MaintenanceModule {}
