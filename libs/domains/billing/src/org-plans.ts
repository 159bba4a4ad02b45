import { Injectable } from '@nestjs/common';
import type { User } from '@aps/entities';
import { OrgLimits } from '@aps/orgs';
import type { Db, Tx } from '@aps/platform/database';
import { Entitlements, type Cap, type Feature } from './entitlements';
import { SubscribedPlanRepository } from './plans/subscribed-plan.repository';
import { Subscriptions } from './subscriptions/subscriptions.service';

/** What organizations ask and tell of plans: binds their port. */
@Injectable()
export class OrgPlans extends OrgLimits {
  constructor(
    private readonly entitlements: Entitlements,
    private readonly subscriptions: Subscriptions,
    private readonly subscribed: SubscribedPlanRepository,
  ) {
    super();
  }

  require(orgId: string, feature: Feature, db?: Db): Promise<void> {
    return this.entitlements.require(orgId, feature, db);
  }

  requireRoom(orgId: string, cap: Cap, current: number, db?: Db): Promise<void> {
    return this.entitlements.requireRoom(orgId, cap, current, db);
  }

  has(orgId: string, feature: Feature, db?: Db): Promise<boolean> {
    return this.entitlements.has(orgId, feature, db);
  }

  founded(tx: Tx, orgId: string, { email_canonical, email_verified_at }: User): Promise<void> {
    return this.subscriptions.found(tx, orgId, { email_canonical, is_proven: email_verified_at !== null });
  }

  proven(tx: Tx, owner: User): Promise<void> {
    return this.subscriptions.proven(tx, owner);
  }

  ended(tx: Tx, orgId: string): Promise<void> {
    return this.subscriptions.end(tx, orgId);
  }

  plansOf(db: Db, orgIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.subscribed.codesOf(db, orgIds);
  }
}
