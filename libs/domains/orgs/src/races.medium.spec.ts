import { actingOperator } from '@aps/guards';
import { sql } from '@aps/platform/testing';
import { MembersService } from './members.service';
import { anEmail, type Member, OrgsTestApp } from './testing/orgs-test-app';

/** Small and seeded, so that a failing order of events can be had again. */
function random(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed * 1_664_525 + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

describe('races', () => {
  let t: OrgsTestApp;
  beforeAll(async () => {
    t = await OrgsTestApp.start();
  });
  afterAll(() => t.close());
  beforeEach(() => {
    t.limits.maxSeats = Infinity;
  });

  it.each([1, 2, 3])('two hundred demotions, removals and leaves at once leave an owner (seed %i)', async (seed) => {
    const pick = random(seed);
    const { orgId, owner } = await t.orgWithOwner();
    const owners: Member[] = [owner];
    for (let i = 0; i < 11; i++) owners.push(await t.member(orgId, 'OWNER'));
    const operator = await t.person();
    const members = t.get(MembersService);
    const path = `/api/orgs/${orgId}/members`;
    const act = async (): Promise<number> => {
      const [as, target] = [owners[pick(owners.length)], owners[pick(owners.length)]];
      switch (pick(5)) {
        case 0:
          return (await t.call('PATCH', `${path}/${target.memberId}`, { as, body: { role: pick(2) ? 'MEMBER' : 'ADMIN' } })).status;
        case 1:
          return (await t.call('DELETE', `${path}/${target.memberId}`, { as })).status;
        case 2:
          return members.adminRemove(actingOperator(operator.userId, {}), orgId, target.userId).then(
            () => 204,
            (error: { status?: number }) => error.status ?? 500,
          );
        case 3:
          return members.adminSetRole(actingOperator(operator.userId, {}), orgId, target.userId, 'MEMBER').then(
            () => 200,
            (error: { status?: number }) => error.status ?? 500,
          );
        default:
          return (await t.call('POST', `${path}/leave`, { as })).status;
      }
    };
    const statuses = await Promise.all(Array.from({ length: 200 }, act));
    expect(statuses.filter((s) => ![200, 204, 403, 404, 409, 422].includes(s))).toEqual([]);
    // Eleven of them got through, and not the twelfth.
    expect(Object.values(await t.roles(orgId)).filter((role) => role === 'OWNER')).toHaveLength(1);
    expect(statuses.filter((s) => s === 409).length).toBeGreaterThan(0);
  });

  it('two owners who turn on each other do not both succeed', async () => {
    for (let round = 0; round < 10; round++) {
      const { orgId, owner: a } = await t.orgWithOwner();
      const b = await t.member(orgId, 'OWNER');
      const [first, second] = await Promise.all([
        t.call('PATCH', `/api/orgs/${orgId}/members/${b.memberId}`, { as: a, body: { role: 'MEMBER' } }),
        t.call('DELETE', `/api/orgs/${orgId}/members/${a.memberId}`, { as: b }),
      ]);
      expect([first.status < 300, second.status < 300].filter(Boolean)).toHaveLength(1);
      expect(Object.values(await t.roles(orgId)).filter((role) => role === 'OWNER')).toHaveLength(1);
    }
  });

  it('one of two invites of an address wins', async () => {
    const { orgId, owner } = await t.orgWithOwner();
    for (let round = 0; round < 10; round++) {
      const email = anEmail();
      const answers = await Promise.all(
        [email, email.toUpperCase()].map((e) =>
          t.call('POST', `/api/orgs/${orgId}/members/invitations`, { as: owner, body: { email: e } }),
        ),
      );
      expect(answers.map((a) => a.status).sort()).toEqual([201, 409]);
      expect(answers.find((a) => a.status === 409)?.body.code).toBe('invitation_pending');
      expect([...(await t.mails(email)), ...(await t.mails(email.toUpperCase()))]).toHaveLength(1);
    }
  });

  it('twenty invites at once fill the seats and no more', async () => {
    const { orgId, owner } = await t.orgWithOwner();
    const accounts = await Promise.all(Array.from({ length: 10 }, () => t.person()));
    t.limits.maxSeats = 8;
    const addresses = [...accounts.map((p) => p.email), ...Array.from({ length: 10 }, () => anEmail())];
    const answers = await Promise.all(
      addresses.map((email) => t.call('POST', `/api/orgs/${orgId}/members/invitations`, { as: owner, body: { email } })),
    );
    expect(answers.filter((a) => a.status === 201)).toHaveLength(7);
    expect(answers.filter((a) => a.status !== 201).map((a) => a.body.code)).toEqual(Array(13).fill('entitlement_exceeded'));
    const [{ n }] = await t.db.query(
      sql<{ n: number }>(
        `SELECT (SELECT count(*) FROM memberships WHERE org_id = $1)::int + (SELECT count(*) FROM invitations WHERE org_id = $1 AND state = 'pending')::int AS n`,
      ),
      [orgId],
    );
    expect(n).toBe(8);
  });

  it('an invitation is either accepted or revoked', async () => {
    const { orgId, owner } = await t.orgWithOwner();
    for (let round = 0; round < 10; round++) {
      const email = anEmail();
      const { id } = (await t.call('POST', `/api/orgs/${orgId}/members/invitations`, { as: owner, body: { email } })).body;
      const [token, ada] = [await t.linkOf(email), await t.person(email)];
      const [accepted, revoked] = await Promise.all([
        t.call('POST', `/api/invitations/${token}/accept`, { as: ada }),
        t.call('DELETE', `/api/orgs/${orgId}/members/invitations/${id}`, { as: owner }),
      ]);
      expect([
        [200, 404],
        [410, 204],
      ]).toContainEqual([accepted.status, revoked.status]);
      expect(email in (await t.roles(orgId))).toBe(accepted.status === 200);
    }
  });

  it('a link is good once, however often it is used at once', async () => {
    const { orgId, owner } = await t.orgWithOwner();
    const email = anEmail();
    await t.call('POST', `/api/orgs/${orgId}/members/invitations`, { as: owner, body: { email } });
    const [token, ada] = [await t.linkOf(email), await t.person(email)];
    const answers = await Promise.all(Array.from({ length: 8 }, () => t.call('POST', `/api/invitations/${token}/accept`, { as: ada })));
    expect(answers.map((a) => a.status).sort()).toEqual([200, ...Array(7).fill(410)]);
    expect((await t.audit(orgId)).filter((a) => a.action === 'member.added')).toHaveLength(1);
  });

  it('deleting an organization leaves no open invitation behind', async () => {
    for (let round = 0; round < 8; round++) {
      const { orgId, owner } = await t.orgWithOwner();
      const answers = await Promise.all([
        ...Array.from({ length: 4 }, () =>
          t.call('POST', `/api/orgs/${orgId}/members/invitations`, { as: owner, body: { email: anEmail() } }),
        ),
        t.call('DELETE', `/api/orgs/${orgId}`, { as: owner }),
      ]);
      expect(answers.at(-1)?.status).toBe(202);
      expect(answers.slice(0, -1).filter((a) => ![201, 403].includes(a.status))).toEqual([]);
      expect(await t.db.query(sql(`SELECT 1 FROM invitations WHERE org_id = $1 AND state = 'pending'`), [orgId])).toEqual([]);
    }
  });
});
