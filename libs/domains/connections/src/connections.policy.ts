import { DomainError, notFound } from '@aps/contracts';
import type { Connection } from '@aps/entities';
import type { OrgScope } from '@aps/guards';

type Owned = Pick<Connection, 'scope' | 'owner_user_id'>;

const isOwner = ({ owner_user_id }: Owned, scope: OrgScope) => owner_user_id !== null && owner_user_id === scope.actor.userId;

/** A private connection is there for its owner alone, whatever others are. */
export const isVisible = (connection: Owned, scope: OrgScope): boolean => connection.scope === 'org' || isOwner(connection, scope);

/** @throws DomainError `not_found` */
export function requireVisible(connection: Owned, scope: OrgScope): void {
  if (!isVisible(connection, scope)) throw notFound('Connection');
}

/** Who sees it may delete it; and what somebody has left behind, whoever administers the organization. @throws DomainError `not_found` */
export function requireDeletable(connection: Owned, scope: OrgScope): void {
  if (!(connection.owner_user_id === null && scope.isAdmin)) requireVisible(connection, scope);
}

/** Whether somebody decides on a connection: its owner; of one that everybody sees, who administers the organization, too. */
export const mayDecide = ({ scope, owner_user_id }: Owned, by: { userId: string | null; isAdmin: boolean }): boolean =>
  (owner_user_id !== null && owner_user_id === by.userId) || (scope === 'org' && by.isAdmin);

/** @throws DomainError `not_found`; 403 `insufficient_role` for who sees it and does not decide on it */
export function requireSteward(connection: Owned, scope: OrgScope): void {
  requireVisible(connection, scope);
  if (!mayDecide(connection, { userId: scope.actor.userId, isAdmin: scope.isAdmin })) throw stewardNeeded();
}

/** Who administers the organization gives on private ones, too. @throws DomainError `not_found`, 403 `insufficient_role` */
export function requireGivable(connection: Owned, scope: OrgScope): void {
  if (!scope.isAdmin) requireSteward(connection, scope);
}

/** @throws DomainError 403 `insufficient_role` for one of the whole organization */
export function requireMayShare(of: Connection['scope'], scope: OrgScope): void {
  if (of === 'org' && !scope.isAdmin)
    throw new DomainError('insufficient_role', 'Only administrators connect something for the whole organization.', {
      context: { required: ['ADMIN', 'OWNER'] },
    });
}

const stewardNeeded = () =>
  new DomainError('insufficient_role', 'Only its owner and administrators may do this.', { context: { required: ['ADMIN', 'OWNER'] } });

/**
 * Whether a connection that shall be active has to prove that it can be: any that has failed, or never answered, also where it was switched
 * off meanwhile.
 */
export const mustProve = ({
  status,
  last_error,
  tools_listed_at,
}: Pick<Connection, 'status' | 'last_error' | 'tools_listed_at'>): boolean =>
  status !== 'disabled' || last_error !== null || tools_listed_at === null;
