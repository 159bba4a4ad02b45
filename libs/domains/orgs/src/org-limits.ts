import type { Db } from '@aps/platform/database';

/**
 * What orgs must ask of plans, which stand above it. The composition root names the binding (`OrgsModule.forRoot`): whatever knows
 * plans fits this shape.
 */
export abstract class OrgLimits {
  /** @throws DomainError 403 `entitlement_required` */
  abstract require(orgId: string, feature: 'audit_log', db?: Db): Promise<void>;

  /** @throws DomainError 403 `entitlement_exceeded` when there is no room for one more beside `current` */
  abstract requireRoom(orgId: string, cap: 'max_seats', current: number, db?: Db): Promise<void>;
}
