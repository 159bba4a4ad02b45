import { Injectable } from '@nestjs/common';
import { Maintenance } from '@aps/platform/maintenance';
import { SyncsRepository } from './syncs.repository';

const AT_ONCE = 50;

/** Begins synchronisations whose time has come, and ends the deletion of those whose deleter died over it. */
@Injectable()
export class SyncsMaintenance {
  constructor(syncs: SyncsRepository, maintenance: Maintenance) {
    maintenance.register({ name: 'knowledge_syncs', everyS: 30, batch: AT_ONCE, run: () => syncs.beginDue(AT_ONCE) });
    maintenance.register({ name: 'knowledge_syncs_left', everyS: 60, batch: 1, run: () => syncs.forgetLeft(1) });
  }
}
