import { setTimeout as sleep } from 'node:timers/promises';
import { Invitation, Membership } from '@aps/entities';
import { actingOperator } from '@aps/guards';
import { OrganizationPort, UsersService } from '@aps/identity';
import { anEmail, aPerson, mails } from '@aps/identity/testing';
import { randomly } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { MembersQueries } from './members.queries';
import { MembersService } from './members.service';
import { aMember, anOrg, type Member, type TestOrg } from './testing';
import { anInvitation, invite, ORGS, rolesOf, TestLimits } from './testing/orgs';

const statusOf = (work: Promise<unknown>, done: number) =>
  work.then(
    () => done,
    (error: { status?: number }) => error.status ?? 500,
  );

describe('races', () => {
  const t = testService(ORGS);
  let org: TestOrg;
  beforeEach(async () => {
    t.get(TestLimits).maxSeats = Infinity;
    org = await anOrg(t);
  });

  const ownersOf = async (of = org) => Object.values(await rolesOf(t, of)).filter((role) => role === 'OWNER').length;
  const pendingOf = (of = org) => t.db.manager.countBy(Invitation, { org_id: of.id, state: 'pending' });
  const member = ({ memberId }: Member, of = org) => `${of.path}/members/${memberId}`;

  it.each([1, 2, 3])('two hundred demotions, removals and leaves at once leave an owner (seed %i)', async (seed) => {
    const next = randomly(seed);
    const pick = (below: number) => Math.floor(next() * below);
    const owners = [org.owner];
    for (let i = 0; i < 11; i++) owners.push(await aMember(t, org, 'OWNER'));
    const operator = actingOperator((await aPerson(t)).id, {});
    const members = t.get(MembersService);
    const act = async (): Promise<number> => {
      const [as, target] = [owners[pick(owners.length)], owners[pick(owners.length)]];
      switch (pick(5)) {
        case 0:
          return (await t.call('PATCH', member(target), { as, body: { role: pick(2) ? 'MEMBER' : 'ADMIN' } })).status;
        case 1:
          return (await t.call('DELETE', member(target), { as })).status;
        case 2:
          return statusOf(members.adminRemove(operator, org.id, target.id), 204);
        case 3:
          return statusOf(members.adminSetRole(operator, org.id, target.id, 'MEMBER'), 200);
        default:
          return (await t.call('POST', `${org.path}/members/leave`, { as })).status;
      }
    };
    const statuses = await Promise.all(Array.from({ length: 200 }, act));
    expect(statuses.filter((s) => ![200, 204, 403, 404, 409, 422].includes(s))).toEqual([]);
    // Eleven of them got through, and not the twelfth.
    expect(await ownersOf()).toBe(1);
    expect(statuses.filter((s) => s === 409).length).toBeGreaterThan(0);
  });

  it('two owners who turn on each other do not both succeed', async () => {
    for (let round = 0; round < 10; round++) {
      const pair = await anOrg(t);
      const [a, b] = [pair.owner, await aMember(t, pair, 'OWNER')];
      const answers = await Promise.all([
        t.call('PATCH', member(b, pair), { as: a, body: { role: 'MEMBER' } }),
        t.call('DELETE', member(a, pair), { as: b }),
      ]);
      expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
      expect(await ownersOf(pair)).toBe(1);
    }
  });

  it('an owner who leaves while the other one is shut out is seen, or stays', async () => {
    const operator = actingOperator((await aPerson(t)).id, {});
    const shutOut = ({ id }: Member) => t.get(UsersService).deactivate(operator, id);
    for (let round = 0; round < 10; round++) {
      const pair = await anOrg(t);
      const other = await aMember(t, pair, 'OWNER');
      const leaving = t.call('POST', `${pair.path}/members/leave`, { as: other });
      const [{ status }, { sole_owner_org_ids }] = await Promise.all([leaving, shutOut(pair.owner)]);
      expect([204, 409]).toContain(status);
      expect(sole_owner_org_ids).toEqual(status === 204 ? [pair.id] : []);
    }
    // Once the one who leaves has counted the owners.
    const pair = await anOrg(t);
    const other = await aMember(t, pair, 'OWNER');
    const queries = t.get(MembersQueries);
    const count = queries.ownersBeside.bind(queries);
    let shut: ReturnType<typeof shutOut> | undefined;
    const counted = jest.spyOn(queries, 'ownersBeside').mockImplementation(async (...of) => {
      const owners = await count(...of);
      shut = shutOut(pair.owner);
      await Promise.race([shut, sleep(300)]);
      return owners;
    });
    expect((await t.call('POST', `${pair.path}/members/leave`, { as: other })).status).toBe(204);
    counted.mockRestore();
    expect((await shut!).sole_owner_org_ids).toEqual([pair.id]);
    // And where they make an owner, to leave, of one who is being shut out.
    const last = await anOrg(t);
    const heir = await aMember(t, last, 'MEMBER');
    const adapter = t.get(OrganizationPort);
    const soleOwnerOf = adapter.soleOwnerOf.bind(adapter);
    let left: Promise<number> | undefined;
    const looked = jest.spyOn(adapter, 'soleOwnerOf').mockImplementationOnce(async (...of) => {
      const sole = await soleOwnerOf(...of);
      left = t
        .call('PATCH', `${last.path}/members/${heir.memberId}`, { as: last.owner, body: { role: 'OWNER' } })
        .then(() => t.call('POST', `${last.path}/members/leave`, { as: last.owner }))
        .then(({ status }) => status);
      await Promise.race([left, sleep(300)]);
      return sole;
    });
    await shutOut(heir);
    looked.mockRestore();
    expect(await left).toBe(409);
  });

  it('one of two invites of an address wins', async () => {
    for (let round = 0; round < 10; round++) {
      const email = anEmail();
      const answers = await Promise.all([email, email.toUpperCase()].map((address) => invite(t, org, address)));
      expect(answers.map((a) => a.status).sort()).toEqual([201, 409]);
      expect(answers.find((a) => a.status === 409)?.body.code).toBe('invitation_pending');
      expect([...(await mails(t, email)), ...(await mails(t, email.toUpperCase()))]).toHaveLength(1);
    }
  });

  it('twenty invites at once fill the seats and no more', async () => {
    const accounts = await Promise.all(Array.from({ length: 10 }, () => aPerson(t)));
    t.get(TestLimits).maxSeats = 8;
    const addresses = [...accounts.map((p) => p.email), ...Array.from({ length: 10 }, () => anEmail())];
    const answers = await Promise.all(addresses.map((email) => invite(t, org, email)));
    expect(answers.filter((a) => a.status === 201)).toHaveLength(7);
    expect(answers.filter((a) => a.status !== 201).map((a) => a.body.code)).toEqual(Array(13).fill('entitlement_exceeded'));
    expect((await t.db.manager.countBy(Membership, { org_id: org.id })) + (await pendingOf())).toBe(8);
  });

  it('an invitation is either accepted or revoked', async () => {
    for (let round = 0; round < 10; round++) {
      const { email, token, invitation } = await anInvitation(t, org);
      const ada = await aPerson(t, { email });
      const [accepted, revoked] = await Promise.all([
        t.call('POST', `/api/invitations/${token}/accept`, { as: ada }),
        t.call('DELETE', `${org.path}/members/invitations/${invitation.id}`, { as: org.owner }),
      ]);
      expect([
        [200, 404],
        [410, 204],
      ]).toContainEqual([accepted.status, revoked.status]);
      expect(email in (await rolesOf(t, org))).toBe(accepted.status === 200);
    }
  });

  it('a link is good once, however often it is used at once', async () => {
    const { email, token } = await anInvitation(t, org);
    const as = await aPerson(t, { email });
    const answers = await Promise.all(Array.from({ length: 8 }, () => t.call('POST', `/api/invitations/${token}/accept`, { as })));
    expect(answers.map((a) => a.status).sort()).toEqual([200, ...Array<number>(7).fill(410)]);
    expect(await t.audit({ org_id: org.id, action: 'member.added' })).toHaveLength(1);
  });

  it('deleting an organization leaves no open invitation behind', async () => {
    for (let round = 0; round < 8; round++) {
      const doomed = await anOrg(t);
      const answers = await Promise.all([
        ...Array.from({ length: 4 }, () => invite(t, doomed, anEmail())),
        t.call('DELETE', doomed.path, { as: doomed.owner }),
      ]);
      expect(answers.at(-1)?.status).toBe(202);
      expect(answers.slice(0, -1).filter(({ status }) => ![201, 403].includes(status))).toEqual([]);
      expect(await pendingOf(doomed)).toBe(0);
    }
  });
});
