/** @alone */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import { loadConfig } from '@aps/platform/config';
import { eventually } from '@aps/platform/testing';
import { DockerDriver } from './docker-driver';
import { SandboxFailed, WORKSPACE, type SandboxCommand } from './sandbox-driver';

const dir = mkdtempSync(path.join(tmpdir(), 'docker-'));
const told = () => readFileSync(path.join(dir, 'told'), 'utf8');
let driver: DockerDriver;

/** Stands in for the program: notes what it is told, and runs what a container would run in the folder that it would see as its workspace. */
const DOCKER = `#!/bin/sh
echo "$*" >>${dir}/told
verb=$1 below=$2 format=$4
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  case "$1" in
    type=bind,*) folder=\${1#*source=}; cd "\${folder%%,*}" ;;
    sandbox-*) name=$1 ;;
  esac
  last=$1
  shift
done
case $verb in
  version) echo linux ;;
  info) echo ${dir} ;;
  pull)
    case $2 in held@*) exec sleep 60 ;; bad@*|missing) echo 'manifest unknown' >&2; exit 1 ;; esac
    [ -e "${dir}/names of $(basename "$2")" ] || echo "$2" >"${dir}/names of $(basename "$2")"
    ;;
  tag) echo "$last" >>"${dir}/names of $(basename "$below")" ;;
  image) case $below in
    ls) echo sha256-1; echo '<none>' ;;
    inspect) [ "$format" != '{{.Size}}' ] || exec echo 1073741825
      grep -s . "${dir}/names of $(basename "$last")" || { echo "Error: No such image: $last" >&2; exit 1; } ;;
    rm) [ ! -e ${dir}/used ] || { echo 'conflict: a container uses it' >&2; exit 1; } ;;
    esac ;;
  rm) kill -KILL -- "-$(cat ${dir}/$name)" ;;
  run)
    case $2 in missing) echo 'docker: no such image' >&2; exit 125 ;; lost) exit 1 ;; esac
    echo 'Pulling the image' >&2
    echo $$ >${dir}/$name
    first=$4 key=$6
    shift 7
    exec sh -c "$first" sh "$key" . "$@"
    ;;
esac
`;

beforeAll(() => {
  Logger.overrideLogger(false);
  writeFileSync(path.join(dir, 'docker'), DOCKER, { mode: 0o755 });
  configure();
  driver = new DockerDriver(path.join(dir, 'docker'));
});
beforeEach(() => writeFileSync(path.join(dir, 'told'), ''));
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

const configure = (more: NodeJS.ProcessEnv = {}) =>
  loadConfig({
    ...process.env,
    DATABASE_URL: 'postgres://127.0.0.1/none',
    REDIS_URL: 'redis://127.0.0.1:1',
    SANDBOX_DIR: path.join(dir, 'workspaces'),
    ...more,
  });

const run = (script: string, more: Partial<SandboxCommand> = {}, signal = new AbortController().signal) =>
  driver.exec(
    {
      ...{
        id: randomUUID(),
        argv: ['sh', '-c', script],
        stdin: null,
        workdir: WORKSPACE,
        workspace: randomUUID(),
        image: null,
        timeoutMs: 30_000,
      },
      ...more,
    },
    signal,
  );

it('bounds a container by everything that it may not have', async () => {
  const workspace = randomUUID();
  const { exitCode, stdout, stderr } = await run('cat', { workspace, stdin: Buffer.from('read'), image: 'example.com/image@sha256:1' });
  expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([0, 'read', '']);
  const [options] = /^run .*/m.exec(told())![0].split(' -- ');
  expect(
    options!
      .replace(/sandbox-[-0-9a-f]{36}/, 'NAME')
      .replace(/command=[-0-9a-f]{36}/, 'ID')
      .replace(/installation=[0-9a-f]{16}/, 'WHOSE')
      .replace(/--user \d+:\d+/, 'USER')
      .replace(dir, 'DIR')
      .replace(workspace, 'KEY'),
  ).toMatchInlineSnapshot(
    `"run --rm --init --interactive --network none --hostname sandbox --log-driver none --cpus 1 --memory 1073741824b --memory-swap 1073741824b --pids-limit 256 --ulimit fsize=1073741824 --ulimit core=0 --ulimit nofile=4096 USER --cap-drop ALL --security-opt no-new-privileges --read-only --tmpfs /tmp:exec,mode=1777,size=268435456 --shm-size 67108864b --mount type=bind,source=DIR/workspaces/KEY/files,target=/workspace --workdir /workspace --env HOME=/workspace --env LANG=C.UTF-8 --env TERM=dumb --name NAME --label sandbox.WHOSE --label sandbox.ID --entrypoint sh"`,
  );
  expect(told()).toContain(' -- example.com/image@sha256:1 -c ');
});

