import { script, type TestOrg } from '@aps/chats/testing';
import { Connection, ConnectionTool } from '@aps/entities';
import { FileTargets } from '@aps/files';
import { sql, type Answer } from '@aps/platform/testing';
import { runningService, type DeployedProcess } from '../testing/running';

const t = runningService();
let org: TestOrg;
let refunds: DeployedProcess;
const INPUT_SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const DOUBLE = [{ id: 'say', kind: 'transform', set: { text: '${input.n * 2}' } }];

beforeEach(async () => {
  org = await t.org();
  refunds = await t.deployed(org, DOUBLE, { input_schema: INPUT_SCHEMA, output: '${steps.say.output.text}' });
  await t.db.execute(sql(`UPDATE processes SET slug = 'refunds', name = 'Refunds' WHERE id = $1`), [refunds.id]);
});

const grant = (allowed_tools: string[], denied_tools: string[] = []) =>
  t.make('PATCH', `/api/orgs/${org.id}/agents/${org.agentId}?deploy=true`, { as: org.owner, body: { allowed_tools, denied_tools } });
/** What the model is answered when it calls a tool. */
const called = async (name: string, args: object, in_chat?: string) => {
  const chat = in_chat ?? (await t.chat(org));
  const before = (await t.read(org, chat)).body.messages.length as number;
  await t.send(org, chat, script({ tool_calls: [{ name, arguments: args }] }, { text: 'done' }));
  const { messages } = await t.until(org, chat, (c) => c.status !== 'RUNNING' && c.messages.length > before + 2);
  const results = (messages as Answer['body'][]).filter(({ role }) => role === 'tool');
  const { content } = results.at(-1);
  return { chat, content: content.startsWith('{') ? JSON.parse(content) : content };
};
const runs = () =>
  t.db.query(sql<{ id: string; source_kind: string; source_ref_id: string; user_id: string; depth: number }>('SELECT * FROM process_runs WHERE org_id = $1 ORDER BY created_at'), [org.id]); // prettier-ignore

describe('an agent that is granted a process', () => {
  beforeEach(() => grant(['process:refunds']));

  it('finds it, begins a run of it on behalf of whom it talks to, and is told what came of that', async () => {
    const { chat, content } = await called('list_processes', {});
    expect(content).toEqual({ processes: [{ slug: 'refunds', name: 'Refunds', title: 'A process', input_schema: INPUT_SCHEMA }] });
    const begun = (await called('run_process', { process: 'refunds', input: { n: 4 }, label: 'Four' }, chat)).content;
    expect(begun).toEqual({ run_id: expect.any(String), process: 'refunds', status: 'started' });
    expect(await runs()).toMatchObject([
      { id: begun.run_id, source_kind: 'agent', source_ref_id: chat, user_id: org.owner.id, label: 'Four', depth: 0 },
    ]);
    await t.ended(begun.run_id);
    expect((await called('get_process_run', { run_id: begun.run_id }, chat)).content).toEqual({
      ...{ run_id: begun.run_id, process: 'refunds', status: 'completed', output: 8 },
    });
  });

  it('is told what is wrong with what it begins it with, and begins nothing', async () => {
    expect((await called('run_process', { process: 'refunds', input: { n: 'four' } })).content).toContain('n');
    await t.db.execute(sql('UPDATE processes SET current_revision_id = NULL WHERE id = $1'), [refunds.id]);
    expect((await called('run_process', { process: refunds.id, input: { n: 4 } })).content).toBe('Nothing of this process is deployed.');
    expect(await runs()).toEqual([]);
  });

  it('neither runs another one nor sees its runs, and hears not whether there is any', async () => {
    const other = await t.deployed(org, DOUBLE);
    const id = await t.begin(org, other, { n: 1 });
    for (const ref of [other.id, 'nothing'])
      expect((await called('run_process', { process: ref, input: { n: 1 } })).content).toBe(`There is no process ${ref} that you may run.`);
    expect((await called('get_process_run', { run_id: id })).content).toBe(`There is no run ${id} that you may see.`);
    const elsewhere = await t.org();
    const theirs = await t.begin(elsewhere, await t.deployed(elsewhere, DOUBLE), { n: 1 });
    expect((await called('get_process_run', { run_id: theirs })).content).toBe(`There is no run ${theirs} that you may see.`);
    expect((await runs()).map((run) => run.id)).toEqual([id]);
  });
});

it('everything is granted by *, but for what is denied; and nobody has the tools who is granted none', async () => {
  await grant(['*'], ['process:refunds']);
  expect((await called('list_processes', {})).content).toEqual({ processes: [] });
  expect((await called('run_process', { process: 'refunds', input: { n: 1 } })).content).toBe(
    'There is no process refunds that you may run.',
  );
  await grant(['*']);
  expect((await called('run_process', { process: 'refunds', input: { n: 1 } })).content).toMatchObject({ status: 'started' });
  await grant([]);
  const { content } = await called('run_process', { process: 'refunds', input: { n: 1 } });
  expect(content).toBe('There is no tool run_process, or you may not use it.');
  expect(await runs()).toHaveLength(1);
});

