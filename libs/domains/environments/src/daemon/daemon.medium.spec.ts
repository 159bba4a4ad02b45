import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TestTeam } from '@aps/orgs/testing';
import { eventually } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { CommandsRepository } from '../commands/commands.repository';
import { Commands, type WantedCommand } from '../commands/commands.service';
import { EnvironmentsService, HELLO, Relay, type TestMachine } from '../testing';
import { Daemon } from './daemon';
import { Works } from './works';

const t = new EnvironmentsService();
let org: TestTeam;
let machine: TestMachine;
let relay: Relay;
let folder: string;
let daemon: ChildProcess | undefined;
let said: string;

beforeAll(async () => {
  await t.start();
  t.configure({ DAEMON_API_URL: t.url });
  org = await t.team();
});
afterAll(() => t.close());
beforeEach(async () => {
  [machine, relay, folder] = await Promise.all([t.machine(org), Relay.to(t.url), mkdtemp(path.join(tmpdir(), 'aps-daemon-'))]);
  await writeFile(path.join(folder, 'daemon.mjs'), (await t.call('GET', '/api/daemon/daemon.mjs')).text);
});
afterEach(async () => {
  daemon?.kill('SIGKILL');
  await relay.close();
  await rm(folder, { recursive: true, force: true });
});

function start(): ChildProcess {
  said = '';
  const child = spawn(process.execPath, [path.join(folder, 'daemon.mjs')], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      OWN: 'mine',
      APS_DAEMON_DIR: folder,
      APS_DAEMON_URL: relay.url,
      APS_DAEMON_TOKEN: machine.token,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (said += piece.toString()));
  return (daemon = child);
}
const says = (words: string) =>
  eventually(
    async () => said,
    (all) => all.includes(words),
  );
const started = async () => {
  const child = start();
  await says('by a socket');
  return child;
};

const chat = uuidv7();
const run = (wanted: Partial<WantedCommand> | string) => {
  const owner = { orgId: org.id, environmentId: machine.id, callKey: uuidv7(), rootChatId: chat, of: null };
  const nothing = { kind: 'exec', command: null, workdir: '/workspace', path: null, content: null } as const;
  const asked = typeof wanted === 'string' ? { command: wanted } : wanted;
  return t.get(Commands).run(owner, { ...nothing, ...asked }, new AbortController().signal);
};
const put = (file: string, content: Buffer | string) => run({ kind: 'put_file', path: file, content: Buffer.from(content) });
const got = (file: string) => run({ kind: 'get_file', path: file });
const isAlive = (pid: string) =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (text) => !/\) [ZX] /.test(text),
    () => false,
  );
const running = async () =>
  eventually(
    () => t.db.manager.query(`SELECT id FROM environment_commands WHERE status = 'running'`),
    (rows) => rows.length > 0,
  );

