import { EnvironmentsHttpModule } from '@aps/environments/http';
import { EnvironmentsJobsModule } from '@aps/environments/jobs';
import { NOT_ISOLATED, TestMachine } from '@aps/environments/testing';
import { eventually, sql, type Answer } from '@aps/platform/testing';
import { ToolCatalog } from '@aps/tools';
import { calls, ChatsService, script, type TestOrg } from '../testing/chats';

type Chat = Answer['body'];

describe('commands of a chat', () => {
  const app = new ChatsService(NOT_ISOLATED, [EnvironmentsHttpModule, EnvironmentsJobsModule], ['environments']);
  let org: TestOrg;
  let sandbox: string;

  beforeAll(() => app.start());
  afterAll(() => app.close());
  beforeEach(async () => {
    org = await app.org({ allowed_tools: ['system:exec'] });
    sandbox = (await environment({ kind: 'BUILTIN_SANDBOX' })).environment.id;
  });

  const environments = () => `/api/orgs/${org.id}/environments`;
  const environment = (body: object) => app.make('POST', environments(), { as: org.owner, body });
  const machine = async (): Promise<TestMachine> => {
    const made = await environment({ kind: 'REMOTE_MACHINE', name: 'Build' });
    return new TestMachine(app, made.environment.id as string, made.daemon_token as string);
  };
  const results = (chat: Chat): string[] =>
    chat.messages.filter((m: { role: string }) => m.role === 'tool').map((m: { content: string }) => m.content);
  const say = async (content: string, body: object = { sandbox_enabled: true }): Promise<Chat> => {
    const id = await app.chat(org, { title: 'Test', ...body });
    await app.send(org, id, content);
    return app.settled(org, id, 1);
  };
  const run = (command: string, more: object = {}) => calls('run_command', { command, ...more });
  const commands = (chat: string) =>
    app.db.query(sql<{ id: string; status: string }>('SELECT id, status FROM environment_commands WHERE chat_id = $1 ORDER BY id'), [chat]);
  const NO_TOOL = expect.stringContaining('There is no tool run_command') as string;

  it('tell the agent how they ended and what they wrote', async () => {
    const chat = await say(run('echo out; echo err >&2; exit 3'));
    expect(JSON.parse(results(chat)[0])).toEqual({
      ...{ exit_code: 3, stdout: 'out\n', stderr: 'err\n', timed_out: false, truncated: false, duration_ms: expect.any(Number) },
    });
    expect((await app.make('GET', `${environments()}/${sandbox}/activity`, { as: org.owner })).items).toMatchObject([
      { chat_id: chat.id, command_preview: 'echo out; echo err >&2; exit 3', status: 'done', exit_code: 3, timed_out: false },
    ]);
  });

  it('share the files of their chat, and see no others', async () => {
    const chat = await say(
      script(
        { tool_calls: [{ name: 'write_file', arguments: { path: 'notes/a.txt', content: 'Hello — “you”' } }] },
        { tool_calls: [{ name: 'run_command', arguments: { command: 'cat a.txt; pwd >/dev/null', workdir: 'notes' } }] },
        { tool_calls: [{ name: 'read_file', arguments: { path: '/workspace/notes/a.txt' } }] },
        { tool_calls: [{ name: 'list_files', arguments: {} }] },
        { tool_calls: [{ name: 'read_file', arguments: { path: 'missing' } }] },
        { tool_calls: [{ name: 'read_file', arguments: { path: '../../etc/passwd' } }] },
        { text: 'done' },
      ),
    );
    const [written, shown, read, listed, missing, outside] = results(chat);
    expect(JSON.parse(written)).toEqual({ path: '/workspace/notes/a.txt', bytes: 19 });
    expect(JSON.parse(shown)).toMatchObject({ stdout: 'Hello — “you”', exit_code: 0 });
    expect(JSON.parse(read)).toMatchObject({ content: 'Hello — “you”', bytes: 19, truncated: false });
    expect(JSON.parse(listed)).toEqual({ path: '/workspace', files: ['notes/'], left_off: 0 });
    expect(missing).toContain('missing');
    expect(outside).toContain('must be within /workspace');
    expect(JSON.parse(results(await say(calls('list_files', {})))[0]).files).toEqual([]);
  });

  it('are there where the chat, its agent or the sandbox has them, and the chat has not switched them off', async () => {
    expect(results(await say(run('true'), {}))).toEqual([NO_TOOL]);
    expect(results(await say(run('true'), { sandbox_enabled: false, environment_id: sandbox }))).toEqual([NO_TOOL]);
    expect(JSON.parse(results(await say(run('true'), { environment_id: sandbox }))[0])).toMatchObject({ exit_code: 0 });
    const refused = await app.call('POST', org.path, { as: org.owner, body: { environment_id: org.agentId } });
    expect([refused.status, refused.body.code]).toEqual([422, 'unknown_reference']);
    const build = await machine();
    const agent = `/api/orgs/${org.id}/agents/${org.agentId}`;
    await app.make('PATCH', agent, { as: org.owner, body: { environment_id: build.id } });
    const revision = await app.make('POST', `${agent}/revisions`, { as: org.owner, body: {} });
    await app.make('POST', `${agent}/revisions/${revision.id}/deploy`, { as: org.owner });
    expect(results(await say(run('true'), {}))).toEqual(['The machine has never called home: its daemon is not installed.']);
    expect((await app.make('GET', `${environments()}/${build.id}/usage`, { as: org.owner })).agents).toMatchObject([{ id: org.agentId }]);
    // What is gone is nobody's: the sealed revision that names it has none.
    await app.make('DELETE', `${environments()}/${build.id}`, { as: org.owner });
    expect((await app.make('GET', agent, { as: org.owner })).environment_id).toBeNull();
    expect(results(await say(run('true'), {}))).toEqual([NO_TOOL]);
    expect(JSON.parse(results(await say(run('true')))[0])).toMatchObject({ exit_code: 0 });
  });

  it('are killed at their ceiling', async () => {
    const [result] = results(await say(run('echo begun; sleep 600 & sleep 600', { timeout_s: 1 })));
    expect(JSON.parse(result)).toMatchObject({ exit_code: null, timed_out: true, stdout: 'begun\n' });
  });

  it('end with a stop of their chat', async () => {
    const id = await app.chat(org, { title: 'Test', sandbox_enabled: true });
    await app.send(org, id, run('echo $$ > pid; sleep 600'));
    await eventually(
      () => commands(id),
      ([command]) => command?.status === 'running',
    );
    await app.make('POST', `${org.path}/${id}/stop`, { as: org.owner });
    expect(await commands(id)).toMatchObject([{ status: 'cancelled' }]);
    // Whoever ran it has noticed, and has no job left.
    const jobs = () => app.db.query(sql(`SELECT id FROM outbox WHERE job = 'environment.command'`));
    await eventually(jobs, (left) => left.length === 0);
  });

  it('are not asked for any more once their chat is stopped', async () => {
    const tool = app
      .get(ToolCatalog)
      .own()
      .find(({ slug }) => slug === 'run_command')!;
    const callOut = tool.callOut!;
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let called: Promise<unknown> | undefined;
    const calling = jest.spyOn(tool, 'callOut').mockImplementation((...args) => {
      const end = held.then(() => callOut(...args));
      called = end;
      return end;
    });
    const id = await app.chat(org, { title: 'Test', sandbox_enabled: true });
    await app.send(org, id, run('sleep 600'));
    await eventually(async () => called !== undefined, Boolean);
    await app.make('POST', `${org.path}/${id}/stop`, { as: org.owner });
    letGo();
    await called!.catch(() => undefined);
    calling.mockRestore();
    expect(await commands(id)).toEqual([]);
  });

  it('go on while another worker takes the turn up, and run once', async () => {
    const build = await machine();
    await build.ask('claim');
    const id = await app.chat(org, { title: 'Test', environment_id: build.id });
    await app.send(org, id, run('deploy'));
    const { work } = (await build.ask('claim', { wait_s: 20 })).body;
    expect(work).toMatchObject({ kind: 'exec', command: 'deploy' });
    await app.expireLease(id);
    await build.ask('result', { work_id: work.id, exit_code: 0, stdout: 'deployed' });
    const chat = await app.settled(org, id, 1);
    expect(results(chat).map((result) => JSON.parse(result))).toMatchObject([{ stdout: 'deployed', exit_code: 0 }]);
    expect(await commands(id)).toHaveLength(1);
    expect((await build.ask('claim')).body.work).toBeNull();
  });

  it('of a private chat are hidden from colleagues', async () => {
    const chat = await say(run('secret'));
    const [hidden] = (await app.make('GET', `${environments()}/${sandbox}/activity`, { as: org.member })).items;
    expect(hidden).toMatchObject({ chat_id: null, command_preview: null, status: 'done' });
    await say(run('true'), { environment_id: sandbox });
    expect(await app.make('GET', `${environments()}/${sandbox}/usage`, { as: org.member })).toMatchObject({
      chats: [],
      hidden_chat_count: 1,
    });
    expect(chat.status).toBe('ACTIVE');
  });
});
