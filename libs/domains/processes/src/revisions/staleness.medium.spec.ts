import { AgentsHttpModule } from '@aps/agents/http';
import { anAgent } from '@aps/agents/testing';
import { BillingModule } from '@aps/billing';
import { ModelCatalogEntry, Process, ProcessRevision } from '@aps/entities';
import { InferenceModule } from '@aps/inference';
import { addModel } from '@aps/inference/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { Maintenance, MaintenanceModule } from '@aps/platform/maintenance';
import { PromptsHttpModule } from '@aps/prompts/http';
import { BASE_MODULES, testService } from '@aps/testing';
import { ProcessesMaintenanceModule } from '../processes.module';
import { StepTools, type StepTool } from '../tools/step-tools';
import { Staleness } from './staleness';
import { ProcessesHttpModule } from '../http';
import { aProcess, aRevision, aTool, saying } from '../testing';

const t = testService([
  ...BASE_MODULES,
  ...[
    BillingModule,
    InferenceModule,
    MaintenanceModule,
    AgentsHttpModule,
    PromptsHttpModule,
    ProcessesHttpModule,
    ProcessesMaintenanceModule,
  ],
]);
/** The tools of a source, which come, change and go. */
const tools = new Map<string, StepTool>();
let org: TestTeam;
beforeAll(async () => {
  await addModel(t, 'test-model');
  t.get(StepTools).registerSource({
    find: (_, slug) => Promise.resolve(tools.get(slug) ?? null),
    slugs: () => Promise.resolve([...tools.keys()]),
  });
});
beforeEach(async () => {
  org = await aTeam(t);
  for (const slug of ['a', 'b']) tools.set(slug, aTool(slug, { connectionId: `con_${slug}` }));
});

const deployed = async (definition: object, name = 'Intake'): Promise<string> => {
  const id = (await aProcess(t, org, { name })).id as string;
  await redeployed(id, definition);
  return id;
};
const redeployed = async (id: string, definition: object) => {
  const revision = await aRevision(t, org, id, definition);
  await t.make('POST', `${org.path}/processes/${id}/revisions/${revision.id as string}/deploy`, { as: org.owner });
};
const reason = async (id: string) => (await t.make('GET', `${org.path}/processes/${id}`, { as: org.member })).stale_reason;
const calling = (...slugs: string[]) => ({ steps: slugs.map((tool) => ({ id: tool, kind: 'tool', tool, arguments: {} })) });
const ofAgent = (agent: unknown) => ({ steps: [{ id: 'ask', kind: 'agent', agent, task: 'x' }] });
const remove = (below: string) => t.make('DELETE', `${org.path}/${below}`, { as: org.owner });
/** As a day later. */
const checked = async () => {
  await t.get(Staleness).recheck(org.id);
  await t.get(Maintenance).runAll();
};

