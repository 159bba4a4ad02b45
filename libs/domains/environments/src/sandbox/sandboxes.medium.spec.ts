/** @alone */
import { execFileSync, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import disk from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { ConfigError, loadConfig } from '@aps/platform/config';
import { eventually } from '@aps/platform/testing';
import { BubblewrapDriver } from './bubblewrap-driver';
import { DockerDriver } from './docker-driver';
import { NamespacesDriver } from './namespaces-driver';
import { ProcessDriver } from './process-driver';
import { KEPT_OUTPUT, WORKSPACE, type CommandOutput, type SandboxCommand, type SandboxFailed, type SandboxDriver } from './sandbox-driver';
import { Sandboxes } from './sandboxes';

const dir = mkdtempSync(path.join(tmpdir(), 'sandboxes-'));
// Whom commands run as there may be nobody, who is to be let in.
chmodSync(dir, 0o755);
const settings = {
  SANDBOX_DIR: path.join(dir, 'workspaces'),
  // A daemon that is here by chance has not got it, and is left out.
  SANDBOX_IMAGE: 'localhost:1/none',
};
/** What other parts want to know of, and nobody asks here. */
const ELSEWHERE = { DATABASE_URL: 'postgres://127.0.0.1/none', REDIS_URL: 'redis://127.0.0.1:1' };
/** For what takes as long as a busy machine needs. */
const AS_LONG_AS_IT_TAKES_MS = 240_000;
/** What works on this machine: without isolation always, else what its kernel and its programs allow. */
let working: SandboxDriver[];
let isolating: SandboxDriver[];

beforeAll(async () => {
  Logger.overrideLogger(false);
  configure();
  const all = [new BubblewrapDriver(), new NamespacesDriver(), new ProcessDriver()];
  const problems = await Promise.all(all.map((driver) => driver.unusable()));
  working = all.filter((_, i) => !problems[i]);
  expect(working.map(({ name }) => name)).toContain('process');
  isolating = working.filter(({ isolation }) => isolation !== 'none');
});
afterEach(() => configure());
// By a program: paths that commands made may be too long for us.
afterAll(() => execFileSync('rm', ['-rf', dir]));

const configure = (more: NodeJS.ProcessEnv = {}) => loadConfig({ ...process.env, ...ELSEWHERE, ...settings, ...more });

const command = (argv: string[], more: Partial<SandboxCommand> = {}): SandboxCommand => ({
  ...{ id: randomUUID(), argv, stdin: null, workdir: WORKSPACE, workspace: randomUUID(), image: null, timeoutMs: 30_000 },
  ...more,
});
const shell = (driver: SandboxDriver, script: string, more?: Partial<SandboxCommand>, signal = new AbortController().signal) =>
  driver.exec(command(['sh', '-c', script], more), signal);
const text = ({ stdout, stderr, ...rest }: CommandOutput) => ({ ...rest, stdout: stdout.toString(), stderr: stderr.toString() });

/** The same for each driver, side by side; what differs is shown with its name. */
async function allSay<T>(drivers: SandboxDriver[], ask: (driver: SandboxDriver) => Promise<T>, expected: T): Promise<void> {
  const said = await Promise.all(drivers.map(async (driver) => [driver.name, await ask(driver)]));
  expect(said).toEqual(drivers.map(({ name }) => [name, expected]));
}

/** Processes of the machine whose arguments name this. */
const alive = (mark: string): number =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  }).length;
/** An argument of `sleep` that nobody else has. */
const aMark = () => `7${Math.random().toFixed(9).slice(2)}`;
const ending = (mark: string) =>
  eventually(
    () => Promise.resolve(alive(mark)),
    (count) => count === 0,
  );

