import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { KEEP_LONGER, KEPT, MAX_DAYS, PURGE } from './decisions.sql';

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
   * Notes and removes as much each time: what one organization has to be noted holds up no other's removal.
   *
   * @returns how many were removed; fewer than `batch` when nothing is left to remove, or to note
   */
  async purge(batch: number): Promise<number> {
    const rules: { orgId: string; kept: number; days: number }[] = [];
    for (const { org_id: orgId, keep_days: kept } of await this.db.query(KEPT)) {
      const { decision_log, decision_retention_days: days } = await this.entitlements.of(orgId);
      if (decision_log) rules.push({ orgId, kept, days: Math.min(days, MAX_DAYS) });
    }
    const columns = (some: typeof rules) => [
      some.map(({ orgId }) => orgId),
      some.map(({ kept }) => kept),
      some.map(({ days }) => days),
      batch,
    ];
    const noted = await this.db.execute(KEEP_LONGER, columns(rules.filter(({ kept, days }) => days < 0 || days > kept)));
    const removed = await this.db.execute(PURGE, [...columns(rules.filter(({ days }) => days >= 0)), OPEN_DISPUTE_DAYS]);
    return noted === batch ? batch : removed;
  }
}
