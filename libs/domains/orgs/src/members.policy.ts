import { DomainError } from '@aps/contracts';
import type { Membership } from '@aps/entities';
import type { OrgRole } from '@aps/guards';

type Person = Pick<Membership, 'user_id' | 'role'>;

/** One member acting on another, as both are now. */
export interface RosterAct {
  actor: Person;
  target: Person;
  /** Owners beside the target who can sign in. */
  otherOwners: number;
}

/** Throws what a rule says against something. */
export function obey(refusal: DomainError | null): void {
  if (refusal) throw refusal;
}

/** Why the actor may not give the target another role; null when they may. */
export function refuseRoleChange({ actor, target, otherOwners }: RosterAct, to: OrgRole): DomainError | null {
  if (actor.role === 'MEMBER') return adminNeeded();
  const promotes = to !== 'MEMBER' && to !== target.role;
  if (actor.role !== 'OWNER' && (target.role === 'OWNER' || promotes)) return ownerNeeded();
  if (actor.user_id === target.user_id) return new DomainError('self_action', 'You cannot change your own role.');
  return refuseLosingOwner(target.role, to, otherOwners);
}

/** Why the actor may not remove the target; null when they may. */
export function refuseRemoval({ actor, target, otherOwners }: RosterAct): DomainError | null {
  if (actor.role === 'MEMBER') return adminNeeded();
  if (actor.user_id === target.user_id)
    return new DomainError('self_action', 'You cannot remove yourself; leave the organization instead.');
  if (actor.role !== 'OWNER' && target.role === 'OWNER') return ownerNeeded();
  return refuseLosingOwner(target.role, null, otherOwners);
}

/** Whether somebody of this role may invite for another. */
export const mayOffer = (actor: OrgRole, role: OrgRole): boolean => actor === 'OWNER' || (actor === 'ADMIN' && role === 'MEMBER');

/** Why an invitation for the role may not be made or changed to it; null when it may. */
export function refuseInvitationRole(actor: OrgRole, role: OrgRole): DomainError | null {
  if (actor === 'MEMBER') return adminNeeded();
  return mayOffer(actor, role) ? null : ownerNeeded();
}

/** The rule that binds operators too: an organization never loses its last owner. @param to the role after the change; null = out */
export function refuseLosingOwner(from: OrgRole, to: OrgRole | null, otherOwners: number): DomainError | null {
  if (from !== 'OWNER' || to === 'OWNER' || otherOwners > 0) return null;
  return new DomainError('last_owner', 'An organization needs an owner, and this is the last one.');
}

export const ownerNeeded = () => new DomainError('insufficient_role', 'Only an owner may do this.', { context: { required: ['OWNER'] } });
export const adminNeeded = () =>
  new DomainError('insufficient_role', 'Your role does not allow this.', { context: { required: ['ADMIN', 'OWNER'] } });
