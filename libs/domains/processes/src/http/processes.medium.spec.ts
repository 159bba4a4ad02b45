import { AgentsHttpModule } from '@aps/agents/http';
import { aProject } from '@aps/agents/testing';
import { BillingModule } from '@aps/billing';
import { ConnectionDependents } from '@aps/connections';
import { connectionId } from '@aps/contracts';
import { InferenceModule } from '@aps/inference';
import { Process, ProcessRevision } from '@aps/entities';
import { anOrg, aTeam, type TestTeam } from '@aps/orgs/testing';
import { times, type Answer } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { aProcess, aRun } from '../testing';
import { ProcessesHttpModule } from '.';

const t = testService([...BASE_MODULES, BillingModule, InferenceModule, AgentsHttpModule, ProcessesHttpModule]);
let org: TestTeam;
let path: string;
beforeEach(async () => {
  org = await aTeam(t);
  path = `${org.path}/processes`;
});

const make = (fields?: object) => aProcess(t, org, { ...fields });
const get = (below = '') => t.make('GET', path + below, { as: org.member });
const patch = (id: unknown, body: object) => t.call('PATCH', `${path}/${String(id)}`, { as: org.owner, body });
const remove = (id: unknown) => t.call('DELETE', `${path}/${String(id)}`, { as: org.owner });
const problems = (body: Answer['body']) =>
  (body.detail as { loc: unknown[]; type: string }[]).map(({ loc, type }) => [loc.join('.'), type]);
/** A revision that is deployed, written past whatever checks it. */
const deployed = async (processId: string) => {
  const revision = { id: uuidv7(), org_id: org.id, process_id: processId, version: 1, hash: 'x', definition: {}, deployed_at: new Date() };
  await t.insert(ProcessRevision, { ...revision, status: 'deployed' });
  await t.db.manager.update(Process, processId, { current_revision_id: revision.id });
  return revision;
};