describe('a process whose surroundings change', () => {
  it('is told to be stale when an agent goes that it names, by id or slug, in the same transaction', async () => {
    const [one, other] = [await anAgent(t, org, { name: 'One' }), await anAgent(t, org, { name: 'Other' })];
    const byId = await deployed(ofAgent(one.id), 'By id');
    const bySlug = await deployed(ofAgent('one'), 'By slug');
    const ofOther = await deployed(ofAgent('other'), 'Of other');
    const former = await deployed(ofAgent('one'), 'Former');
    await redeployed(former, saying('nothing'));
    await remove(`agents/${one.id as string}`);
    expect([await reason(byId), await reason(bySlug), await reason(ofOther), await reason(former)]).toEqual([
      ...['agent_deleted:one', 'agent_deleted:one', null, null],
    ]);
    await redeployed(byId, ofAgent(other.id));
    expect(await reason(byId)).toBeNull();
  });

  it('is mended by a deploy of the same revision once what it names is there again, under another id', async () => {
    const one = await anAgent(t, org, { name: 'One' });
    const id = await deployed(ofAgent('one'));
    const { id: revision } = await aRevision(t, org, id, ofAgent('one'));
    const path = `${org.path}/processes/${id}/revisions/${revision as string}`;
    const deploy = () => t.call('POST', `${path}/deploy`, { as: org.owner });
    await remove(`agents/${one.id as string}`);
    expect([(await deploy()).status, await reason(id)]).toEqual([422, 'agent_deleted:one']);
    const anew = await anAgent(t, org, { name: 'One' });
    // Two find it stale; the second has nothing left to do.
    const answers = await Promise.all([deploy(), deploy()]);
    expect(answers.map(({ status, body }) => [status, body.revision.status, body.previous_revision_id])).toEqual([
      [200, 'deployed', null],
      [200, 'deployed', null],
    ]);
    expect(await reason(id)).toBeNull();
    const { refs, meant } = await t.db.manager.findOneByOrFail(ProcessRevision, { id: revision });
    expect([refs, meant]).toEqual([[`agent:${anew.id as string}`], { 'agent:one': anew.id }]);
    expect(await t.audit({ org_id: org.id, action: 'process_revision.deployed' })).toHaveLength(2);
    await remove(`agents/${anew.id as string}`);
    expect(await reason(id)).toBe('agent_deleted:one');
  });

  it('is told so of templates and processes, and of the first thing that went', async () => {
    const template = await t.make('POST', `${org.path}/prompt-templates`, { as: org.owner, body: { name: 'Invoice', text: 'x' } });
    const child = await deployed(saying('x'), 'Child');
    const id = await deployed({
      steps: [
        { id: 'a', kind: 'prompt', template: 'invoice', input: {} },
        { id: 'b', kind: 'process', process: child, input: {} },
      ],
    });
    const parent = await deployed({ steps: [{ id: 'sub', kind: 'process', process: 'child', input: {} }] }, 'Parent');
    await remove(`processes/${child}`);
    await remove(`prompt-templates/${template.id as string}`);
    expect([await reason(id), await reason(parent)]).toEqual(['process_deleted:child', 'process_deleted:child']);
    // A day later the order of reasons counts.
    await checked();
    expect([await reason(id), await reason(parent)]).toEqual(['template_deleted:invoice', 'process_deleted:child']);
  });

  it('is found to be stale when a tool changes, moves or goes, and stays so until it is deployed again', async () => {
    const id = await deployed(calling('a', 'b'));
    await checked();
    expect(await reason(id)).toBeNull();
    tools.set('b', aTool('b', { connectionId: 'con_other' }));
    await checked();
    expect(await reason(id)).toBe('connection_gone:con_b');
    tools.set('b', aTool('b', { connectionId: 'con_b', inputSchema: { type: 'object' } }));
    await checked();
    expect(await reason(id)).toBe('tool_schema_changed:b');
    tools.delete('a');
    await checked();
    expect(await reason(id)).toBe('tool_missing:a');
    tools.set('a', aTool('a', { connectionId: 'con_a' }));
    tools.set('b', aTool('b', { connectionId: 'con_b' }));
    await checked();
    expect(await reason(id)).toBe('tool_missing:a');
    await redeployed(id, calling('b', 'a'));
    expect(await reason(id)).toBeNull();
  });

  it('is found to be stale when its model is retired, but not when its agent is called otherwise', async () => {
    const agent = await anAgent(t, org, { name: 'Named' });
    const asking = await deployed({ steps: [{ id: 'm', kind: 'llm', model: 'test-model', prompt: 'x' }] }, 'Asking');
    const naming = await deployed(ofAgent('named'), 'Naming');
    await t.db.manager.update(ModelCatalogEntry, { key: 'test-model' }, { enabled: false });
    await t.make('PATCH', `${org.path}/agents/${agent.id as string}`, { as: org.owner, body: { slug: 'renamed' } });
    await checked();
    expect([await reason(asking), await reason(naming)]).toEqual(['model_retired:test-model', null]);
    await anAgent(t, org, { name: 'Named' });
    await remove(`agents/${agent.id as string}`);
    expect(await reason(naming)).toBe('agent_deleted:renamed');
    await checked();
    expect(await reason(naming)).toBe('agent_deleted:named');
    await t.db.manager.update(ModelCatalogEntry, { key: 'test-model' }, { enabled: true });
  });

  it('is not stale by a look that a deploy of the same revision has overtaken', async () => {
    const id = await deployed(calling('a'));
    await t.db.manager.update(Process, id, { stale_reason: 'tool_missing:a' });
    const found = jest.spyOn(t.get(StepTools), 'find').mockImplementationOnce(async () => {
      await redeployed(id, calling('a'));
      return null;
    });
    await checked();
    expect([found.mock.calls.length, await reason(id)]).toEqual([2, null]);
    found.mockRestore();
  });

  it('is looked at also beside one that cannot be', async () => {
    const [broken, id] = [await deployed(calling('a'), 'Broken'), await deployed(calling('a'), 'Whole')];
    await t.db.manager.update(ProcessRevision, { process_id: broken }, { definition: { schema_version: 0 } });
    tools.delete('a');
    await checked();
    expect([await reason(broken), await reason(id)]).toEqual([null, 'tool_missing:a']);
  });

  it('is looked at once a day', async () => {
    const id = await deployed(calling('a'));
    tools.delete('a');
    await t.get(Maintenance).runAll();
    expect(await reason(id)).toBeNull();
    await t.db.manager.update(Process, id, { stale_checked_at: () => `now() - interval '25 hours'` });
    await t.get(Maintenance).runAll();
    expect(await reason(id)).toBe('tool_missing:a');
    await t.db.manager.update(Process, id, { stale_reason: null });
    await t.get(Maintenance).runAll();
    expect(await reason(id)).toBeNull();
  });
});
