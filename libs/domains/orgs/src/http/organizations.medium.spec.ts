import { sql } from '@aps/platform/testing';
import { OrgsTestApp, type Person } from '../testing/orgs-test-app';

describe('organizations', () => {
  let t: OrgsTestApp;
  beforeAll(async () => {
    t = await OrgsTestApp.start({ MAX_OWNED_ORGS: '0' });
  });
  afterAll(() => t.close());

  const create = (as: Person, body: unknown, headers?: Record<string, string>) => t.call('POST', '/api/orgs', { as, body, headers });

  describe('making one', () => {
    it('makes the caller its owner and puts it on record', async () => {
      const ada = await t.person();
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
      expect(await t.roles(body.id)).toEqual({ [ada.email]: 'OWNER' });
      expect(await t.audit(body.id)).toEqual([
        {
          source: 'business',
          action: 'organization.created',
          actor_id: ada.userId,
          target_kind: 'organization',
          target_id: body.id,
          metadata: { name: 'Ada & Sons', slug: 'ada-sons' },
          request_id: 'make-1',
        },
      ]);
    });

    it('numbers the slugs of namesakes, also when they are made at once', async () => {
      const ada = await t.person();
      const answers = await Promise.all(Array.from({ length: 12 }, () => create(ada, { name: 'Same Name' })));
      expect(answers.map((a) => a.status)).toEqual(Array(12).fill(201));
      expect(answers.map((a) => a.body.slug).sort()).toEqual(
        ['same-name', ...Array.from({ length: 11 }, (_, i) => `same-name-${i + 2}`)].sort(),
      );
    });

    it('takes the slug that is given, or none', async () => {
      const ada = await t.person();
      expect((await create(ada, { name: 'One', slug: 'given' })).body.slug).toBe('given');
      const again = await create(ada, { name: 'Two', slug: 'given' });
      expect([again.status, again.body.code]).toEqual([409, 'slug_taken']);
      const race = await Promise.all(Array.from({ length: 6 }, () => create(ada, { name: 'Race', slug: 'wanted' })));
      expect(race.map((a) => a.status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    });

    it('goes on after the hundredth namesake', async () => {
      const ada = await t.person();
      await t.db.execute(
        sql(
          `INSERT INTO organizations (id, name, slug) SELECT gen_random_uuid(), 'Busy', CASE n WHEN 1 THEN 'busy' ELSE 'busy-' || n END FROM generate_series(1, 100) n`,
        ),
      );
      const { status, body } = await create(ada, { name: 'Busy' });
      expect([status, body.slug]).toEqual([201, expect.stringMatching(/^busy-[0-9a-f]{12}$/)]);
    });

    it('happens once for a repeated key', async () => {
      const ada = await t.person();
      const first = await create(ada, { name: 'Once' }, { 'Idempotency-Key': 'k1' });
      const again = await create(ada, { name: 'Once' }, { 'Idempotency-Key': 'k1' });
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect((await t.call('GET', '/api/orgs', { as: ada })).body.total).toBe(1);
    });

    it('is refused to nobody and to a token of another organization', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      expect((await t.call('POST', '/api/orgs', { body: { name: 'X' } })).status).toBe(401);
      const pinned = await create({ ...owner, ...(await t.pinnedToken(owner, orgId)) }, { name: 'X' });
      expect([pinned.status, pinned.body.code]).toEqual([403, 'insufficient_scope']);
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
    ])('refuses %j', async (body) => expect((await create(await t.person(), body)).status).toBe(422));
  });

  describe('reading', () => {
    it("lists the caller's own by name, page by page, without deleted ones", async () => {
      const ada = await t.person();
      const { orgId: foreign } = await t.orgWithOwner('Aaa foreign');
      const [c, a, b] = [await t.org(ada, 'Cee'), await t.org(ada, 'aye'), await t.org(ada, 'Bee')];
      await t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [c]);
      await t.db.execute(sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'), [b]);
      const all = (await t.call('GET', '/api/orgs', { as: ada })).body;
      expect(all).toMatchObject({
        total: 2,
        next_offset: null,
        items: [
          { id: a, suspended: false },
          { id: b, suspended: true, suspended_at: expect.any(String) },
        ],
      });
      expect(all.items.map((o: { id: string }) => o.id)).not.toContain(foreign);
      expect((await t.call('GET', '/api/orgs?limit=1', { as: ada })).body).toMatchObject({ total: 2, next_offset: 1, items: [{ id: a }] });
      expect((await t.call('GET', '/api/orgs?limit=1&offset=1', { as: ada })).body).toMatchObject({
        total: 2,
        next_offset: null,
        items: [{ id: b }],
      });
      expect((await t.call('GET', '/api/orgs?limit=0', { as: ada })).status).toBe(422);
    });

    it('shows a confined token its own organization only', async () => {
      const ada = await t.person();
      const [a] = [await t.org(ada, 'A'), await t.org(ada, 'B')];
      expect((await t.call('GET', '/api/orgs', { as: await t.pinnedToken(ada, a) })).body).toMatchObject({ total: 1, items: [{ id: a }] });
    });

    it('shows one to its members, with their role, and to nobody else', async () => {
      const { orgId } = await t.orgWithOwner();
      const mia = await t.member(orgId, 'MEMBER');
      expect((await t.call('GET', `/api/orgs/${orgId}`, { as: mia })).body).toMatchObject({
        id: orgId,
        my_role: 'MEMBER',
        member_count: 2,
      });
      expect((await t.call('GET', `/api/orgs/${orgId.toUpperCase()}`, { as: mia })).status).toBe(200);
      const stranger = await t.call('GET', `/api/orgs/${orgId}`, { as: await t.person() });
      expect([stranger.status, stranger.body.code]).toEqual([403, 'not_org_member']);
    });
  });

  describe('changing', () => {
    it('takes name and slug from admins, one at a time, and records what changed', async () => {
      const { orgId, owner } = await t.orgWithOwner('Before');
      const admin = await t.member(orgId, 'ADMIN');
      const renamed = await t.call('PATCH', `/api/orgs/${orgId}`, { as: admin, body: { name: ' After ' } });
      expect([renamed.status, renamed.body]).toEqual([200, expect.objectContaining({ name: 'After', slug: 'before', my_role: 'ADMIN' })]);
      expect((await t.call('PATCH', `/api/orgs/${orgId}`, { as: owner, body: { slug: 'after' } })).body).toMatchObject({
        name: 'After',
        slug: 'after',
      });
      expect((await t.call('PATCH', `/api/orgs/${orgId}`, { as: owner, body: { name: 'After', unknown: 1 } })).status).toBe(200);
      expect((await t.audit(orgId)).slice(1).map((a) => [a.action, a.actor_id, a.metadata])).toEqual([
        ['organization.updated', admin.userId, { name: { from: 'Before', to: 'After' } }],
        ['organization.updated', owner.userId, { slug: { from: 'before', to: 'after' } }],
      ]);
    });

    it('refuses members, a taken slug and null', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      await create(owner, { name: 'Other', slug: 'taken-slug' });
      expect((await t.call('PATCH', `/api/orgs/${orgId}`, { as: await t.member(orgId, 'MEMBER'), body: { name: 'X' } })).body.code).toBe(
        'insufficient_role',
      );
      const taken = await t.call('PATCH', `/api/orgs/${orgId}`, { as: owner, body: { slug: 'taken-slug' } });
      expect([taken.status, taken.body.code]).toEqual([409, 'slug_taken']);
      expect((await t.call('PATCH', `/api/orgs/${orgId}`, { as: owner, body: { name: null } })).status).toBe(422);
    });
  });

  describe('deleting', () => {
    it('is for owners', async () => {
      const { orgId } = await t.orgWithOwner();
      const admin = await t.call('DELETE', `/api/orgs/${orgId}`, { as: await t.member(orgId, 'ADMIN') });
      expect([admin.status, admin.body]).toEqual([
        403,
        expect.objectContaining({ code: 'insufficient_role', context: { required: ['OWNER'] } }),
      ]);
    });

    it('shuts everybody out, kills invitations, frees the slug and keeps the rows', async () => {
      const { orgId, owner } = await t.orgWithOwner('Doomed');
      const mia = await t.member(orgId, 'MEMBER');
      await t.call('POST', `/api/orgs/${orgId}/members/invitations`, { as: owner, body: { email: 'late@example.com' } });
      const token = await t.linkOf('late@example.com');
      const { status, body } = await t.call('DELETE', `/api/orgs/${orgId}`, { as: owner });
      expect([status, body]).toEqual([202, { org_id: orgId, deleted_at: expect.any(String) }]);
      // Who has not been seen within the guard's second is out at once; the rest follows within it.
      expect((await t.call('GET', `/api/orgs/${orgId}`, { as: mia })).body.code).toBe('not_org_member');
      for (;;) {
        const again = await t.call('DELETE', `/api/orgs/${orgId}`, { as: owner });
        expect([again.status, again.body.code]).toEqual([403, 'not_org_member']);
        if ((await t.call('GET', `/api/orgs/${orgId}`, { as: owner })).body.code === 'not_org_member') break;
      }
      expect((await t.call('GET', '/api/orgs', { as: owner })).body.total).toBe(0);
      expect((await t.call('GET', `/api/invitations/${token}`)).body.code).toBe('invitation_gone');
      expect((await create(owner, { name: 'Doomed' })).body.slug).toBe('doomed');
      expect(await t.roles(orgId)).toHaveProperty([owner.email], 'OWNER');
      expect((await t.audit(orgId)).at(-1)).toMatchObject({
        action: 'organization.deleted',
        actor_id: owner.userId,
        metadata: { revoked_invitations: 1 },
      });
    });
  });

  it('lets nobody past a suspension but a platform admin who is a member', async () => {
    const { orgId, owner } = await t.orgWithOwner();
    const operator = await t.member(orgId, 'OWNER');
    await t.db.execute(sql('INSERT INTO platform_admins (user_id) VALUES ($1)'), [operator.userId]);
    await t.db.execute(sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'), [orgId]);
    expect((await t.call('GET', `/api/orgs/${orgId}`, { as: owner })).body.code).toBe('org_suspended');
    expect((await t.call('GET', `/api/orgs/${orgId}`, { as: operator })).body).toMatchObject({ suspended: true });
  });
});
