import { AgentsHttpModule } from '@aps/agents/http';
import { anAgent } from '@aps/agents/testing';
import { BillingModule, OrgPlans } from '@aps/billing';
import { entitle, entitleAsBefore } from '@aps/billing/testing';
import { ModelCatalogEntry } from '@aps/entities';
import { InferenceModule } from '@aps/inference';
import { InferenceHttpModule } from '@aps/inference/http';
import { addModel, whileDeleting } from '@aps/inference/testing';
import { OrgsModule } from '@aps/orgs';
import { anOrg, aTeam, type TestTeam } from '@aps/orgs/testing';
import { hashOf } from '@aps/platform/definitions';
import { times, type Answer } from '@aps/platform/testing';
import { PromptsHttpModule } from '@aps/prompts/http';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { MAX_BYTES } from '../definition/definition.reader';
import { Definitions } from '../revisions/definitions';
import { StepTools } from '../tools/step-tools';
import { aProcess, aRevision, aTool, saying } from '../testing';
import { ProcessesHttpModule } from '.';

const t = testService([
  ...BASE_MODULES,
  ...[
    BillingModule,
    OrgsModule.forRoot(OrgPlans),
    InferenceModule,
    InferenceHttpModule,
    AgentsHttpModule,
    PromptsHttpModule,
    ProcessesHttpModule,
  ],
]);
let org: TestTeam;
let process: string;
let path: string;
beforeAll(async () => {
  await addModel(t, 'test-model');
  t.get(StepTools).register(
    aTool('crm.find'),
    aTool('crm.write', { accessLevel: 'write' }),
    aTool('crm.put', { accessLevel: 'write', idempotent: true }),
  );
});
beforeEach(async () => {
  await entitleAsBefore(t);
  org = await aTeam(t);
  process = (await aProcess(t, org)).id as string;
  path = `${org.path}/processes/${process}/revisions`;
});

type Revision = { id: string; version: number; status: string; deployed_at: string };
const push = (definition: unknown, more = {}, as = org.owner) => t.call('POST', path, { as, body: { definition, ...more } });
const pushed = async (definition: object) => (await aRevision(t, org, process, definition)) as Revision;
const deploy = (id: string, as = org.owner) => t.call('POST', `${path}/${id}/deploy`, { as });
const deployed = async (definition: object) => (await t.make('POST', `${path}/${(await pushed(definition)).id}/deploy`, { as: org.owner })) as { revision: Revision; warnings: object[] }; // prettier-ignore
const tried = async (definition: object) => deploy((await pushed(definition)).id);
const list = async () => (await t.make('GET', path, { as: org.member })) as unknown as Revision[];
const statuses = async () => (await list()).map(({ version, status }) => `${version} ${status}`);
const shown = () => t.make('GET', `${org.path}/processes/${process}`, { as: org.member });
const seen = ({ status, body }: Answer) => [status, body.code ?? body.version];
const told = ({ status, body }: Answer) => [status, body.code, (body.errors as { step_id: string; field: string }[])?.map(({ step_id, field }) => `${step_id} ${field}`)]; // prettier-ignore
const steps = (...of: object[]) => ({ steps: of });

