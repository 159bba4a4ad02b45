import { AuditLogRow } from '@aps/entities';
import { actingUser, OrgScope } from '@aps/guards';
import { aPerson, type Person } from '@aps/identity/testing';
import { OrganizationsService } from '@aps/orgs';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

describe('the audit log', () => {
  const admin = adminService();
  const { t, call } = admin;
  let owner: Person;
  let orgId: string;
  const actions = (body: { items: { action: string }[] }) => body.items.map((item) => item.action);
  const page = async (path: string) => (await call('GET', path)).body;
  const anOrg = (name: string) => t.get(OrganizationsService).create(t.db, actingUser(owner.id), { name });

  beforeAll(async () => {
    owner = await aPerson(t);
    orgId = (await anOrg('Watched')).id;
    for (const verb of ['suspend', 'unsuspend']) await call('POST', `/orgs/${orgId}/${verb}`);
    await anOrg('Another');
    await call('POST', '/allowed-emails', { email: 'a@example.com' });
  });

  it('of an organization merges what operators and members did, newest first', async () => {
    const { status, body } = await call('GET', `/orgs/${orgId}/audit`);
    expect([status, body.total, body.next_offset]).toEqual([200, 3, null]);
    expect(actions(body)).toEqual(['organization.unsuspended', 'organization.suspended', 'organization.created']);
    expect(body.items[0]).toEqual({
      id: expect.any(String),
      source: 'admin',
      action: 'organization.unsuspended',
      org_id: orgId,
      actor: { id: admin.operator.id, email: admin.operator.email },
      target: { kind: 'organization', id: orgId },
      metadata: expect.any(Object),
      created_at: expect.any(String),
    });
    expect(body.items[2]).toMatchObject({ source: 'business', actor: { id: owner.id, email: owner.email } });
  });

  it('of an organization comes in pages', async () => {
    expect(await page(`/orgs/${orgId}/audit?limit=2`)).toMatchObject({ total: 3, next_offset: 2 });
    const last = await page(`/orgs/${orgId}/audit?limit=2&offset=2`);
    expect([actions(last), last.total, last.next_offset]).toEqual([['organization.created'], 3, null]);
    expect((await call('GET', `/orgs/${uuidv7()}/audit`)).status).toBe(404);
  });

  it('of an organization stays when that is deleted', async () => {
    const { id } = await anOrg('Doomed');
    await t.get(OrganizationsService).remove(OrgScope.member(id, owner.id, 'OWNER', actingUser(owner.id)));
    expect(actions(await page(`/orgs/${id}/audit`))).toEqual(['organization.deleted', 'organization.created']);
    expect((await call('GET', `/orgs/${id}`)).status).toBe(404);
  });

  it('names nobody where the system acted', async () => {
    const { id } = await anOrg('Automatic');
    await t.insert(AuditLogRow, { source: 'business', action: 'chat.purged', org_id: id, target_kind: 'chat' });
    expect((await page(`/orgs/${id}/audit?limit=1`)).items).toMatchObject([
      { action: 'chat.purged', actor: null, target: { kind: 'chat', id: null }, metadata: {} },
    ]);
  });

  it('of the platform shows what operators did, not what members do', async () => {
    const { status, body } = await call('GET', '/audit');
    expect([status, actions(body)]).toEqual([200, ['allowed_email.added', 'organization.unsuspended', 'organization.suspended']]);
  });

  it('of the platform is filtered by action, actor and organization', async () => {
    const other = await aPerson(t, { admin: true });
    await call('POST', '/allowed-emails', { email: 'b@example.com' }, { as: other });
    expect(actions(await page('/audit?action=organization.suspended'))).toEqual(['organization.suspended']);
    expect(await page(`/audit?actor_id=${other.id}`)).toMatchObject({ total: 1, items: [{ actor: { id: other.id } }] });
    expect(await page(`/audit?org_id=${orgId}&limit=1`)).toMatchObject({ total: 2, next_offset: 1, items: [{ org_id: orgId }] });
    expect(await page(`/audit?org_id=${orgId}&actor_id=${other.id}`)).toMatchObject({ total: 0, items: [] });
    expect((await page('/audit?actor_id=x&org_id=y')).detail).toMatchObject([{ loc: ['query', 'actor_id'] }, { loc: ['query', 'org_id'] }]);
  });
});
