import { Membership } from '@aps/entities';
import { anApiToken, aPerson, type Person } from '@aps/identity/testing';
import { fileForm, sql, type Bearer } from '@aps/platform/testing';
import { bodySchema, buildDocument, type Document } from './testing/document';
import { House } from './testing/house';
import { sample } from './testing/sample';
import { allRoutes, templateOf, type Route } from './testing/surface';
import { fill, OUTSIDE_OF_TENANTS, tenant, type Tenant } from './testing/tenant';

/** What Redis knows of the last seconds, what finds nothing to do where every plan comes from the configuration, and what is no more than asked. */
const NOTHING_KEPT = [
  'ChatPresenceController.',
  'AdminSubscriptionsController.',
  'AdminAiSettingsController.preview',
  'InboxRevisionsController.simulate',
];
/** Where the sample of a body says nothing, and would change nothing. */
const BODIES: Record<string, unknown> = {
  'PATCH /api/orgs/:org_id/settings/ai': { provider_2_enabled: 'false' },
  'PATCH /api/orgs/:org_id/settings/ai/routes': { routes: { openai: { enabled: false } } },
  'PATCH /api/orgs/:org_id/settings/limits': { budget_limit_usd: '7' },
  'PATCH /api/orgs/:org_id/settings/runtime': { compaction_enabled: false },
  'PATCH /api/admin/orgs/:org_id/ai-settings': { compaction_enabled: false },
  'PATCH /api/admin/ai-settings': { compaction_enabled: false },
};

let house: House;
let org: Tenant;
let writes: Route[];
let document: Document;

beforeAll(async () => {
  house = await new House().start();
  document = await buildDocument();
  org = await tenant(house, 'r');
  const all = await allRoutes();
  writes = all.filter(
    (r) =>
      !['GET', 'ALL'].includes(r.method) &&
      r.access?.tier !== 'public' &&
      !r.access?.reads &&
      !NOTHING_KEPT.some((c) => r.handler.startsWith(c)),
  );
});
afterAll(() => house?.close());

const isOfOrg = (r: Route) => r.path.includes(':org_id');
const inOrg = () => writes.filter((r) => isOfOrg(r) && !isOfPlatform(r));
const isOfPlatform = (r: Route) => r.access?.tier === 'platform_admin';

async function write(r: Route, as: Bearer) {
  const op = document.paths[templateOf(r.path)]?.[r.method.toLowerCase()];
  const schema = op && bodySchema(document, op);
  const body = BODIES[`${r.method} ${r.path}`] ?? (schema && sample(document, schema));
  const path = fill(r.path, { ...OUTSIDE_OF_TENANTS, ...org.params });
  return house.call(r.method, path, { as, body });
}

/** What a gateway that has just seen the caller lets them write after `lose`. */
async function written(of: Route[], who: () => Promise<{ person: Person; as?: Bearer; lose: () => Promise<unknown> }>): Promise<string[]> {
  const found: string[] = [];
  for (const r of of) {
    const { person, as = person, lose } = await who();
    // The gateway knows both now, and believes it for a second.
    const seen = await Promise.all([
      house.call('GET', '/api/auth/me', { as }),
      isOfOrg(r) && house.call('GET', `/api/orgs/${org.id}`, { as }),
    ]);
    expect(seen[0].status).toBe(200);
    await lose();
    const { status, text } = await write(r, as);
    if (status < 400) found.push(`${r.method} ${r.path} by ${person.email}: ${status} ${text.slice(0, 100)}`);
  }
  return found;
}

const caller = async (r: 'OWNER' | 'ADMIN' | 'MEMBER' = 'OWNER') => {
  const person = await aPerson(house, { admin: true });
  return { person, memberId: await house.insert(Membership, { org_id: org.id, user_id: person.id, role: r }) };
};

