import { loadConfig } from '@aps/platform/config';
import { Egress } from '@aps/platform/egress';
import { ImageTooLarge, SandboxFailed, type CommandOutput, type SandboxCommand, type SandboxDriver } from '../sandbox/sandbox-driver';
import { ImageChecks, type ImageToCheck } from './image-checks';
import { ImageRegistry } from './image-registry';
import { startRegistry, type TestRegistry } from './testing/registry';

let registry: TestRegistry;
let egress: Egress;
/** What the sandbox has been asked for. */
let asked: string[];
let output: Partial<Omit<CommandOutput, 'stdout' | 'stderr'>> & { stdout?: string; stderr?: string };

const sandbox: SandboxDriver = {
  name: 'fake',
  isolation: 'container',
  runsImages: true,
  unusable: async () => null,
  pull: async (image, _signal, maxBytes) => void asked.push(`pull ${image}${maxBytes ? ` up to ${maxBytes / 1024 ** 3} GiB` : ''}`),
  exec: async ({ image, workspace }: SandboxCommand) => {
    asked.push(`exec ${image} ${workspace}`);
    const { stdout = 'workspace=writable\nuid=65534\n', stderr = 'to-stderr\n', ...rest } = output;
    return { ...{ exitCode: 42, timedOut: false, truncated: false, ...rest }, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
  },
  removeWorkspace: async (workspace) => void asked.push(`remove ${workspace}`),
  idleWorkspaces: async () => [],
  images: async () => [],
  removeImage: async () => undefined,
};

beforeAll(async () => {
  registry = await startRegistry();
  loadConfig({ EGRESS_ALLOW: registry.host, CUSTOM_IMAGE_REGISTRIES: registry.host });
  egress = new Egress();
});
beforeEach(() => ([asked, output] = [[], {}]));
afterAll(async () => {
  await egress.onApplicationShutdown();
  await registry.close();
});

const check = (image: Partial<ImageToCheck> = {}) =>
  new ImageChecks(new ImageRegistry(egress)).check(
    { reference: `${registry.host}/shell:1`, maxBytes: null, sandbox, problem: null, ...image },
    new AbortController().signal,
  );
const lastOf = ({ checks, ok }: Awaited<ReturnType<typeof check>>) => ({ ...checks.at(-1)!, all: ok, count: checks.length });

it('runs what the registry has, by its digest, in a workspace that is gone afterwards', async () => {
  const digest = registry.put('shell:1', { layers: 311.5 * 1024 ** 2 });
  const { checks, ...found } = await check({ maxBytes: 2 * 1024 ** 3 });
  expect(found).toEqual({ digest, size_bytes: expect.any(Number), ok: true, says_nothing: false });
  expect(checks.map(({ name, ok }) => [name, ok])).toEqual(
    ['reference', 'registry', 'manifest', 'platform', 'size', 'pull', 'probe'].map((name) => [name, true]),
  );
  expect(checks[4].detail).toBe('311.6 MiB of 2 GiB.');
  const pin = `${registry.host}/shell@${digest}`;
  const workspace = asked.at(-1)!.slice('remove '.length);
  expect(asked).toEqual([`pull ${pin} up to 10 GiB`, `exec ${pin} ${workspace}`, `remove ${workspace}`]);
});

it('ends with the first check that fails', async () => {
  registry.put('shell:1');
  registry.put('arm:1', { platforms: ['linux/arm64'] });
  const of = (name: string) => ({ reference: `${registry.host}/${name}` });
  expect(lastOf(await check({ reference: 'Not An Image' }))).toMatchObject({ name: 'reference', ok: false, all: false, count: 1 });
  expect(lastOf(await check({ reference: 'docker.io/a' }))).toMatchObject({
    name: 'reference',
    detail: expect.stringContaining('docker.io'),
  });
  expect(lastOf(await check(of('gone:1')))).toMatchObject({ name: 'manifest', ok: false, count: 3 });
  expect(lastOf(await check(of('arm:1')))).toMatchObject({ name: 'platform', ok: false, count: 4 });
  expect(lastOf(await check({ maxBytes: 1_000 }))).toMatchObject({ name: 'size', ok: false, count: 5 });
  expect(asked).toEqual([]);
});

it('says so where nothing runs images, and keeps what the registry said', async () => {
  const digest = registry.put('shell:1');
  const none = await check({ sandbox: { ...sandbox, runsImages: false } });
  expect(lastOf(none)).toMatchObject({ name: 'probe', ok: false, detail: 'No container runtime is configured here.' });
  expect(none.digest).toBe(digest);
  expect(lastOf(await check({ sandbox: null, problem: 'Docker does not answer.' })).detail).toBe('Docker does not answer.');
});

it.each([
  ['no shell', { exitCode: 127, stdout: '', stderr: 'sh: not found' }, 'no `sh`'],
  ['another exit code', { exitCode: 0 }, 'exit code'],
  ['nothing on stdout', { stdout: '' }, 'not passed on'],
  ['a workspace that cannot be written to', { stdout: 'uid=65534\n' }, 'cannot write'],
  ['root', { stdout: 'workspace=writable\nuid=0\n' }, 'root'],
  ['no end', { timedOut: true, exitCode: null }, 'within 30 s'],
])('fails a probe with %s', async (_, found, detail) => {
  output = found;
  expect(lastOf(await check())).toMatchObject({ name: 'probe', ok: false, detail: expect.stringContaining(detail) });
  expect(asked.at(-1)).toMatch(/^remove /);
});

it('tells what the sandbox says of it, and passes on what is no fault of the image', async () => {
  const lost = (error: Error) => ({ sandbox: { ...sandbox, pull: () => Promise.reject(error) } });
  expect(lastOf(await check(lost(new SandboxFailed('There is no room for it.', false))))).toMatchObject({
    name: 'pull',
    detail: 'There is no room for it.',
  });
  const full = { ...sandbox, exec: () => Promise.reject(new SandboxFailed('The disk is full.', false)) };
  expect(await check({ sandbox: full })).toMatchObject({ ok: false, says_nothing: true });
  const { checks, says_nothing } = await check(lost(new ImageTooLarge('It is too large.', false)));
  expect(says_nothing).toBe(false);
  expect(checks.slice(3).map(({ name, ok }) => [name, ok])).toEqual([['platform', true], ['size', false]]); // prettier-ignore
  await expect(check(lost(new Error('stopped')))).rejects.toThrow('stopped');
});