it('what an agent needs a recorded decision for, it needs one for in a process that does it, at whatever depth', async () => {
  await grant(['process:refunds']);
  const shop = { slug: 'shop', label: 'Shop', app_key: 'shop', provider_key: 'shop', method: 'none' as const, status: 'active' as const };
  const connection_id = await t.insert(Connection, { ...shop, org_id: org.id, scope: 'org', decision_mode: 'destructive' });
  const listed = { description: '', input_schema: {}, access_level: 'destructive' as const, hints: { destructiveHint: true } };
  await t.db.manager.insert(ConnectionTool, { ...listed, org_id: org.id, connection_id, name: 'refund' });
  const child = await t.deployed(org, DOUBLE);
  await t.db.execute(sql(`UPDATE process_revisions SET tool_snapshot = '[{"tool_slug": "shop.refund"}]' WHERE id = $1`), [
    child.revision_id,
  ]);
  await t.db.execute(sql(`UPDATE process_revisions SET refs = ARRAY['process:' || $2] WHERE id = $1`), [refunds.revision_id, child.id]);
  const begin = { name: 'run_process', arguments: { process: 'refunds', input: { n: 4 } } };
  const { chat, content } = await called(begin.name, begin.arguments);
  expect(content).toMatch(/^run_process was not run: it needs a recorded decision\. .*tool_slug "run_process"/);
  expect(await runs()).toEqual([]);
  const act = { kind: 'act', summary: 'Refund it', basis: 'Rule 1', tool_slug: 'run_process' };
  await t.send(org, chat, script({ tool_calls: [{ name: 'record_decision', arguments: act }] }, { tool_calls: [begin] }, { text: 'done' }));
  await t.until(org, chat, (c) => c.status !== 'RUNNING' && c.messages.at(-1).content === 'done' && c.messages.length > 6);
  expect(await runs()).toHaveLength(1);
  await t.db.execute(sql(`UPDATE connections SET decision_mode = 'off' WHERE id = $1`), [connection_id]);
  expect((await called(begin.name, begin.arguments)).content).toMatchObject({ status: 'started' });
});

it('an agent within a run begins one within that, so many levels deep', async () => {
  await grant(['process:refunds']);
  const task = script({ tool_calls: [{ name: 'run_process', arguments: { process: 'refunds', input: { n: 3 } } }] }, { text: 'done' });
  const id = await t.begin(org, await t.deployed(org, [{ id: 'a', kind: 'agent', agent: org.agentId, task }]));
  await t.ended(id);
  expect((await runs()).map(({ source_kind, depth }) => [source_kind, depth])).toEqual([
    ['api', 0],
    ['agent', 1],
  ]);
  await t.db.execute(sql('UPDATE process_runs SET depth = 10 WHERE id = $1'), [id]);
  const [{ chat }] = await t.db.query(sql<{ chat: string }>('SELECT chat_id AS chat FROM process_steps WHERE run_id = $1'), [id]);
  const { content } = await called('run_process', { process: 'refunds', input: { n: 3 } }, chat);
  expect(content).toContain('more than 10 levels');
});

it('an agent within a run ends not that run where it begins one of the same key', async () => {
  await grant(['*']);
  const task = script({ tool_calls: [{ name: 'run_process', arguments: { process: 'loop' } }] }, { text: 'done' });
  const concurrency = { key: 'one', limit: 1, strategy: 'cancel_running' };
  const loop = await t.deployed(org, [{ id: 'a', kind: 'agent', agent: org.agentId, task }], { concurrency, output: '${steps.a.output}' });
  await t.db.execute(sql(`UPDATE processes SET slug = 'loop' WHERE id = $1`), [loop.id]);
  expect(await t.ended(await t.begin(org, loop))).toMatchObject({ status: 'completed', output: 'done' });
  expect(await runs()).toHaveLength(1);
});

it('files of runs are open to members while there is the process', async () => {
  const id = await t.begin(org, refunds, { n: 1 });
  const open = async () => [...(await t.get(FileTargets).openTo(t.db, t.scope(org), 'process_run', [id]))];
  expect(await open()).toEqual([id]);
  await t.db.execute(sql('UPDATE processes SET deleted_at = now() WHERE id = $1'), [refunds.id]);
  expect(await open()).toEqual([]);
});

it('scopes of processes say which tools they open', async () => {
  const { items } = (await t.call('GET', `/api/orgs/${org.id}/tool-sources/scopes`, { as: org.owner })).body;
  expect(items.find(({ scope }: { scope: string }) => scope === 'process:refunds')).toMatchObject({
    tool_slugs: ['list_processes', 'run_process', 'get_process_run'],
  });
});
