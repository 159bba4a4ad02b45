import { Injectable } from '@nestjs/common';
import { Maintenance } from '@aps/platform/maintenance';
import { HitlService } from './hitl.service';

const BATCH = 100;

/** Gives up questions that nobody answers. */
@Injectable()
export class HitlTasks {
  constructor(maintenance: Maintenance, hitl: HitlService) {
    maintenance.register({ name: 'hitl_expiry', everyS: 60, batch: BATCH, run: () => hitl.expire(BATCH) });
  }
}