describe('a process', () => {
  it('is made with a slug and nothing deployed', async () => {
    const made = await make({ name: 'Zürich intake', title: 'Books', description: 'Reads' });
    const { id, created_at, updated_at } = made;
    expect(id).toMatch(/^prc_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(made).toEqual({
      ...{ id, created_at, updated_at, name: 'Zürich intake', title: 'Books', description: 'Reads', slug: 'zurich-intake' },
      ...{ project_id: null, stale_reason: null, current_revision: null, last_run: null, created_by: org.owner.id },
    });
    expect(await get(`/${String(id)}`)).toEqual(made);
    expect(await make({ name: '人' })).toMatchObject({ slug: 'process', description: null });
  });

  it.each<[string, object, [string, string][]]>([
    ['a name and a title', {}, [['body.name', 'missing'], ['body.title', 'missing']]], // prettier-ignore
    ['texts of them', { name: '', title: 1 }, [['body.name', 'string_too_short'], ['body.title', 'string_type']]], // prettier-ignore
    ['no longer ones', { name: 'a'.repeat(201), title: 'a' }, [['body.name', 'string_too_long']]],
  ])('needs %s', async (_, body, expected) => {
    const { status, body: answer } = await t.call('POST', path, { as: org.owner, body });
    expect([status, problems(answer)]).toEqual([422, expected]);
  });

  it('uses the connections whose tools its deployed revision calls', async () => {
    const { id } = await make();
    const revision = await deployed(id as string);
    const [byId, bySlug, other] = [uuidv7(), uuidv7(), uuidv7()];
    const pinned = (tool_slug: string, connection_id: string | null) => ({ tool_slug, connection_id, input_schema: {}, access_level: 'read' as const, schema_sha256: '', listed_at: '' }); // prettier-ignore
    await t.db.manager.update(ProcessRevision, revision.id, {
      tool_snapshot: [pinned('old.find', connectionId(byId)), pinned('crm.find', null)],
    });
    const named = [{ id: byId, slug: 'renamed' }, { id: bySlug, slug: 'crm' }, { id: other, slug: 'cr' }]; // prettier-ignore
    const found = await t.get(ConnectionDependents).ofEach(t.db, org.scope, named);
    expect(named.map((connection) => found.get(connection.id)?.process_ids)).toEqual([[id], [id], []]);
  });

  it('shows what is deployed, and its newest run', async () => {
    const { id } = await make();
    const revision = await deployed(id as string);
    await aRun(t, org, revision);
    const last = await aRun(t, org, revision, { asks_human: true, started_at: new Date() });
    const shown = {
      current_revision: { id: revision.id, version: 1, deployed_at: revision.deployed_at.toISOString() },
      last_run: { id: last, status: 'waiting_human', created_at: expect.any(String) as string },
    };
    expect(await get(`/${String(id)}`)).toMatchObject(shown);
    expect((await get()).items).toMatchObject([shown]);
  });

  it('is one of those that have its slug one after another', async () => {
    const made = await times(5, () => make());
    expect(made.map(({ slug }) => slug as string).sort()).toEqual(['intake', 'intake-2', 'intake-3', 'intake-4', 'intake-5']);
    const first = made.find(({ slug }) => slug === 'intake')!;
    expect((await remove(first.id)).status).toBe(204);
    expect(await make()).toMatchObject({ slug: 'intake' });
  });

  it('is found by its id, and by nothing else', async () => {
    const { id } = await make();
    const stranger = await anOrg(t);
    const foreign = (await aProcess(t, stranger)).id as string;
    for (const ref of ['intake', 'x', uuidv7(), 'prc_1', String(id).toUpperCase(), foreign])
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? { description: null } : undefined;
        expect([ref, method, (await t.call(method, `${path}/${ref}`, { as: org.owner, body })).status]).toEqual([ref, method, 404]);
      }
    expect((await t.call('GET', `${stranger.path}/processes/${foreign}`, { as: stranger.owner })).body).toMatchObject({
      title: 'Takes in',
    });
  });

  it('is there for who shares it as a tool; and who shared it before it went, keeps what it has', async () => {
    const { id, slug } = await make({ name: 'Billing' });
    const team = (tools: string[], method = 'POST', at = '') =>
      t.call(method, `${org.path}/agent-teams${at}`, { as: org.owner, body: { name: 'Team', shared_allowed_tools: tools } });
    expect((await team(['process:gone'])).body.code).toBe('unknown_reference');
    const { status, body } = await team([`process:${String(slug)}`]);
    expect(status).toBe(201);
    await remove(id);
    expect((await team([`process:${String(slug)}`], 'PATCH', `/${String(body.id)}`)).status).toBe(200);
    expect((await team([`process:${String(slug)}`, 'process:gone'], 'PATCH', `/${String(body.id)}`)).body.detail).toMatchObject([
      { loc: ['body', 'shared_allowed_tools', 1] },
    ]);
  });

  it('is listed newest first, all or of a project', async () => {
    const [, second] = [await make({ name: 'A' }), await make({ name: 'B' }), await make({ name: 'C' })];
    const project = await aProject(t, org.id);
    await t.db.manager.update(Process, second.id as string, { project_id: project });
    const slugs = async (query: string) => {
      const { items, total } = await get(query);
      return [total, ...(items as { slug: string }[]).map(({ slug }) => slug)];
    };
    expect(await slugs('')).toEqual([3, 'c', 'b', 'a']);
    expect(await slugs('?limit=1&offset=1')).toEqual([3, 'b']);
    expect(await slugs(`?project_id=${project}`)).toEqual([1, 'b']);
    expect(await slugs('?project_id=none')).toEqual([2, 'c', 'a']);
    await remove(second.id);
    expect(await slugs(`?project_id=${project}`)).toEqual([0]);
    expect(await slugs('')).toEqual([2, 'c', 'a']);
    expect((await t.call('GET', `${path}?project_id=x`, { as: org.member })).status).toBe(422);
  });
});

describe('a change of a process', () => {
  it('says what becomes of the description, which may be null', async () => {
    const { id } = await make({ description: 'd' });
    const { status, body } = await patch(id, { title: 'New' });
    expect([status, problems(body)]).toEqual([422, [['body.description', 'missing']]]);
    expect((await patch(id, { description: null })).body).toMatchObject({ description: null, title: 'Takes in' });
    expect((await patch(id, { description: 'e', title: 'New', name: 'Other' })).body).toMatchObject({
      ...{ description: 'e', title: 'New', name: 'Intake', slug: 'intake' },
    });
    expect((await patch(id, { description: 'e', title: 'New' })).status).toBe(200);
    expect(problems((await patch(id, { description: 'e', title: null })).body)).toEqual([['body.title', 'string_type']]);
    const audited = await t.audit({ target_id: id as string, action: 'process.updated' });
    expect(audited.map(({ metadata }) => (metadata as { fields: string[] }).fields.join())).toEqual(['description', 'description,title']);
  });
});
