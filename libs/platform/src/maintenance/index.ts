import { Global, Module } from '@nestjs/common';
import { Maintenance } from './maintenance';
import { PlatformTasks } from './platform-tasks';

export * from './maintenance';

/** For worker applications. Needs the database, crypto and idempotency rooms. */
@Global()
@Module({ providers: [Maintenance, PlatformTasks], exports: [Maintenance] })
export class MaintenanceModule {}
