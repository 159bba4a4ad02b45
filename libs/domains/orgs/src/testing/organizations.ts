import { Membership, Organization, Subscription } from '@aps/entities';
import { OrgScope, type OrgRole } from '@aps/guards';
import { aPerson, type Person } from '@aps/identity/testing';
import { TEST_PLAN, type TestService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';

/** Somebody in an organization. */
export interface Member extends Person {
  /** Of the membership. */
  memberId: string;
}

export interface TestOrg {
  id: string;
  slug: string;
  /** `/api/orgs/<id>` */
  path: string;
  owner: Member;
  /** As the owner. */
  scope: OrgScope;
}

export interface TestTeam extends TestOrg {
  member: Member;
}

/**
 * An organization of its owner alone.
 *
 * @param options.plan the id of a plan; by default that of specs, with null none
 */
export async function anOrg(
  service: TestService,
  { name = 'Acme', owner, plan = TEST_PLAN.id }: { name?: string; owner?: Person; plan?: string | null } = {},
): Promise<TestOrg> {
  const id = uuidv7();
  const slug = `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}-${id.slice(-12)}`;
  await service.insert(Organization, { id, name, slug });
  if (plan !== null) await service.db.manager.insert(Subscription, { org_id: id, plan_id: plan });
  const made = await aMember(service, { id }, 'OWNER', owner);
  return { id, slug, path: `/api/orgs/${id}`, owner: made, scope: OrgScope.member(id, made.id, 'OWNER') };
}

/** An organization with an owner and a member. */
export async function aTeam(service: TestService, options?: { name?: string }): Promise<TestTeam> {
  const org = await anOrg(service, options);
  return { ...org, member: await aMember(service, org, 'MEMBER') };
}

/** Makes a member past every command: by default of somebody new. */
export async function aMember(service: TestService, { id: org_id }: { id: string }, role: OrgRole, who?: Person): Promise<Member> {
  const person = who ?? (await aPerson(service));
  return { ...person, memberId: await service.insert(Membership, { org_id, user_id: person.id, role }) };
}
