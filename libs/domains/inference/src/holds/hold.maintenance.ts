import { Injectable, Module } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { HoldRepository } from './hold.repository';

const BATCH = 1_000;

/** Removes what the last calls of organizations have left behind. It has not counted for long. */
@Injectable()
class ForgottenReservations {
  constructor(maintenance: Maintenance, db: Database, budgets: HoldRepository) {
    maintenance.register({ name: 'call_holds', everyS: 3_600, batch: BATCH, run: () => budgets.forget(db, BATCH) });
  }
}

/** For worker applications. */
@Module({ providers: [HoldRepository, ForgottenReservations] })
export class InferenceMaintenanceModule {}
