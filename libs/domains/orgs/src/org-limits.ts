import type { User } from '@aps/entities';
import type { Db, Tx } from '@aps/platform/database';

/** What orgs must ask and tell of plans, which stand above it. The composition root names the binding (`OrgsModule.forRoot`). */
export abstract class OrgLimits {
  /** @throws DomainError 403 `entitlement_required` */
  abstract require(orgId: string, feature: 'audit_log', db?: Db): Promise<void>;

  /** @throws DomainError 403 `entitlement_exceeded` when there is no room for one more beside `current` */
  abstract requireRoom(orgId: string, cap: 'max_seats', current: number, db?: Db): Promise<void>;

  abstract has(orgId: string, feature: 'enforced_idp_sso', db?: Db): Promise<boolean>;

  /** An organization was made: puts it on the plan of new ones. */
  abstract founded(tx: Tx, orgId: string, owner: User): Promise<void>;

  /** The address of a user was proven who may have founded an organization before. */
  abstract proven(tx: Tx, owner: User): Promise<void>;

  /** An organization is being deleted: nobody is to pay for it any longer. */
  abstract ended(tx: Tx, orgId: string): Promise<void>;

  /** Codes of the plans that organizations are subscribed to, by organization. */
  abstract plansOf(db: Db, orgIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