it.each([
  ['has not begun, where the image cannot be run', 'missing', false],
  ['may have begun, where the program ends otherwise', 'lost', true],
])('a command %s', async (_, image, began) => {
  const failed = run('true', { image });
  await expect(failed).rejects.toThrow(SandboxFailed);
  await expect(failed).rejects.toMatchObject({ began });
});

it.each(['good@sha256:7', null])('a command finds its image, which takes nothing of its time: %s', async (image) => {
  configure({ SANDBOX_IMAGE: 'good@sha256:8' });
  expect(await run('true', { image })).toMatchObject({ exitCode: 0 });
  const name = image ?? 'good@sha256:8';
  expect(told().match(/^pull .*|^run /gm)).toEqual([`pull --quiet -- ${name}`, 'run ']);
  await run('true', { image });
  expect(told().match(/^pull /gm)).toHaveLength(1);
  configure();
});

it('a command brings no image where the disk is nearly full, nor any more when its workspace is removed', async () => {
  const image = 'held@sha256:9';
  const room = await disk.statfs(dir);
  const filled = jest.spyOn(disk, 'statfs').mockResolvedValue({ ...room, bavail: Math.floor(1e9 / room.bsize) });
  await expect(run('true', { image })).rejects.toMatchObject({ began: false, message: expect.stringContaining('is nearly full') });
  filled.mockRestore();
  expect(told()).not.toMatch(/^pull /m);
  const workspace = randomUUID();
  const running = expect(run('true', { image, workspace })).rejects.toThrow('Its workspace was removed.');
  await eventually(
    () => Promise.resolve(/^pull /m.test(told())),
    (pulls) => pulls,
  );
  await driver.removeWorkspace(workspace);
  await running;
  expect(told()).not.toMatch(/^run /m);
});

it('a command may end as Docker itself does', async () => {
  expect((await run('exit 125')).exitCode).toBe(125);
});

it('a container is removed at the ceiling, and by the signal', async () => {
  expect(await run('sleep 60', { timeoutMs: 1_500 })).toMatchObject({ timedOut: true, exitCode: null });
  expect(told()).toMatch(/^rm --force sandbox-/m);
  const stop = new AbortController();
  const running = run('sleep 60', {}, stop.signal);
  await eventually(
    () => Promise.resolve(told().match(/^run/gm)?.length),
    (runs) => runs === 2,
  );
  stop.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('stopped');
});