describe('a command', () => {
  const fine = { exitCode: 0, stdout: '', stderr: '', timedOut: false, truncated: false };

  it.each<[string, string, Partial<ReturnType<typeof text>>]>([
    ['has both streams and its exit code', 'echo out; echo err >&2; exit 7', { exitCode: 7, stdout: 'out\n', stderr: 'err\n' }],
    [
      'opens its streams by their names',
      'cat /dev/stdin; echo out >/dev/stdout; echo err >/dev/stderr',
      { stdout: 'readout\n', stderr: 'err\n' },
    ],
    ['says by which signal it ended', 'kill -TERM $$', { exitCode: 143 }],
    ['is looked for', 'exec no-such-program 2>/dev/null', { exitCode: 127 }],
    ['leaves nothing behind that keeps it open', `sleep 7770001 & echo out`, { stdout: 'out\n' }],
    ['writes to its workspace', 'mkdir a; cd a; echo b >c; cat ../a/c', { stdout: 'b\n' }],
  ])('%s', (_, script, expected) =>
    allSay(working, async (driver) => text(await shell(driver, script, { stdin: Buffer.from('read') })), { ...fine, ...expected }),
  );

  it('has the variables that all have, and no others', async () => {
    await allSay(
      working,
      async (driver) => {
        const { stdout } = await driver.exec(command(['env']), new AbortController().signal);
        return stdout
          .toString()
          .split('\n')
          .map((line) => line.split('=')[0]!)
          .filter((name) => name && name !== 'SANDBOX_COMMAND')
          .sort();
      },
      ['HOME', 'LANG', 'PATH', 'TERM'],
    );
  });

  it('begins in its folder, which is to be there', async () => {
    const workspace = randomUUID();
    await allSay(working, async (driver) => (await shell(driver, 'mkdir -p inner; cd inner; touch here', { workspace })).exitCode, 0);
    await allSay(working, async (driver) => text(await shell(driver, 'ls', { workspace, workdir: `${WORKSPACE}/inner` })).stdout, 'here\n');
    await allSay(working, async (driver) => (await shell(driver, 'true', { workspace, workdir: `${WORKSPACE}/none` })).exitCode, 1);
  });

  it('may be too long', () =>
    allSay(
      working,
      (driver) => shell(driver, `true ${'x'.repeat(200_000)}`).catch(({ message, began }: SandboxFailed) => [message.slice(0, 22), began]),
      ['The command is longer ', false] as unknown,
    ));

  it('writes as much as it likes, and is heard from its beginning and its end', async () => {
    const before = process.memoryUsage().rss;
    await allSay(
      working,
      async (driver) => {
        const { stdout, truncated } = await shell(driver, 'echo first; yes | head -c 60000000; echo last', {
          timeoutMs: AS_LONG_AS_IT_TAKES_MS,
        });
        const missing = Number(/\[(\d+) bytes are missing here\]/.exec(stdout.toString())?.[1]);
        return [truncated, stdout.indexOf('first'), stdout.subarray(-5).toString(), missing];
      },
      [true, 0, 'last\n', 60_000_011 - KEPT_OUTPUT],
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  // In sessions of their own, deaf to what is friendly, and without outputs.
  const stubborn = (mark: string) =>
    `trap "" TERM; setsid sh -c 'trap "" TERM HUP; exec >&- 2>&-; sleep ${mark}; sleep ${mark}' & setsid -f sleep ${mark}; sleep ${mark}`;

  it('is ended at its ceiling, with all that it began', async () => {
    const mark = aMark();
    await allSay(working, async (driver) => text(await shell(driver, `echo out; ${stubborn(mark)}`, { timeoutMs: 2_000 })), {
      ...fine,
      exitCode: null,
      stdout: 'out\n',
      timedOut: true,
    });
    await ending(mark);
  });

  it('is ended by its signal, with all that it began', async () => {
    const mark = aMark();
    const stop = new AbortController();
    const reasons = working.map((driver) => shell(driver, stubborn(mark), {}, stop.signal).catch((error: Error) => error.message));
    await eventually(
      () => Promise.resolve(alive(mark)),
      (count) => count >= 3 * working.length,
    );
    stop.abort(new Error('stopped'));
    expect(await Promise.all(reasons)).toEqual(working.map(() => 'stopped'));
    await ending(mark);
    await expect(shell(working[0]!, 'true', {}, stop.signal)).rejects.toThrow('stopped');
  });

  it('is ended in whatever moment of its beginning', async () => {
    const mark = aMark();
    const ended = async (driver: SandboxDriver, afterMs: number) => {
      const stop = new AbortController();
      const reason = shell(driver, stubborn(mark), {}, stop.signal).catch((error: Error) => error.message);
      await sleep(afterMs);
      stop.abort(new Error('stopped'));
      return reason;
    };
    for (let afterMs = 0; afterMs < 100; afterMs += 4) await allSay(working, (driver) => ended(driver, afterMs), 'stopped');
    await ending(mark);
  });

  it('leaves nothing that runs on', async () => {
    const mark = aMark();
    await allSay(
      working,
      async (driver) => (await shell(driver, `setsid -f sleep ${mark}; setsid -f sleep ${mark} >/dev/null 2>&1`)).exitCode,
      0,
    );
    await ending(mark);
  });

  it('dies with who runs it', async () => {
    const built = path.join(__dirname.replace('/libs/', '/dist/libs/'), 'testing/lone-parent.js');
    await Promise.all(
      working.map(async ({ name, isolation }) => {
        const mark = aMark();
        const script = `${isolation === 'none' ? '' : stubborn(mark).replace(/;[^;]*$/, ';')} exec sleep ${mark}`;
        const parent = fork(built, [script], { env: { ...process.env, ...settings, SANDBOX_DRIVER: name }, stdio: 'ignore' });
        await eventually(
          () => Promise.resolve(alive(`sleep\0${mark}`)),
          (count) => count >= 1,
        );
        parent.kill('SIGKILL');
        await ending(mark);
      }),
    );
  });
});

describe('what a command may use', () => {
  it('are some processes', async () => {
    const mark = aMark();
    let most = 0;
    const counting = setInterval(() => (most = Math.max(most, alive(mark))), 100);
    const [others] = await Promise.all([
      sleep(1_000).then(() => Promise.all(working.map((driver) => shell(driver, 'echo well')))),
      ...working.map((driver) => shell(driver, `bomb() { bomb | bomb & }; bomb; sleep ${mark}`, { timeoutMs: 3_000 })),
    ]);
    clearInterval(counting);
    expect(others.map(({ stdout }) => stdout.toString())).toEqual(working.map(() => 'well\n'));
    expect(most).toBeLessThan(working.length * 1_000);
    await ending(mark);
  });

  const twice700M = 'fallocate -l 700M a; fallocate -l 700M b; sleep 60';
  const deep = 'd=$(printf %0200d 0); for i in $(seq 25); do mkdir $d; cd -P $d; done';
  const over = /grew over 1 GiB\.\n\n.* the largest files were removed\.\n$/;

  it.each([
    ['is some memory', 'tail /dev/zero & tail /dev/zero', /used more than 1 GiB of memory\.\n$/],
    ['is some of the disk', twice700M, over],
    ['is as much of it where a path is too long for us', `${deep}; ${twice700M}`, over],
    ['is as much of it in a folder that lets nobody look into it', `mkdir d; cd d; chmod 300 .; ${twice700M}`, over],
  ])('%s', async (_, script, said) => {
    for (const driver of working) {
      const { exitCode, timedOut, stderr } = text(await shell(driver, script));
      expect([driver.name, exitCode, timedOut, stderr]).toEqual([driver.name, null, false, expect.stringMatching(said)]);
    }
  });

  it('is no more of the disk where it ends before anybody may have looked, and what is small stays', async () => {
    for (const driver of working) {
      const workspace = randomUUID();
      // Somebody may have looked, and ended it.
      const { stderr } = text(await shell(driver, 'echo small >kept; for i in 1 2 3 4; do fallocate -l 700M $i; done', { workspace }));
      expect([driver.name, stderr]).toEqual([driver.name, expect.stringContaining('the largest files were removed')]);
      const [small, kib] = (await shell(driver, 'cat kept; du -sk . | cut -f1', { workspace })).stdout.toString().split('\n');
      expect([driver.name, small, Number(kib) <= 1024 * 1024]).toEqual([driver.name, 'small', true]);
    }
  });

  it('is nothing more of the disk in a workspace that is over its limit already, which may be cleared', async () => {
    for (const driver of working) {
      const workspace = randomUUID();
      await shell(driver, 'true', { workspace });
      const files = path.join(settings.SANDBOX_DIR, workspace, 'files');
      for (const name of ['a', 'b']) execFileSync('fallocate', ['-l', '700M', path.join(files, name)]);
      // The clock of a disk has steps, and what is made in the same one as a command begins counts as the command's.
      await sleep(100);
      const grown = text(await shell(driver, 'fallocate -l 100M c; sleep 60', { workspace }));
      expect([driver.name, grown]).toMatchObject([driver.name, { exitCode: null, stderr: expect.stringMatching(over) }]);
      expect(text(await shell(driver, 'ls; sleep 0.4; rm a b', { workspace }))).toMatchObject({
        exitCode: 0,
        stdout: 'a\nb\n',
        stderr: '',
      });
    }
  });

  it('is cleared once nobody is at it any more: a command that goes on loses nothing that it has made', async () => {
    for (const driver of working) {
      const workspace = randomUUID();
      const longer = shell(driver, 'fallocate -l 500M b; touch made; while [ -e b ]; do sleep 0.02; done; echo gone', { workspace });
      const files = path.join(settings.SANDBOX_DIR, workspace, 'files');
      await eventually(
        () => Promise.resolve(existsSync(path.join(files, 'made'))),
        (is) => is,
      );
      const shorter = text(await shell(driver, 'fallocate -l 600M a', { workspace }));
      expect([driver.name, shorter.stderr]).toEqual([driver.name, expect.not.stringContaining('were removed')]);
      expect([driver.name, text(await longer)]).toMatchObject([
        driver.name,
        { exitCode: null, stdout: '', stderr: expect.stringContaining('the largest files were removed') },
      ]);
      expect((await shell(driver, 'ls', { workspace })).stdout.toString()).toBe('made\n');
    }
  });

  it('is nothing of a disk that is nearly full, whoever has filled it', async () => {
    const room = await disk.statfs(dir);
    const filled = () => jest.spyOn(disk, 'statfs').mockResolvedValue({ ...room, bavail: Math.floor(1e9 / room.bsize) });
    for (const driver of working) {
      const mark = aMark();
      const running = shell(driver, `sleep ${mark}`);
      await eventually(
        () => Promise.resolve(alive(`sleep\0${mark}`)),
        (count) => count >= 1,
      );
      const is = filled();
      expect(text(await running)).toMatchObject({ exitCode: null, stderr: expect.stringMatching(/is nearly full\.\n$/) });
      await expect(shell(driver, 'true')).rejects.toMatchObject({ began: false, message: expect.stringContaining('is nearly full') });
      // What is there can still be removed.
      expect(await driver.unusable()).toBeNull();
      is.mockRestore();
      expect((await shell(driver, 'true')).exitCode).toBe(0);
    }
  });
});

describe('a workspace', () => {
  it('is what the next command finds, and nobody else', async () => {
    const [mine, other] = [randomUUID(), randomUUID()];
    await allSay(
      working,
      async (driver) => {
        await shell(driver, `echo ${driver.name} >${driver.name}`, { workspace: mine });
        const found = await Promise.all(
          [mine, other].map(async (workspace) => text(await shell(driver, `cat ${driver.name}`, { workspace })).exitCode),
        );
        return found;
      },
      [0, 1],
    );
  });

  it('is removed with all in it, and ends what runs there', async () => {
    const mark = aMark();
    await allSay(
      working,
      async (driver) => {
        const workspace = randomUUID();
        const running = shell(driver, `mkdir -p a/b; touch a/b/c; chmod 0 a/b a; touch made; sleep ${mark}`, { workspace }).catch(
          (error: Error) => error.message,
        );
        await eventually(
          () => Promise.resolve(alive(`sleep\0${mark}`)),
          (count) => count >= 1,
        );
        const was = (await driver.idleWorkspaces(0)).includes(workspace) && !(await driver.idleWorkspaces(60_000)).includes(workspace);
        await Promise.all([driver.removeWorkspace(workspace), driver.removeWorkspace(randomUUID())]);
        return [await running, was, (await driver.idleWorkspaces(0)).includes(workspace)];
      },
      ['Its workspace was removed.', true, false],
    );
    await ending(mark);
  });

  it('stays where it is used again before it is removed for not being used', async () => {
    await allSay(
      working,
      async (driver) => {
        const workspace = randomUUID();
        const kept = async () => (await shell(driver, 'cat kept', { workspace })).stdout.toString();
        const age = () => utimesSync(path.join(settings.SANDBOX_DIR, workspace), 0, 0);
        await shell(driver, 'echo here >kept', { workspace });
        age();
        const wasIdle = (await driver.idleWorkspaces(60_000)).includes(workspace);
        await kept();
        await driver.removeWorkspace(workspace, 60_000);
        const usedAgain = await kept();
        age();
        await driver.removeWorkspace(workspace, 60_000);
        return [wasIdle, usedAgain, await kept()];
      },
      [true, 'here\n', ''],
    );
  });
});

it('a workspace that is opened anew while it is looked whether it is still idle is whose it is by then', async () => {
  const [driver] = working;
  const workspace = randomUUID();
  const folder = path.join(settings.SANDBOX_DIR, workspace);
  await shell(driver, 'true', { workspace });
  utimesSync(folder, 0, 0);
  const { rename } = disk;
  const moved = jest.spyOn(disk, 'rename').mockImplementationOnce(async (from, to) => {
    utimesSync(from as string, new Date(), new Date());
    await rename(from, to);
    await shell(driver, 'echo mine >made', { workspace });
  });
  try {
    await driver.removeWorkspace(workspace, 60_000);
  } finally {
    moved.mockRestore();
  }
  expect((await shell(driver, 'cat made', { workspace })).stdout.toString()).toBe('mine\n');
});

describe('what isolates a command', () => {
  it('keeps everything of the machine from it', async () => {
    writeFileSync(path.join(dir, 'secret'), 'secret', { mode: 0o644 });
    const other = randomUUID();
    await allSay(
      isolating,
      async (driver) => {
        await shell(driver, 'echo secret >theirs', { workspace: other });
        const tries = [
          'cat /etc/shadow',
          `cat ${dir}/secret`,
          `ln -s ${dir}/secret link; cat link`,
          `cat ${settings.SANDBOX_DIR}/${other}/files/theirs`,
          'ls /work /root /home /var /sys /old',
          `kill -0 ${process.pid}`,
          'cat /proc/[0-9]*/comm | grep node',
          'touch /usr/made || touch /etc/made || touch /made || touch /dev/made',
          'touch a; chown 0 a',
          'mount -t tmpfs none /tmp',
          'unshare --user true',
          'test "$(id -u)" = 0',
          'grep Cap /proc/self/status | grep -v 0000000000000000',
          'grep "NoNewPrivs:.0" /proc/self/status',
        ];
        return (await Promise.all(tries.map((each) => shell(driver, each)))).map(({ exitCode }, i) => (exitCode === 0 ? tries[i] : ''));
      },
      Array.from({ length: 14 }, () => ''),
    );
  });

  it('keeps the network from it', async () => {
    const server = net.createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await eventually(() => Promise.resolve(server.listening), Boolean);
    const reach = (driver: SandboxDriver) =>
      shell(driver, `exec bash -c ': </dev/tcp/127.0.0.1/${(server.address() as net.AddressInfo).port}'`);
    expect((await reach(new ProcessDriver())).exitCode).toBe(0);
    await allSay(isolating, async (driver) => (await reach(driver)).exitCode, 1);
    await allSay(isolating, async (driver) => text(await shell(driver, 'tail -n +3 /proc/net/dev | grep -vc lo:')).stdout, '0\n');
    server.close();
  });
});

describe('Sandboxes', () => {
  it('takes the first that works, and says why where none does', async () => {
    const sandboxes = new Sandboxes();
    const [one, two] = await Promise.all([sandboxes.driver(), sandboxes.driver()]);
    expect(one).toBe(two);
    expect([one?.name, await sandboxes.problem()]).toEqual([
      isolating[0]?.name,
      isolating.length ? null : expect.stringContaining('Nothing isolates'),
    ]);
  });

  it('goes back to what comes first, once that works again', async () => {
    const [program, up] = [path.join(dir, 'docker'), path.join(dir, 'up')];
    // Stands in for Docker, and runs its commands in the folder that a container would see.
    const script = `#!/bin/sh
[ -e "${up}" ] || exit 1
case $1 in version) exec echo linux ;; run) ;; *) exit ;; esac
while [ "$1" != -- ]; do case $1 in type=bind,*) folder=\${1#*source=}; cd "\${folder%%,*}" ;; esac; shift; done
first=$4 key=$6
shift 7
exec sh -c "$first" sh "$key" . "$@"
`;
    writeFileSync(program, script, { mode: 0o755 });
    const sandboxes = new Sandboxes();
    Object.assign(sandboxes, { candidates: [new DockerDriver(program), new ProcessDriver()] });
    sandboxes.patience.tryAgainMs = 100;
    const chosen = async () => (await sandboxes.driver())!;
    expect((await chosen()).name).toBe('process');
    const [mark, workspace] = [aMark(), randomUUID()];
    const running = expect(shell(await chosen(), `sleep ${mark}`, { workspace })).rejects.toThrow('Its workspace was removed.');
    await eventually(
      () => Promise.resolve(alive(`sleep\0${mark}`)),
      (count) => count >= 1,
    );
    writeFileSync(up, '');
    const now = await eventually(chosen, ({ name }) => name === 'docker');
    // What was begun before is known to it.
    await now.removeWorkspace(workspace);
    await running;
  });

  it('never takes none unless it is named, which production refuses', async () => {
    configure({ SANDBOX_DRIVER: 'process' });
    expect((await new Sandboxes().driver())?.isolation).toBe('none');
    configure({ SANDBOX_DRIVER: 'process', NODE_ENV: 'production' });
    expect(() => new Sandboxes()).toThrow(ConfigError);
  });

  it('promises no network that it cannot bound', async () => {
    configure({ SANDBOX_EGRESS: 'public' });
    expect(await new Sandboxes().problem()).toMatch(
      /SANDBOX_EGRESS=public cannot be kept by bubblewrap.*SANDBOX_EGRESS=public cannot be kept by namespaces/,
    );
  });
});