describe('pushing', () => {
  it('makes a draft', async () => {
    const { status, body } = await push(saying('a'), { sop_text: 'Say a.' });
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: body.id, process_id: process, version: 1, status: 'draft', definition: saying('a'), sop_text: 'Say a.' },
        ...{ hash: hashOf({ definition: saying('a'), sop_text: 'Say a.' }), tool_snapshot: null, created_by: org.owner.id },
        ...{ deployed_by: null, deployed_at: null, created_at: body.created_at },
      },
    ]);
    expect(await list()).toEqual([body]);
    expect((await shown()).current_revision).toBeNull();
  });

  it('makes another one of whatever differs, the SOP too, and none of what the newest one says', async () => {
    expect(seen(await push(saying('a')))).toEqual([201, 1]);
    expect(seen(await push(saying('a')))).toEqual([200, 1]);
    expect(seen(await push(saying('a'), { sop_text: null }))).toEqual([200, 1]);
    expect(seen(await push(saying('a'), { sop_text: 'Say it.' }))).toEqual([201, 2]);
    expect(seen(await push({ steps: saying('a').steps, schema_version: 1 }, { sop_text: 'Say it.' }))).toEqual([200, 2]);
    expect(seen(await push(saying('b'), { sop_text: 'Say it.' }))).toEqual([201, 3]);
    expect(seen(await push(saying('a')))).toEqual([201, 4]);
    expect(await statuses()).toEqual(['4 draft', '3 draft', '2 draft', '1 draft']);
    const actions = (await t.audit({ org_id: org.id })).map(({ action }) => action).filter((action) => /revision/.test(action));
    expect(actions).toEqual(Array(4).fill('process_revision.created'));
  });

  it('tells every problem by its step', async () => {
    const answer = await push(steps({ id: 'one', kind: 'hop' }, { id: 'two', kind: 'flag' }, { id: 'two', kind: 'flag', reason: 'x' }));
    const { status, body } = answer;
    expect([status, body.code, body.warnings]).toEqual([422, 'revision_invalid', []]);
    const errors = body.errors as { step_id: string; field: string; problem: string; valid_values: string[] }[];
    expect(errors).toContainEqual({ ...{ step_id: 'one', field: 'kind' }, problem: expect.any(String), valid_values: expect.arrayContaining(['flag']) }); // prettier-ignore
    expect(new Set(errors.map(({ step_id }) => step_id))).toEqual(new Set(['one', 'two']));
    expect((body.detail as object[]).length).toBe(errors.length);
    expect((body.detail as object[])[0]).toMatchObject({ loc: ['body', 'definition'], type: 'semantic.revision_invalid' });
    const large = await push(saying('x'.repeat(MAX_BYTES)));
    expect((large.body.detail as { msg: string }[]).map(({ msg }) => msg)).toEqual([`Definition should have at most ${MAX_BYTES} bytes`]);
    expect(await list()).toEqual([]);
    for (const definition of [undefined, null, [], 'x']) expect(seen(await push(definition))).toEqual([422, 'validation_error']);
  });

  it('refuses a form that no human could be asked by', async () => {
    const form = { type: 'object', properties: { a: { type: 'string', pattern: 'x' } } };
    expect(told(await push(steps({ id: 'ask', kind: 'human', prompt: 'Well?', form })))).toEqual([422, 'revision_invalid', ['ask form']]);
  });

  it('numbers those that come at once, and writes the same but once', async () => {
    const answers = await times(12, (i) => push(saying(String(i))));
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(201));
    expect((await list()).map(({ version }) => version)).toEqual(Array.from({ length: 12 }, (_, i) => 12 - i));
    const same = await times(8, () => push(saying('same')));
    expect(same.map(({ status }) => status).sort()).toEqual([...Array<number>(7).fill(200), 201]);
  });

  it('lists many of them a few at a time where they are large', async () => {
    const all: Revision[] = [];
    for (let i = 0; i < 11; i++) all.unshift(await pushed(saying(String(i).repeat(100_000))));
    const { body, headers } = await t.call('GET', path, { as: org.member });
    expect([body, headers.get('content-length')]).toEqual([all, null]);
  });

  it('is for administrators, of a process that is there', async () => {
    expect(seen(await push(saying('a'), {}, org.member))).toEqual([403, 'insufficient_role']);
    const { id } = await pushed(saying('a'));
    expect(seen(await deploy(id, org.member))).toEqual([403, 'insufficient_role']);
    const stranger = await anOrg(t);
    const others = { process: (await aProcess(t, stranger)).id as string };
    const foreign = (await aRevision(t, stranger, others.process)) as Revision;
    expect(seen(await deploy(foreign.id))).toEqual([404, 'not_found']);
    const other = (await aProcess(t, org)).id as string;
    for (const ref of [other, others.process, 'x'])
      expect((await t.call('POST', `${org.path}/processes/${ref}/revisions/${id}/deploy`, { as: org.owner })).status).toBe(404);
    for (const ref of [others.process, 'x']) {
      expect((await t.call('GET', `${org.path}/processes/${ref}/revisions`, { as: org.owner })).status).toBe(404);
      // The process is looked for before the definition is read.
      expect((await t.call('POST', `${org.path}/processes/${ref}/revisions`, { as: org.owner, body: { definition: {} } })).status).toBe(
        404,
      );
    }
  });
});