describe('images', () => {
  const OURS = /agent-platform\/sandbox-image\/[0-9a-f]{16}:sha256-1/;
  const pull = (image: string, maxBytes: number | null = null) => driver.pull(image, new AbortController().signal, maxBytes);
  /** What Docker says of an image. */
  const named = (image: string, ...names: string[]) => writeFileSync(path.join(dir, `names of ${image}`), names.join('\n'));
  const ours = async () => {
    await pull('good@sha256:1');
    return OURS.exec(told())![0];
  };

  it('are brought here, and known as ours', async () => {
    const name = await ours();
    expect(told()).toContain(`\ntag good@sha256:1 ${name}\n`);
    expect(await driver.images()).toEqual(['sha256:1']);
    expect(told()).toContain(` --filter reference=${name.split(':')[0]} `);
    await expect(pull('bad@sha256:1')).rejects.toThrow('The image could not be pulled.');
  });

  it('stay where they are not too large once they are unpacked, or were here before', async () => {
    const tooLarge = 'The image has more than 1 GiB once it is unpacked.';
    await pull('good@sha256:4', 2 * 1024 ** 3);
    await expect(pull('good@sha256:4', 1024 ** 3)).rejects.toThrow(tooLarge);
    expect(told()).not.toMatch(/^image rm /m);
    const name = (await ours()).replace('sha256-1', 'sha256-5');
    named(path.basename(name), name, 'good@sha256:5');
    await expect(pull('good@sha256:5', 1024 ** 3)).rejects.toThrow(tooLarge);
    expect(told()).toContain(`\nimage rm good@sha256:5 ${name}\n`);
  });

  it('are brought here as long as the disk has room', async () => {
    const room = await disk.statfs(dir);
    const fill = () => jest.spyOn(disk, 'statfs').mockResolvedValue({ ...room, bavail: Math.floor(1e9 / room.bsize) });
    const pulling = pull('held@sha256:6');
    await eventually(
      () => Promise.resolve(/^pull /m.test(told())),
      (pulls) => pulls,
    );
    const filled = fill();
    await expect(pulling).rejects.toMatchObject({ began: false, message: expect.stringContaining('is nearly full') });
    writeFileSync(path.join(dir, 'told'), '');
    await expect(pull('good@sha256:6')).rejects.toThrow('is nearly full');
    named('good@sha256:10', 'good@sha256:10');
    await pull('good@sha256:10');
    expect(told()).not.toMatch(/^pull /m);
    filled.mockRestore();
  });

  it('are ours where a command has brought them here', async () => {
    for (const image of ['good@sha256:2', 'good@sha256:2']) {
      await run('true', { image });
      await eventually(
        () => Promise.resolve(told().match(/^tag .*sha256-2$/gm)?.length),
        (tags) => tags === 1,
      );
    }
  });

  it('are not ours where they were here, unless another installation has brought them', async () => {
    named('good@sha256:3', 'good@sha256:3');
    await pull('good@sha256:3');
    await run('true', { image: 'good@sha256:3' });
    expect(told()).not.toMatch(/^tag /m);
    named('good@sha256:3', 'agent-platform/sandbox-image/other:sha256-3', 'good@sha256:3');
    await pull('good@sha256:3');
    expect(told()).toMatch(/^tag good@sha256:3 /m);
  });

  it('are removed by all names that they have of us, but for one in use', async () => {
    const name = await ours();
    named(path.basename(name), name, 'good@sha256:1', 'good@sha256:2');
    await driver.removeImage('sha256:1');
    expect(told()).toContain(`\nimage rm good@sha256:1 ${name}\n`);
    writeFileSync(path.join(dir, 'used'), '');
    await driver.removeImage('sha256:1');
    rmSync(path.join(dir, 'used'));
  });

  it.each(['agent-platform/sandbox-image/other:sha256-1', 'debian:12-slim'])(
    'lose our name alone where they are %s, too',
    async (other) => {
      const name = await ours();
      named(path.basename(name), name, other, 'good@sha256:1');
      await driver.removeImage('sha256:1');
      expect(told()).toContain(`\nimage rm ${name}\n`);
    },
  );

  it('lose our name alone where they are what our own sandbox runs in', async () => {
    configure({ SANDBOX_IMAGE: 'good@sha256:1' });
    const name = await ours();
    named(path.basename(name), name, 'good@sha256:1');
    await driver.removeImage('sha256:1');
    expect(told()).toContain(`\nimage rm ${name}\n`);
    configure();
  });

  it('are known by other names to another installation', async () => {
    const name = await ours();
    configure({ SANDBOX_DIR: path.join(dir, 'others') });
    await new DockerDriver(path.join(dir, 'docker')).images();
    configure();
    expect(told()).toContain('reference=agent-platform/sandbox-image/');
    expect(told()).not.toContain(`reference=${name.split(':')[0]}`);
  });
});

it('is of use where a daemon answers, and its containers write to our disk', async () => {
  writeFileSync(path.join(dir, 'docker'), DOCKER.replace('echo linux', 'exit 1'));
  expect(await driver.unusable()).toBe('No Docker daemon with Linux containers answers here.');
  // A daemon elsewhere has folders of its own.
  writeFileSync(path.join(dir, 'docker'), DOCKER.replace('cd "', `cd ${dir}; : "`));
  expect(await driver.unusable()).toBe('A first command could not write to its workspace.');
});