describe('the daemon', () => {
  it('runs commands as its user, each chat in a folder of its own, without its token', async () => {
    await started();
    expect(await run('echo "$OWN$APS_DAEMON_TOKEN"; echo oh >&2; pwd; exit 3')).toMatchObject({
      ...{ status: 'done', exit_code: 3, stdout: expect.stringMatching(/^mine\n\S+\/workspaces\/[0-9a-f-]{36}\n$/), stderr: 'oh\n' },
      ...{ timed_out: false, truncated: false },
    });
    expect(await run('kill -TERM $$')).toMatchObject({ exit_code: 143 });
    const long = await run('head -c 200000 /dev/zero | tr "\\0" a; printf é; head -c 200000 /dev/zero | tr "\\0" b');
    expect([long.truncated, long.stdout.replace(/(.)\1+/g, '$1')]).toEqual([true, 'a\n[137986 bytes are mising here]\nb']);
    expect(await run({ command: 'pwd', workdir: '/workspace/nowhere' })).toMatchObject({
      exit_code: 1,
      stderr: 'There is no folder /workspace/nowhere.',
    });
  });

  it('kills all that a command has started at its ceiling, by a stop, and when it is over', async () => {
    await started();
    const tree = 'sleep 100 & echo $! > child; (sh -c "sleep 100 & echo \\$! > grandchild; wait") & echo begun; ';
    const pids = async () => Promise.all((await run('cat child grandchild')).stdout.trim().split('\n').map(isAlive));
    expect(await run({ command: `${tree} wait`, timeoutS: 1 })).toMatchObject({ exit_code: null, timed_out: true, stdout: 'begun\n' });
    expect(await pids()).toEqual([false, false]);
    expect(await run(`${tree} until [ -s grandchild ]; do sleep 0.05; done`)).toMatchObject({ exit_code: 0 });
    expect(await pids()).toEqual([false, false]);
    const stopped = run(`rm -f grandchild; ${tree} wait`);
    const [{ id }] = await running();
    await eventually(
      () => run('cat grandchild'),
      ({ exit_code, stdout }) => exit_code === 0 && stdout !== '',
    );
    await t.get(CommandsRepository).cancel(id, 'The chat was stopped.');
    expect(await stopped).toMatchObject({ status: 'cancelled' });
    expect(await eventually(pids, (alive) => !alive.includes(true))).toEqual([false, false]);
  });

  it('writes and reads files of the workspace, and no others', async () => {
    await started();
    const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 256));
    expect(await put('/workspace/a/b', bytes)).toMatchObject({ exit_code: 0 });
    expect((await got('/workspace/a/b')).content?.equals(bytes)).toBe(true);
    await put('/workspace/long', Buffer.alloc(512 * 1024, 'x'));
    expect(await got('/workspace/long')).toMatchObject({ exit_code: 0, truncated: true });
    expect(await got('/workspace/c')).toMatchObject({ exit_code: 1, stderr: 'There is no file /workspace/c.', content: null });
    const { stdout } = await run('ln -s "$HOME" home; ln -s "$HOME/new" new; mkfifo pipe; pwd');
    await symlink('a/b', path.join(stdout.trim(), 'inside'));
    expect((await got('/workspace/inside')).content?.equals(bytes)).toBe(true);
    for (const at of ['/etc/passwd', '/workspace/../token', '/workspace/home/daemon.mjs', '/workspacepipe'])
      expect([at, await got(at)]).toMatchObject([at, { exit_code: 1, stderr: `${at} is not within /workspace.`, content: null }]);
    for (const at of ['/workspace/home/new', '/workspace/new'])
      expect([at, await put(at, 'x')]).toMatchObject([at, { exit_code: 1, stderr: `${at} is not within /workspace.` }]);
    expect(await run({ command: 'pwd', workdir: '/workspace/home' })).toMatchObject({ exit_code: 1, stdout: '' });
    await expect(access(path.join(folder, 'new'))).rejects.toThrow('ENOENT');
    expect(await got('/workspace/pipe')).toMatchObject({ exit_code: 1 });
  });

  it('comes back when the gateway does, and tells then what was done meanwhile', async () => {
    await started();
    const ran = run('echo begun; until [ -f go ]; do sleep 0.05; done; echo done');
    const [{ id }] = await running();
    const workspace = path.join(
      folder,
      'workspaces',
      (await t.db.manager.query('SELECT workspace FROM environment_commands WHERE id = $1', [id]))[0].workspace,
    );
    await eventually(
      () =>
        access(workspace).then(
          () => true,
          () => false,
        ),
      Boolean,
    );
    relay.become('gone');
    await says('trying again');
    await writeFile(path.join(workspace, 'go'), '');
    relay.mode = 'all';
    expect(await ran).toMatchObject({ status: 'done', exit_code: 0, stdout: 'begun\ndone\n', truncated: true });
  });

  it('asks for work where no socket can be opened', async () => {
    relay.mode = 'alone';
    start();
    await says('by requests');
    expect(await run('echo out; echo err >&2; exit 4')).toMatchObject({ exit_code: 4, stdout: 'out\n', stderr: 'err\n', truncated: false });
    await put('/workspace/a', 'content');
    expect((await got('/workspace/a')).content?.toString()).toBe('content');
    expect(await run({ command: 'sleep 100', timeoutS: 1 })).toMatchObject({ timed_out: true });
    const stopped = run('echo $$ > pid; exec sleep 100');
    const [{ id }] = await running();
    const { stdout: pid } = await eventually(
      () => run('cat pid'),
      ({ stdout }) => stdout !== '',
    );
    await t.get(CommandsRepository).cancel(id, 'The chat was stopped.');
    await stopped;
    expect(
      await eventually(
        () => isAlive(pid.trim()),
        (alive) => !alive,
      ),
    ).toBe(false);
  });

  /** Ends when there is a file `go` in its folder, which is told. */
  const waiting = async () => {
    const ran = run('until [ -f go ]; do sleep 0.05; done; echo done');
    const [{ id }] = await running();
    const [{ workspace }] = await t.db.manager.query('SELECT workspace FROM environment_commands WHERE id = $1', [id]);
    const go = () => writeFile(path.join(folder, 'workspaces', workspace, 'go'), '');
    return { ran, go };
  };

  it('tells by a token that was replaced what was taken by it, and ends then', async () => {
    const exited = once(await started(), 'exit');
    const { ran, go } = await waiting();
    await t.call('POST', `${org.path}/environments/${machine.id}/rotate-token`, { as: org.owner });
    relay.become('all');
    await eventually(
      async () => relay.said,
      (all) => all.includes('/work/heartbeat'),
    );
    await go();
    expect(await ran).toMatchObject({ status: 'done', exit_code: 0, stdout: 'done\n' });
    expect(await exited).toEqual([77, null]);
  });

  it.each([
    ['its environment is deleted', 'requests', () => t.call('DELETE', `${org.path}/environments/${machine.id}`, { as: org.owner })],
    ['another one has its token', 'a socket', () => machine.connect()],
  ])('leaves nothing behind where %s', async (_, by, happens) => {
    if (by === 'requests') relay.mode = 'alone';
    const exited = once(start(), 'exit');
    await says(`by ${by}`);
    const ran = run('echo $$ > pid; exec sleep 1000');
    const { stdout: pid } = await eventually(
      () => run('cat pid'),
      ({ stdout }) => stdout !== '',
    );
    const other = await happens();
    expect(await exited).toEqual([77, null]);
    expect(
      await eventually(
        () => isAlive(pid.trim()),
        (alive) => !alive,
      ),
    ).toBe(false);
    if ('cut' in other) other.cut();
    for (const { id } of await t.db.manager.query(`SELECT id FROM environment_commands WHERE status = 'running'`))
      await t.get(CommandsRepository).cancel(id, 'The test is over.');
    await ran;
  });

  it.each([1, 8])('where requests alone get through, is silent no longer than one socket takes, at %i commands', async (n) => {
    relay.mode = 'deaf';
    const works = new Works(path.join(folder, 'workspaces'));
    const target = { url: relay.url, token: machine.token, hello: HELLO };
    said = '';
    const inside = new Daemon(target, works, (line) => (said += line), { pollingMs: 1_000, welcomeMs: 200 });
    const ended = inside.run();
    await says('by requests');
    const ran = Array.from({ length: n }, () => run('sleep 100'));
    await eventually(
      async () => works.ids.length,
      (all) => all === n,
    );
    // What is said from one try for a socket to the next.
    const rounds = () => relay.said.split('GET /api/daemon/connect');
    const before = rounds().length;
    const all = await eventually(
      async () => rounds(),
      ({ length }) => length > before + 2,
    );
    for (const round of all.slice(before, before + 2)) {
      expect(round).toContain('"work_id"');
      expect(/"wait_s":(\d+)/.exec(round)?.[1] ?? '0').toBe('0');
    }
    await inside.leave();
    expect(await ended).toBeNull();
    for (const { id } of await running()) await t.get(CommandsRepository).cancel(id, 'The test is over.');
    await Promise.all(ran);
  });

  it('ends with its commands when it is told to, and where its token is not valid', async () => {
    const child = await started();
    const ran = run('sleep 100');
    await running();
    child.kill('SIGTERM');
    expect(await ran).toMatchObject({ status: 'outcome_unknown', error: 'The daemon of the machine was ended.' });
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(0);
    await t.call('POST', `${org.path}/environments/${machine.id}/rotate-token`, { as: org.owner });
    expect(await once(start(), 'exit')).toEqual([77, null]);
    expect(said).toContain('The token is not valid');
    expect(said).not.toContain(machine.token);
  });
});

