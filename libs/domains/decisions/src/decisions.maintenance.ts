import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { KEEP_LONGER, MAX_DAYS, PURGE, RETENTIONS } from './decisions.sql';

const BATCH = 1_000;
/** How much longer a dispute is kept that nobody has put away. */
const OPEN_DISPUTE_DAYS = 30;

/**
 * Removes decisions that are older than their organization's plan keeps them, and than any has kept them since they were recorded, which is noted
 * of each here: a plan that falls deletes nothing. One whose plan has no log, or that has no plan, loses nothing.
 */
@Injectable()
export class DecisionRetention {
  constructor(
    maintenance: Maintenance,
    private readonly db: Database,
    private readonly entitlements: Entitlements,
  ) {
    maintenance.register({ name: 'decisions', everyS: 300, batch: BATCH, run: () => this.purge(BATCH) });
  }

  /**
   * Removes and notes as much each time: what one organization has to be noted holds up no other's removal, nor does it where noting fails.
   *
   * @returns how many were removed; fewer than `batch` when nothing is left to remove, or to note
   */
  async purge(batch: number): Promise<number> {
    const keeping = await this.db.query(RETENTIONS);
    const plans = await this.entitlements.ofMany([...new Set(keeping.map(({ org_id }) => org_id))]);
    const rules = keeping.flatMap(({ org_id: orgId, keep_days: kept }) => {
      const { decision_log, decision_retention_days: days } = plans.get(orgId)!;
      return decision_log ? [{ orgId, kept, days: Math.min(days, MAX_DAYS) }] : [];
    });
    const columns = (some: typeof rules) => [
      some.map(({ orgId }) => orgId),
      some.map(({ kept }) => kept),
      some.map(({ days }) => days),
      batch,
    ];
    // Goes by what is kept now as well, whether or not that is noted yet.
    const removed = await this.db.execute(PURGE, [...columns(rules.filter(({ days }) => days >= 0)), OPEN_DISPUTE_DAYS]);
    const noted = await this.db.execute(KEEP_LONGER, columns(rules.filter(({ kept, days }) => days < 0 || days > kept)));
    return noted === batch ? batch : removed;
  }
}
