import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { TurnRepository } from './turn.repository';

/**
 * Finds what nobody told anybody: turns that nobody owns any more, and turns over the cap whose slot became free while they were being
 * parked. Runs in every worker; what it does is safe to do twice.
 */
@Injectable()
export class TurnSweeper {
  constructor(
    maintenance: Maintenance,
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly entitlements: Entitlements,
  ) {
    // Every sweep takes all there is.
    maintenance.register({ name: 'turns', everyS: 5, batch: Infinity, run: () => this.sweep() });
  }

  /** @returns how many turns it set going */
  async sweep(): Promise<number> {
    let woken = await this.turns.wakeUnowned(this.db);
    for (const { org_id, running, parked } of await this.turns.parkedOrgs(this.db)) {
      const cap = (await this.entitlements.of(org_id)).max_concurrent_chats;
      const free = cap < 0 ? parked : Math.min(cap - running, parked);
      if (free <= 0) continue;
      woken += await this.turns.dispatchParked(this.db, org_id, free);
    }
    return woken;
  }
}
