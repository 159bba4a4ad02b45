import { Organization, PlatformAdminRow } from '@aps/entities';
import { anApiToken, aPerson } from '@aps/identity/testing';
import { Broadcaster } from '@aps/platform/broadcast';
import { outcome, sql, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { aMember, anOrg, aTeam, type TestOrg } from '../testing';
import { anInvitation, ORGS, rolesOf } from '../testing/orgs';

describe('organizations', () => {
  const t = testService(ORGS, { settings: { MAX_OWNED_ORGS: '0' } });

  const create = (as: Bearer | undefined, body: unknown, headers?: Record<string, string>) =>
    t.call('POST', '/api/orgs', { as, body, headers });
  const get = (path: string, as: Bearer) => t.call('GET', path, { as });
  const patch = (path: string, as: Bearer, body: unknown) => t.call('PATCH', path, { as, body });
  const suspend = (id: string) => t.db.manager.update(Organization, id, { suspended_at: new Date() });

  describe('making one', () => {
    it('makes the caller its owner and puts it on record', async () => {
      const ada = await aPerson(t);
      const { status, body } = await create(ada, { name: '  Ada & Sons ' }, { 'X-Request-Id': 'make-1' });
      expect(status).toBe(201);
      expect(body).toEqual({
        id: expect.any(String),
        name: 'Ada & Sons',
        slug: 'ada-sons',
        plan_code: null,
        suspended: false,
        suspended_at: null,
        member_count: 1,
        my_role: 'OWNER',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: body.created_at,
      });
      expect(await rolesOf(t, body)).toEqual({ [ada.email]: 'OWNER' });
      expect(await t.audit({ org_id: body.id })).toMatchObject([
        {
          source: 'business',
          action: 'organization.created',
          actor_id: ada.id,
          target_kind: 'organization',
          target_id: body.id,
          metadata: { name: 'Ada & Sons', slug: 'ada-sons' },
          request_id: 'make-1',
        },
      ]);
    });

    it('numbers the slugs of namesakes, also when they are made at once', async () => {
      const ada = await aPerson(t);
      const answers = await Promise.all(Array.from({ length: 12 }, () => create(ada, { name: 'Same Name' })));
      expect(answers.map((a) => a.body.slug).sort()).toEqual(
        ['same-name', ...Array.from({ length: 11 }, (_, i) => `same-name-${i + 2}`)].sort(),
      );
    });

    it('takes the slug that is given, or none', async () => {
      const ada = await aPerson(t);
      expect((await create(ada, { name: 'One', slug: 'given' })).body.slug).toBe('given');
      expect(outcome(await create(ada, { name: 'Two', slug: 'given' }))).toEqual([409, 'slug_taken']);
      const race = await Promise.all(Array.from({ length: 6 }, () => create(ada, { name: 'Race', slug: 'wanted' })));
      expect(race.map((a) => a.status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    });

    it('goes on after the hundredth namesake', async () => {
      await t.db.execute(
        sql(
          `INSERT INTO organizations (id, name, slug) SELECT gen_random_uuid(), 'Busy', CASE n WHEN 1 THEN 'busy' ELSE 'busy-' || n END FROM generate_series(1, 100) n`,
        ),
      );
      const { status, body } = await create(await aPerson(t), { name: 'Busy' });
      expect([status, body.slug]).toEqual([201, expect.stringMatching(/^busy-[0-9a-f]{12}$/)]);
    });

    it('happens once for a repeated key', async () => {
      const ada = await aPerson(t);
      const ask = () => create(ada, { name: 'Once' }, { 'Idempotency-Key': 'k1' });
      const [first, again] = [await ask(), await ask()];
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect((await get('/api/orgs', ada)).body.total).toBe(1);
    });

    it('is refused to nobody and to a token of another organization', async () => {
      const { id, owner } = await anOrg(t);
      expect((await create(undefined, { name: 'X' })).status).toBe(401);
      expect(outcome(await create(await anApiToken(t, owner, { org_id: id }), { name: 'X' }))).toEqual([403, 'insufficient_scope']);
    });

    it.each([
      [{}],
      [{ name: '' }],
      [{ name: ' \t ' }],
      [{ name: 'a\nb' }],
      [{ name: 'x'.repeat(121) }],
      [{ name: null }],
      [{ name: 'A', slug: 'Not A Slug' }],
      [{ name: 'A', slug: 'x'.repeat(65) }],
      [{ name: 'A', slug: null }],
    ])('refuses %j', async (body) => expect((await create(await aPerson(t), body)).status).toBe(422));
  });

  describe('reading', () => {
    it("lists the caller's own by name, page by page, without deleted ones", async () => {
      const owner = await aPerson(t);
      await anOrg(t, { name: 'Aaa foreign' });
      const [c, a, b] = [
        await anOrg(t, { owner, name: 'Cee' }),
        await anOrg(t, { owner, name: 'aye' }),
        await anOrg(t, { owner, name: 'Bee' }),
      ];
      await t.db.manager.update(Organization, c.id, { deleted_at: new Date() });
      await suspend(b.id);
      const page = async (query: string) => (await get(`/api/orgs${query}`, owner)).body;
      const [first, second] = [
        { id: a.id, suspended: false },
        { id: b.id, suspended: true, suspended_at: expect.any(String) },
      ];
      expect(await page('')).toMatchObject({ total: 2, next_offset: null, items: [first, second] });
      expect(await page('?limit=1')).toMatchObject({ total: 2, next_offset: 1, items: [first] });
      expect(await page('?limit=1&offset=1')).toMatchObject({ total: 2, next_offset: null, items: [second] });
      expect((await get('/api/orgs?limit=0', owner)).status).toBe(422);
      expect((await patch(a.path, owner, { name: 'Zed' })).status).toBe(200);
      await t.db.manager.update(Organization, c.id, { deleted_at: null });
      expect(await page('')).toMatchObject({ total: 3, items: [{ id: b.id }, { id: c.id }, { name: 'Zed' }] });
    });

    it('shows a confined token its own organization only', async () => {
      const owner = await aPerson(t);
      const [{ id }] = [await anOrg(t, { owner }), await anOrg(t, { owner })];
      expect((await get('/api/orgs', await anApiToken(t, owner, { org_id: id }))).body).toMatchObject({ total: 1, items: [{ id }] });
    });

    it('shows one to its members, with their role, and to nobody else', async () => {
      const { id, path, member } = await aTeam(t);
      expect((await get(path, member)).body).toMatchObject({ id, my_role: 'MEMBER', member_count: 2 });
      expect((await get(`/api/orgs/${id.toUpperCase()}`, member)).status).toBe(200);
      expect(outcome(await get(path, await aPerson(t)))).toEqual([403, 'not_org_member']);
    });
  });

  describe('changing', () => {
    it('takes name and slug from admins, one at a time, and records what changed', async () => {
      const { id, path, slug, owner } = await anOrg(t, { name: 'Before' });
      const admin = await aMember(t, { id }, 'ADMIN');
      expect(await patch(path, admin, { name: ' After ' })).toMatchObject({ status: 200, body: { name: 'After', slug, my_role: 'ADMIN' } });
      expect((await patch(path, owner, { slug: 'after' })).body).toMatchObject({ name: 'After', slug: 'after' });
      expect((await patch(path, owner, { name: 'After', unknown: 1 })).status).toBe(200);
      expect(await t.audit({ org_id: id })).toMatchObject([
        { action: 'organization.updated', actor_id: admin.id, metadata: { name: { from: 'Before', to: 'After' } } },
        { action: 'organization.updated', actor_id: owner.id, metadata: { slug: { from: slug, to: 'after' } } },
      ]);
      // Nor does one of two at once undo the other.
      for (let round = 0; round < 5; round++) {
        const both = { name: `After ${round}`, slug: `after-${round}` };
        await Promise.all([patch(path, owner, { name: both.name }), patch(path, admin, { slug: both.slug })]);
        expect((await get(path, owner)).body).toMatchObject(both);
      }
    });

    it('keeps a name as it was written, and finds nothing to run in it', async () => {
      const { path, owner } = await anOrg(t);
      const name = `<script>alert(1)</script> ' " \\ %s \${x} \u202e`;
      expect((await patch(path, owner, { name })).body.name).toBe(name);
    });

    it('refuses members, a taken slug and null', async () => {
      const [{ path, owner, member }, other] = [await aTeam(t), await anOrg(t)];
      expect((await patch(path, member, { name: 'X' })).body.code).toBe('insufficient_role');
      expect(outcome(await patch(path, owner, { slug: other.slug }))).toEqual([409, 'slug_taken']);
      expect((await patch(path, owner, { name: null })).status).toBe(422);
    });
  });

  describe('a slug that is given up for another', () => {
    const rename = ({ path, owner }: TestOrg, slug: string) => patch(path, owner, { slug });
    const taken = [409, 'slug_taken'];

    it('is nobody else’s for 90 days, and may be taken back', async () => {
      const [org, other] = [await anOrg(t), await anOrg(t)];
      expect((await rename(org, `${org.slug}-new`)).status).toBe(200);
      expect(outcome(await rename(other, org.slug))).toEqual(taken);
      expect(outcome(await create(other.owner, { name: 'Other', slug: org.slug }))).toEqual(taken);
      expect((await create(other.owner, { name: org.slug })).body.slug).toBe(`${org.slug}-2`);
      expect((await rename(org, org.slug)).status).toBe(200);
      expect(outcome(await rename(other, `${org.slug}-new`))).toEqual(taken);
      await t.db.execute(sql(`UPDATE former_slugs SET since = since - interval '90 days' WHERE org_id = $1`), [org.id]);
      expect((await rename(other, `${org.slug}-new`)).status).toBe(200);
    });

    it('is free again when the organization is deleted, or has given up five since', async () => {
      const [org, other] = [await anOrg(t), await anOrg(t)];
      for (let i = 1; i <= 6; i++) expect((await rename(org, `${org.slug}-${i}`)).status).toBe(200);
      expect(outcome(await rename(other, `${org.slug}-1`))).toEqual(taken);
      expect((await rename(other, org.slug)).status).toBe(200);
      expect((await t.call('DELETE', org.path, { as: org.owner })).status).toBe(202);
      expect((await rename(other, `${org.slug}-1`)).status).toBe(200);
    });
  });

  describe('deleting', () => {
    it('is for owners', async () => {
      const org = await anOrg(t);
      expect(await t.call('DELETE', org.path, { as: await aMember(t, org, 'ADMIN') })).toMatchObject({
        status: 403,
        body: { code: 'insufficient_role', context: { required: ['OWNER'] } },
      });
    });

    it('stops its work as a suspension does, and keeps an older one', async () => {
      const [org, suspended] = [await anOrg(t), await anOrg(t)];
      const deletedOf = async ({ id, path, owner }: TestOrg) => {
        expect((await t.call('DELETE', path, { as: owner })).status).toBe(202);
        return t.db.manager.findOneOrFail(Organization, { where: { id }, withDeleted: true });
      };
      const { deleted_at, suspended_at } = await deletedOf(org);
      expect(suspended_at).toEqual(deleted_at);
      // Only an operator gets past a suspension.
      await t.db.manager.insert(PlatformAdminRow, { user_id: suspended.owner.id });
      const since = new Date('2026-01-01T00:00:00Z');
      await t.db.manager.update(Organization, suspended.id, { suspended_at: since });
      expect((await deletedOf(suspended)).suspended_at).toEqual(since);
    });

    it('shuts everybody out, kills invitations, frees the slug and keeps the rows', async () => {
      const team = await aTeam(t, { name: 'Doomed' });
      const { id, path, slug, owner, member } = team;
      const { token } = await anInvitation(t, team);
      const send = jest.spyOn(t.get(Broadcaster), 'send');
      const { status, body } = await t.call('DELETE', path, { as: owner });
      expect([status, body]).toEqual([202, { org_id: id, deleted_at: expect.any(String) }]);
      expect(send.mock.calls).toEqual([['settings.changed', { org_id: id }]]);
      send.mockRestore();
      // Who has not been seen within the guard's second is out at once; the rest follows within it.
      expect((await get(path, member)).body.code).toBe('not_org_member');
      for (;;) {
        expect(outcome(await t.call('DELETE', path, { as: owner }))).toEqual([403, 'not_org_member']);
        if ((await get(path, owner)).body.code === 'not_org_member') break;
      }
      expect((await get('/api/orgs', owner)).body.total).toBe(0);
      expect((await t.call('GET', `/api/invitations/${token}`)).body.code).toBe('invitation_gone');
      expect((await create(owner, { name: 'Again', slug })).status).toBe(201);
      expect(await rolesOf(t, team)).toMatchObject({ [owner.email]: 'OWNER' });
      expect((await t.audit({ org_id: id })).at(-1)).toMatchObject({
        action: 'organization.deleted',
        actor_id: owner.id,
        metadata: { revoked_invitations: 1 },
      });
    });
  });
});
