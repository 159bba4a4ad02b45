import { Inject, Injectable } from '@nestjs/common';
import { Broadcaster } from '@aps/platform/broadcast';
import { ViewCache } from '@aps/platform/cache';
import { Database, type Db, type Tx } from '@aps/platform/database';
import { CAPS, Entitlements, FEATURES, type EntitlementSet } from '../entitlements';
import { SubscribedPlanRepository, type SubscribedPlan } from './subscribed-plan.repository';

/** How long a plan is believed when no broadcast says that it changed. */
const TTL_MS = 1_000;
/** A set is some hundred bytes. */
const MAX_ORGS = 20_000;

const NAMES = [...FEATURES, ...CAPS];
const NO_ENTITLEMENTS = Object.fromEntries([...FEATURES.map((name) => [name, false]), ...CAPS.map((name) => [name, 0])]) as EntitlementSet;

/** What a plan includes, and what of it an organization has otherwise. Without a subscription that counts, nothing. */
export function resolved(subscribed: SubscribedPlan | null): EntitlementSet {
  if (!subscribed) return NO_ENTITLEMENTS;
  const { plan, overrides } = subscribed;
  return Object.fromEntries(NAMES.map((name) => [name, overrides[name] ?? plan[name]])) as unknown as EntitlementSet;
}

/**
 * What organizations may do by the plan that they are subscribed to, held in memory. It is dropped when a change is announced, and by
 * itself after a second; whoever has a transaction open is told the truth.
 */
@Injectable()
export class PlanEntitlements extends Entitlements {
  private readonly views: ViewCache<string, EntitlementSet>;

  constructor(
    private readonly db: Database,
    private readonly repository: SubscribedPlanRepository,
    @Inject(Broadcaster) private readonly broadcaster: Pick<Broadcaster, 'send'>,
  ) {
    super();
    this.views = new ViewCache(TTL_MS, MAX_ORGS, async (orgId) => resolved(await this.repository.of(this.db, orgId)));
  }

  async of(orgId: string, db?: Db): Promise<EntitlementSet> {
    return !db || db instanceof Database ? this.views.get(orgId) : resolved(await this.repository.of(db, orgId));
  }

  async ofMany(orgIds: readonly string[]): Promise<Map<string, EntitlementSet>> {
    const subscribed = await this.repository.ofMany(this.db, orgIds);
    return new Map(orgIds.map((orgId) => [orgId, resolved(subscribed.get(orgId) ?? null)]));
  }

  async isSubscribed(orgId: string, db?: Db): Promise<boolean> {
    return (await this.of(orgId, db)) !== NO_ENTITLEMENTS;
  }

  /** Drops what is held of an organization or, with null, of all. */
  drop(orgId: string | null): void {
    if (orgId === null) this.views.clear();
    else this.views.drop(orgId);
  }

  /** After the commit: drops what this process holds of an organization or, with null, of all, and tells the others to. */
  announce(tx: Tx, orgId: string | null): void {
    tx.afterCommit(() => {
      this.drop(orgId);
      this.broadcaster.send('settings.changed', { org_id: orgId });
    });
  }
}