describe('in the second in which a gateway remembers a caller, nothing is written', () => {
  it('there are many writes', () => expect([writes.length > 40, writes.filter(isOfPlatform).length > 10]).toEqual([true, true]));

  it('with a session that has ended', async () => {
    const ended = async () => {
      const { person } = await caller();
      return { person, lose: () => house.db.execute(sql('UPDATE sessions SET revoked_at = now() WHERE user_id = $1'), [person.id]) };
    };
    expect(await written(writes, ended)).toEqual([]);
  });

  it('with an API token that was revoked', async () => {
    const revoked = async () => {
      const { person } = await caller();
      return {
        person,
        as: await anApiToken(house, person),
        lose: () => house.db.execute(sql('UPDATE api_tokens SET revoked_at = now() WHERE user_id = $1'), [person.id]),
      };
    };
    expect(
      await written(
        writes.filter((r) => !r.access?.sessionOnly),
        revoked,
      ),
    ).toEqual([]);
  });

  it('by somebody who was deactivated', async () => {
    const deactivated = async () => {
      const { person } = await caller();
      return { person, lose: () => house.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [person.id]) };
    };
    expect(await written(writes, deactivated)).toEqual([]);
  });

  it('by a member who was removed', async () => {
    const removed = async () => {
      const { person, memberId } = await caller();
      return { person, lose: () => house.db.execute(sql('DELETE FROM memberships WHERE id = $1'), [memberId]) };
    };
    expect(await written(inOrg(), removed)).toEqual([]);
  });

  it('by an owner who was made a member, where that is not enough', async () => {
    const lowered = async () => {
      const { person, memberId } = await caller();
      return { person, lose: () => house.db.execute(sql(`UPDATE memberships SET role = 'MEMBER' WHERE id = $1`), [memberId]) };
    };
    const privileged = writes.filter((r) => r.access?.tier === 'admin' || r.access?.tier === 'owner');
    expect(privileged.length).toBeGreaterThan(10);
    expect(await written(privileged, lowered)).toEqual([]);
  });

  it('by an operator who is none any more', async () => {
    const demoted = async () => {
      const { person } = await caller();
      return { person, lose: () => house.db.execute(sql('DELETE FROM platform_admins WHERE user_id = $1'), [person.id]) };
    };
    expect(await written(writes.filter(isOfPlatform), demoted)).toEqual([]);
  });

  it('in an organization that was suspended, nor is a file', async () => {
    const person = await aPerson(house);
    await house.insert(Membership, { org_id: org.id, user_id: person.id, role: 'OWNER' });
    const suspend = (yes: boolean) =>
      house.db.execute(sql('UPDATE organizations SET suspended_at = CASE WHEN $2 THEN now() END WHERE id = $1'), [org.id, yes]);
    const suspended = async () => {
      await suspend(false);
      return { person, lose: () => suspend(true) };
    };
    const found = await written(inOrg(), suspended);
    await suspended();
    await house.call('GET', `/api/orgs/${org.id}`, { as: person });
    await suspend(true);
    const upload = await house.call('POST', `/api/orgs/${org.id}/uploads`, { as: person, body: fileForm('late', 'late.txt') });
    await suspend(false);
    expect([found, upload.status, await house.db.query(sql(`SELECT 1 FROM files WHERE filename = 'late.txt'`))]).toEqual([[], 403, []]);
  });
});

describe('who has just been let in is in at once', () => {
  const readOrg = (as: Bearer) => house.call('GET', `/api/orgs/${org.id}`, { as });
  const readLimits = (as: Bearer) => house.call('GET', `/api/orgs/${org.id}/settings/limits`, { as });

  it('a new member, one with a new role, an organization that goes on, an operator', async () => {
    const person = await aPerson(house);
    expect((await readOrg(person)).body.code).toBe('not_org_member');
    const memberId = await house.insert(Membership, { org_id: org.id, user_id: person.id, role: 'MEMBER' });
    expect((await readOrg(person)).status).toBe(200);
    expect((await readLimits(person)).body.code).toBe('insufficient_role');
    await house.db.execute(sql(`UPDATE memberships SET role = 'ADMIN' WHERE id = $1`), [memberId]);
    expect((await readLimits(person)).status).toBe(200);

    const other = await tenant(house, 'other');
    await house.db.execute(sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'), [other.id]);
    const readOther = () => house.call('GET', `/api/orgs/${other.id}`, { as: other.admin });
    expect((await readOther()).body.code).toBe('org_suspended');
    await house.db.execute(sql('UPDATE organizations SET suspended_at = NULL WHERE id = $1'), [other.id]);
    expect((await readOther()).status).toBe(200);

    const readAll = () => house.call('GET', '/api/admin/orgs', { as: person });
    expect((await readAll()).body.code).toBe('platform_admin_required');
    await house.db.execute(sql('INSERT INTO platform_admins (user_id) VALUES ($1)'), [person.id]);
    expect((await readAll()).status).toBe(200);
  });

  it('a user who is reactivated', async () => {
    const person = await aPerson(house);
    const as = await anApiToken(house, person);
    await house.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [person.id]);
    expect((await house.call('GET', '/api/auth/me', { as })).body.code).toBe('user_deactivated');
    await house.db.execute(sql('UPDATE users SET deactivated_at = NULL WHERE id = $1'), [person.id]);
    expect((await house.call('GET', '/api/auth/me', { as })).status).toBe(200);
  });
});