it('is installed by one line, and keeps its token to itself', async () => {
  const script = (await t.call('GET', '/api/daemon/install.sh')).text;
  const file = path.join(folder, 'install.sh');
  await writeFile(file, script);
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: path.join(folder, 'home') };
  await writeFile(path.join(folder, 'systemctl'), '#!/bin/sh\nexit 1\n');
  await chmod(path.join(folder, 'systemctl'), 0o755);
  const install = (token?: string) => promisify(execFile)('sh', [file], { env: { ...env, ...(token && { APS_DAEMON_TOKEN: token }) } });
  await expect(install()).rejects.toThrow('APS_DAEMON_TOKEN is not set');
  const { stdout } = await install(machine.token);
  const at = (name: string) => path.join(env.HOME, '.aps-daemon', name);
  const pid = Number(await readFile(at('pid'), 'utf8'));
  try {
    expect(stdout).toContain(`Runs in the background as process ${pid}`);
    expect(stdout).not.toContain(machine.token);
    expect((await stat(at('token'))).mode & 0o777).toBe(0o600);
    await eventually(
      () => readFile(at('daemon.log'), 'utf8'),
      (log) => log.includes('by a socket'),
    );
    expect(await run('echo installed')).toMatchObject({ stdout: 'installed\n' });
  } finally {
    process.kill(pid);
  }
});