describe('deploying', () => {
  it('makes a draft what runs do, archives what was that, and goes back to it', async () => {
    const first = await pushed(saying('a'));
    const { status, body } = await deploy(first.id);
    expect([status, body]).toMatchObject([
      ...[
        200,
        { revision: { id: first.id, status: 'deployed', deployed_by: org.owner.id, tool_snapshot: [] }, previous_revision_id: null },
      ],
    ]);
    expect(body.warnings).toEqual([]);
    expect((await shown()).current_revision).toMatchObject({ id: first.id, version: 1 });
    const second = await pushed(saying('b'));
    expect((await deploy(second.id)).body).toMatchObject({ previous_revision_id: first.id });
    expect(await statuses()).toEqual(['2 deployed', '1 archived']);
    const again = await deploy(second.id);
    expect([again.status, again.body]).toMatchObject([200, { revision: { id: second.id }, previous_revision_id: null, warnings: [] }]);
    expect((await deploy(first.id)).body).toMatchObject({ previous_revision_id: second.id });
    expect(await statuses()).toEqual(['2 archived', '1 deployed']);
    expect((await shown()).current_revision).toMatchObject({ id: first.id });
    const audited = await t.audit({ org_id: org.id, action: 'process_revision.deployed' });
    expect(audited.map(({ metadata }) => (metadata as { previous_revision_id: string }).previous_revision_id)).toEqual([
      ...[null, first.id, second.id],
    ]);
  });

  it('leaves one deployed of many at once', async () => {
    const drafts = [];
    for (let i = 0; i < 6; i++) drafts.push(await pushed(saying(String(i))));
    const answers = await Promise.all(drafts.map(({ id }) => deploy(id)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    const rows = await list();
    expect(rows.filter(({ status }) => status === 'archived')).toHaveLength(5);
    expect((await shown()).current_revision).toMatchObject({ id: rows.find(({ status }) => status === 'deployed')!.id });
    const previous = answers.map(({ body }) => body.previous_revision_id);
    expect(new Set(previous).size).toBe(6);
  });

  it('pins the tools that it calls, and warns of what writes twice', async () => {
    const call = (id: string, tool: string) => ({ id, kind: 'tool', tool, arguments: {} });
    const { revision, warnings } = await deployed(
      steps(call('w', 'crm.write'), call('f', 'crm.find'), call('g', 'crm.find'), call('p', 'crm.put')),
    );
    const schema = aTool('').inputSchema;
    const pinned = { connection_id: null, input_schema: schema, schema_sha256: hashOf(schema), listed_at: expect.any(String) as string };
    expect((revision as unknown as { tool_snapshot: object[] }).tool_snapshot).toEqual([
      { ...pinned, tool_slug: 'crm.find', access_level: 'read' },
      { ...pinned, tool_slug: 'crm.put', access_level: 'write' },
      { ...pinned, tool_slug: 'crm.write', access_level: 'write' },
    ]);
    expect(warnings).toMatchObject([{ step_id: 'w', field: 'tool' }]);
  });

  it('warns of a tool that writes by some of its arguments only where these may', async () => {
    const request = (id: string, args: unknown) => ({ id, kind: 'tool', tool: 'core.http_request', arguments: args });
    const url = 'https://example.com';
    const { warnings } = await deployed(
      steps(
        request('get', { method: 'GET', url }),
        request('put', { method: 'PUT', url }),
        request('post', { method: 'POST', url }),
        request('some', { method: '${input.method}', url }),
        request('any', '${input.request}'),
      ),
    );
    expect(warnings).toMatchObject(['post', 'some', 'any'].map((step_id) => ({ step_id, field: 'tool' })));
  });

  it('tells all that is named and not there, with what could be', async () => {
    const { slug, id } = await anAgent(t, org, { name: 'Researcher' });
    const template = await t.make('POST', `${org.path}/prompt-templates`, { as: org.owner, body: { name: 'Invoice', text: 'x' } });
    const child = await aProcess(t, org, { name: 'Child' });
    const good = steps(
      ...[slug, id].map((agent, i) => ({ id: `a${i}`, kind: 'agent', agent, task: 'x' })),
      ...[template.slug, template.id].map((of, i) => ({ id: `t${i}`, kind: 'prompt', template: of, input: {} })),
      ...[child.slug, child.id].map((of, i) => ({ id: `p${i}`, kind: 'process', process: of, input: {} })),
      { id: 'm', kind: 'llm', model: 'test-model', prompt: 'x' },
    );
    const answer = await tried(good);
    expect([answer.status, answer.body.warnings]).toMatchObject([200, [{ step_id: 'p0', field: 'process' }, { step_id: 'p1', field: 'process' }]]); // prettier-ignore
    const stranger = await anOrg(t);
    const foreign = (await anAgent(t, stranger)).id;
    const bad = await tried({
      ...steps(
        { id: 'tool', kind: 'tool', tool: 'crm.fnd', arguments: {} },
        { id: 'agent', kind: 'agent', agent: foreign, task: 'x' },
        { id: 'prompt', kind: 'prompt', template: 'invoic', input: {} },
        { id: 'inner', kind: 'loop', over: [1], steps: [{ id: 'sub', kind: 'process', process: 'prc_x', input: {} }] },
      ),
      on_error: [{ match: '*', steps: [{ id: 'ask', kind: 'llm', model: 'no-such', prompt: 'x' }] }],
    });
    expect(told(bad)).toEqual([...[422, 'revision_invalid', ['tool tool', 'agent agent', 'prompt template', 'sub process', 'ask model']]]);
    const values = (bad.body.errors as { valid_values: string[] }[]).map(({ valid_values }) => valid_values);
    expect(values).toEqual([
      ['core.http_request', 'crm.find', 'crm.put', 'crm.write'],
      ['researcher'],
      ['invoice'],
      ['child', 'intake'],
      ['test-model'],
    ]);
    expect((bad.body.detail as object[])[0]).toMatchObject({ loc: ['path', 'revision_id'] });
    expect(await statuses()).toEqual(['2 draft', '1 deployed']);
  });

  it('refuses a model that nobody can call any more, or that the plan does not let the organization choose', async () => {
    const asking = steps({ id: 'm', kind: 'llm', model: 'test-model', prompt: 'x' });
    await t.db.manager.update(ModelCatalogEntry, { key: 'test-model' }, { enabled: false });
    const { id } = await pushed(asking);
    expect(told(await deploy(id))).toEqual([422, 'revision_invalid', ['m model']]);
    await t.db.manager.update(ModelCatalogEntry, { key: 'test-model' }, { enabled: true });
    await entitle(t, { direct_model_choice: false });
    expect(seen(await deploy(id))).toEqual([403, 'entitlement_required']);
    expect((await tried(steps({ id: 'm', kind: 'llm', model_mode: 'normal', prompt: 'x' }))).status).toBe(200);
  });

  it('asks the plan for assignees, and warns of those who are nobody here', async () => {
    const asking = steps({
      ...{ id: 'ask', kind: 'human', prompt: 'Well?', timeout_s: 60 },
      assignees: ['role:ADMIN', `user:${org.member.id}`, `user:${uuidv7()}`, org.member.email, 'nobody@else.example'],
    });
    const { id } = await pushed(asking);
    await entitle(t, { hitl_routing: false });
    const refused = await deploy(id);
    expect([seen(refused), refused.body.context]).toMatchObject([[403, 'entitlement_required'], { entitlement: 'hitl_routing' }]);
    await entitle(t, { hitl_routing: true });
    const { status, body } = await deploy(id);
    expect([status, body.warnings]).toMatchObject([200, [{ step_id: 'ask', field: 'assignees.2' }, { step_id: 'ask', field: 'assignees.4' }]]); // prettier-ignore
  });

  it('refuses a process that comes to itself, by however many others, and of two at once that name each other', async () => {
    const naming = (of: unknown) => steps({ id: 'sub', kind: 'process', process: of, input: {} });
    expect(told(await tried(naming(process)))).toEqual([422, 'revision_invalid', ['sub process']]);
    const [b, c] = [await aProcess(t, org, { name: 'B' }), await aProcess(t, org, { name: 'C' })];
    const deployOf = async (of: Answer['body'], definition: object) => {
      const { id } = await aRevision(t, org, of.id as string, definition);
      return t.call('POST', `${org.path}/processes/${of.id as string}/revisions/${id as string}/deploy`, { as: org.owner });
    };
    expect((await deployOf(b, naming('c'))).status).toBe(200);
    expect((await deployOf(c, naming('intake'))).status).toBe(200);
    expect(told(await tried(naming(b.id)))).toEqual([422, 'revision_invalid', ['sub process']]);
    expect((await deployOf(c, saying('nothing'))).status).toBe(200);
    expect((await tried(naming(b.slug))).status).toBe(200);
    for (let round = 0; round < 4; round++) {
      const [x, y] = [await aProcess(t, org, { name: `X${round}` }), await aProcess(t, org, { name: `Y${round}` })];
      const both = await Promise.all([deployOf(x, naming(y.id)), deployOf(y, naming(x.id))]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 422]);
    }
  });

  it('keeps the models that it names from being deleted, and names none that is being deleted', async () => {
    await addModel(t, 'going');
    const { id } = await pushed(steps({ id: 'm', kind: 'llm', model: 'going', prompt: 'x' }));
    expect(told(await whileDeleting(t, 'going', () => deploy(id)))).toEqual([422, 'revision_invalid', ['m model']]);
    const own = await addModel(t, 'own-model', { owner_org_id: org.id });
    const revision = await pushed(steps({ id: 'm', kind: 'llm', model: 'own-model', prompt: 'x' }));
    const remove = () => t.call('DELETE', `${org.path}/models/${own}`, { as: org.owner });
    expect((await deploy(revision.id)).status).toBe(200);
    const kept = await remove();
    expect([kept.status, kept.body.context]).toMatchObject([409, { used_by: [{ kind: 'process', id: process, name: 'Intake' }] }]);
    await deployed(saying('nothing'));
    expect((await remove()).status).toBe(204);
  });
});

describe('the definition of a revision', () => {
  it('is read once, with its defaults, and of its organization alone', async () => {
    const { id } = await pushed(saying('a'));
    const definitions = t.get(Definitions);
    const read = await definitions.of(org.id, id);
    expect(read).toMatchObject({ input_schema: null, on_error: [], steps: [{ id: 'say', kind: 'transform', set: { text: 'a' } }] });
    expect(await definitions.of(org.id, id)).toBe(read);
    await expect(definitions.of((await anOrg(t)).id, id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
