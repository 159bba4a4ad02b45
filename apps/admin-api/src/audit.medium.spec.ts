import { uuidv7 } from 'uuidv7';
import { sql } from '@aps/platform/testing';
import { World, type Person } from './testing/world';

describe('the audit log', () => {
  let world: World;
  let owner: Person;
  let orgId: string;
  const actions = (body: { items: { action: string }[] }) => body.items.map((item) => item.action);

  beforeAll(async () => {
    world = await World.create();
    owner = await world.person();
    orgId = (await world.organization(owner, 'Watched')).id;
    await world.call('POST', `/orgs/${orgId}/suspend`);
    await world.call('POST', `/orgs/${orgId}/unsuspend`);
    await world.organization(owner, 'Another');
    await world.call('POST', '/allowed-emails', { email: 'a@example.com' });
  });
  afterAll(() => world?.destroy());

  it('of an organization merges what operators and members did, newest first', async () => {
    const { status, body } = await world.call('GET', `/orgs/${orgId}/audit`);
    expect([status, body.total, body.next_offset]).toEqual([200, 3, null]);
    expect(actions(body)).toEqual(['organization.unsuspended', 'organization.suspended', 'organization.created']);
    expect(body.items[0]).toEqual({
      id: expect.any(String),
      source: 'admin',
      action: 'organization.unsuspended',
      org_id: orgId,
      actor: { id: world.operator.id, email: world.operator.email },
      target: { kind: 'organization', id: orgId },
      metadata: expect.any(Object),
      created_at: expect.any(String),
    });
    expect(body.items[2]).toMatchObject({ source: 'business', actor: { id: owner.id, email: owner.email } });
  });

  it('of an organization comes in pages', async () => {
    expect((await world.call('GET', `/orgs/${orgId}/audit?limit=2`)).body).toMatchObject({ total: 3, next_offset: 2 });
    const { body } = await world.call('GET', `/orgs/${orgId}/audit?limit=2&offset=2`);
    expect([actions(body), body.total, body.next_offset]).toEqual([['organization.created'], 3, null]);
    expect((await world.call('GET', `/orgs/${uuidv7()}/audit`)).status).toBe(404);
  });

  it('names nobody where the system acted', async () => {
    const org = await world.organization(owner, 'Automatic');
    await world.db.execute(
      sql(`INSERT INTO audit_log (id, source, action, org_id, target_kind) VALUES ($1, 'business', 'chat.purged', $2, 'chat')`),
      [uuidv7(), org.id],
    );
    const { body } = await world.call('GET', `/orgs/${org.id}/audit?limit=1`);
    expect(body.items[0]).toMatchObject({ action: 'chat.purged', actor: null, target: { kind: 'chat', id: null }, metadata: {} });
  });

  it('of the platform shows what operators did, not what members do', async () => {
    const { status, body } = await world.call('GET', '/audit');
    expect(status).toBe(200);
    expect(actions(body)).toEqual(['allowed_email.added', 'organization.unsuspended', 'organization.suspended']);
  });

  it('of the platform is filtered by action, actor and organization', async () => {
    const other = await world.person({ admin: true });
    await world.call('POST', '/allowed-emails', { email: 'b@example.com' }, { as: other });
    expect(actions((await world.call('GET', '/audit?action=organization.suspended')).body)).toEqual(['organization.suspended']);
    expect((await world.call('GET', `/audit?actor_id=${other.id}`)).body).toMatchObject({ total: 1, items: [{ actor: { id: other.id } }] });
    expect((await world.call('GET', `/audit?org_id=${orgId}&limit=1`)).body).toMatchObject({
      total: 2,
      next_offset: 1,
      items: [{ org_id: orgId }],
    });
    expect((await world.call('GET', `/audit?org_id=${orgId}&actor_id=${other.id}`)).body).toMatchObject({ total: 0, items: [] });
    expect(await world.call('GET', '/audit?actor_id=x&org_id=y')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'actor_id'] }, { loc: ['query', 'org_id'] }] },
    });
  });
});
