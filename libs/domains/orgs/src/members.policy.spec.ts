import type { OrgRole } from '@aps/guards';
import { refuseInvitationRole, refuseLosingOwner, refuseRemoval, refuseRoleChange } from './members.policy';

const act = (actor: OrgRole, target: OrgRole, otherOwners = 1) => ({
  actor: { user_id: 'a', role: actor },
  target: { user_id: 'b', role: target },
  otherOwners,
});
const self = (role: OrgRole, otherOwners = 1) => ({ actor: { user_id: 'a', role }, target: { user_id: 'a', role }, otherOwners });

describe('refuseRoleChange', () => {
  it.each<[OrgRole, OrgRole, OrgRole, string | undefined]>([
    ['OWNER', 'MEMBER', 'ADMIN', undefined],
    ['OWNER', 'MEMBER', 'OWNER', undefined],
    ['OWNER', 'OWNER', 'MEMBER', undefined],
    ['ADMIN', 'MEMBER', 'MEMBER', undefined],
    ['ADMIN', 'ADMIN', 'MEMBER', undefined],
    ['ADMIN', 'ADMIN', 'ADMIN', undefined],
    ['ADMIN', 'MEMBER', 'ADMIN', 'insufficient_role'],
    ['ADMIN', 'MEMBER', 'OWNER', 'insufficient_role'],
    ['ADMIN', 'ADMIN', 'OWNER', 'insufficient_role'],
    ['ADMIN', 'OWNER', 'MEMBER', 'insufficient_role'],
    ['ADMIN', 'OWNER', 'OWNER', 'insufficient_role'],
    ['MEMBER', 'MEMBER', 'MEMBER', 'insufficient_role'],
  ])('%s changes %s to %s: %s', (actor, target, to, code) => expect(refuseRoleChange(act(actor, target), to)?.code).toBe(code));

  it('never of oneself', () => {
    expect(refuseRoleChange(self('OWNER'), 'MEMBER')?.code).toBe('self_action');
    expect(refuseRoleChange(self('ADMIN'), 'MEMBER')?.code).toBe('self_action');
    // Says what is missing first: the role.
    expect(refuseRoleChange(self('ADMIN'), 'OWNER')?.code).toBe('insufficient_role');
  });

  it('never of the last owner', () => expect(refuseRoleChange(act('OWNER', 'OWNER', 0), 'ADMIN')?.code).toBe('last_owner'));
});

describe('refuseRemoval', () => {
  it.each<[OrgRole, OrgRole, string | undefined]>([
    ['OWNER', 'OWNER', undefined],
    ['OWNER', 'ADMIN', undefined],
    ['ADMIN', 'MEMBER', undefined],
    ['ADMIN', 'ADMIN', undefined],
    ['ADMIN', 'OWNER', 'insufficient_role'],
    ['MEMBER', 'MEMBER', 'insufficient_role'],
  ])('%s removes %s: %s', (actor, target, code) => expect(refuseRemoval(act(actor, target))?.code).toBe(code));

  it('never of oneself', () => expect(refuseRemoval(self('OWNER', 0))?.code).toBe('self_action'));
  it('never of the last owner', () => expect(refuseRemoval(act('OWNER', 'OWNER', 0))?.code).toBe('last_owner'));
});

describe('refuseInvitationRole', () => {
  it.each<[OrgRole, OrgRole, string | undefined]>([
    ['OWNER', 'OWNER', undefined],
    ['OWNER', 'ADMIN', undefined],
    ['ADMIN', 'MEMBER', undefined],
    ['ADMIN', 'ADMIN', 'insufficient_role'],
    ['ADMIN', 'OWNER', 'insufficient_role'],
    ['MEMBER', 'MEMBER', 'insufficient_role'],
  ])('%s invites as %s: %s', (actor, role, code) => expect(refuseInvitationRole(actor, role)?.code).toBe(code));
});

describe('refuseLosingOwner', () => {
  it('lets an owner go only when another stays', () => {
    expect(refuseLosingOwner('OWNER', null, 0)?.code).toBe('last_owner');
    expect(refuseLosingOwner('OWNER', 'MEMBER', 0)?.code).toBe('last_owner');
    expect(refuseLosingOwner('OWNER', 'OWNER', 0)).toBeNull();
    expect(refuseLosingOwner('OWNER', null, 1)).toBeNull();
    expect(refuseLosingOwner('MEMBER', null, 0)).toBeNull();
  });
});
