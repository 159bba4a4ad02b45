import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { loadConfig } from '@aps/platform/config';
import { eventually, testEnvironment } from '@aps/platform/testing';
import { KEPT_OUTPUT, WORKSPACE, type SandboxCommand } from '../sandbox-driver';
import { KubernetesDriver } from './kubernetes-driver';
import { RUNNING, startApiServer, type ApiServer } from './testing/api-server';

let cluster: ApiServer;
let driver: KubernetesDriver;

beforeAll(() => Logger.overrideLogger(false));
beforeEach(async () => {
  cluster = await startApiServer();
  configure();
  driver = new KubernetesDriver();
});
afterEach(() => cluster.close());

const configure = (more: NodeJS.ProcessEnv = {}) =>
  loadConfig({ ...testEnvironment('postgres://localhost/none'), ...cluster.settings, ...more });
const never = new AbortController().signal;
const command = (script: string, more: Partial<SandboxCommand> = {}): SandboxCommand => ({
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
});
const run = async (script: string, more?: Partial<SandboxCommand>, signal = never) => {
  const { stdout, stderr, ...rest } = await driver.exec(command(script, more), signal);
  return { ...rest, stdout: stdout.toString(), stderr: stderr.toString() };
};
const fine = { exitCode: 0, stdout: '', stderr: '', timedOut: false, truncated: false };
const podNames = () => [...cluster.pods.keys()];
/** A command that would run on, once it has begun; it resolves to what was thrown, too. */
const begin = async (workspace: string, signal?: AbortSignal) => {
  const mark = randomUUID();
  const result = run(`>${mark}; sleep 30`, { workspace }, signal).catch((error: unknown) => error);
  await eventually(
    () => run(`ls ${mark}`, { workspace }),
    ({ exitCode }) => exitCode === 0,
  );
  return { result };
};
/** Makes what nobody has used for so long, or since yesterday. */
const age = (objects: ApiServer['pods'], ms = 86_400_000) =>
  objects.forEach(({ metadata }) => (metadata.annotations['agent-platform/used-at'] = new Date(Date.now() - ms).toISOString()));
/** Idle for long enough to give way to others, and not to be removed without them. */
const GIVES_WAY_MS = 240_000;
/** Lets the cluster have no more pods than that. */
const quota = (pods: number) =>
  (cluster.refuses = (kind) => (kind === 'pods' && cluster.pods.size >= pods ? 'forbidden: exceeded quota: sandboxes' : undefined));

describe('a command', () => {
  it.each<[string, string, object]>([
    ['has both streams and its exit code', 'echo out; echo err >&2; exit 7', { exitCode: 7, stdout: 'out\n', stderr: 'err\n' }],
    ['says by which signal it ended', 'kill -TERM $$', { exitCode: 143 }],
    ['that is killed by somebody in there is told from a pod that is', 'kill -KILL $$', { exitCode: 137 }],
    ['that is not there is told', 'exec no-such-program 2>/dev/null', { exitCode: 127 }],
    ['leaves nothing behind that keeps it open', 'sleep 30 & echo out', { stdout: 'out\n' }],
    ['is told nothing of the cluster', 'echo "$KUBERNETES_SERVICE_HOST"', { stdout: '\n' }],
    ['reads nothing', 'cat', {}],
  ])('%s', async (_, script, expected) => expect(await run(script)).toEqual({ ...fine, ...expected }));

  it.each(['v4.channel.k8s.io', 'v5.channel.k8s.io'] as const)('reads to the end of what it is given, over %s', async (protocol) => {
    cluster.protocol = protocol;
    const stdin = Buffer.alloc(200_000, 'ab\n');
    expect(await run('wc -c; echo end', { stdin })).toEqual({ ...fine, stdout: expect.stringMatching(/^\s*200000\nend\n$/) });
    expect(await run('exit 3', { stdin: Buffer.alloc(2_000_000) })).toEqual({ ...fine, exitCode: 3 });
  });

  it('takes its arguments as they are', async () =>
    expect(await run('', { argv: ['printf', '%s|', 'a b', '', '$(id)', 'é\n'] })).toEqual({ ...fine, stdout: 'a b||$(id)|é\n|' }));

  it('keeps the beginning and the end of what it says', async () => {
    const { stdout, truncated } = await run('echo first; head -c 1000000 /dev/zero; echo last');
    expect([truncated, stdout.startsWith('first'), stdout.endsWith('last\n'), stdout.length < KEPT_OUTPUT + 100]).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  it('finds the files of its workspace in another image, and none of another workspace', async () => {
    const workspace = randomUUID();
    await run('mkdir a; echo kept >a/file', { workspace });
    const image = 'quay.io/team/tools@sha256:0';
    expect(await run('cat file', { workspace, image, workdir: `${WORKSPACE}/a` })).toEqual({ ...fine, stdout: 'kept\n' });
    expect((await run('ls')).stdout).toBe('');
    expect(cluster.pods.size).toBe(3);
    expect([...cluster.pods.values()].filter(({ spec }) => JSON.stringify(spec).includes(image))).toHaveLength(1);
  });

  it('is ended with its pod at its ceiling, and the next one has a new pod', async () => {
    const workspace = randomUUID();
    const ended = await run('echo out; sleep 30', { workspace, timeoutMs: 500 });
    expect([ended, podNames()]).toEqual([{ ...fine, exitCode: null, stdout: 'out\n', timedOut: true }, []]);
    expect(await run('echo again', { workspace })).toEqual({ ...fine, stdout: 'again\n' });
  });

  it('is ended with its pod where the caller gives up, and those beside it are told to be lost', async () => {
    const workspace = randomUUID();
    const cut = new AbortController();
    const [one, other] = [await begin(workspace, cut.signal), await begin(workspace)];
    cut.abort(new Error('enough'));
    expect(await one.result).toMatchObject({ message: 'enough' });
    expect(await other.result).toMatchObject({ began: true, message: expect.stringContaining('lost') });
    expect(podNames()).toEqual([]);
    await expect(run('true', {}, cut.signal)).rejects.toThrow('enough');
  });

  it.each([
    ['with its pod', undefined, 'was lost'],
    ['for its memory', { phase: 'Failed', containerStatuses: [{ state: { terminated: { reason: 'OOMKilled' } } }] }, '1 GiB of memory'],
    ['by its node', { phase: 'Failed', reason: 'Evicted' }, 'of its node'],
  ])('that ended %s is told to be lost', async (_, status, message) => {
    const { result } = await begin(randomUUID());
    cluster.end(podNames()[0], status);
    expect(await result).toMatchObject({ began: true, message: expect.stringContaining(message) });
  });

  it('that nobody hears of any more is ended, and has begun', async () => {
    const { result } = await begin(randomUUID());
    cluster.disconnect();
    expect(await result).toMatchObject({ began: true });
    expect(podNames()).toEqual([]);
  });
});

describe('a pod', () => {
  it('has nothing of ours, and no more than it needs', async () => {
    await run('true');
    const [{ spec, metadata }] = [...cluster.pods.values()];
    expect({ spec, labels: metadata.labels }).toMatchSnapshot({
      labels: { 'agent-platform/workspace': expect.any(String) },
      spec: { affinity: expect.anything(), volumes: expect.anything() },
    });
    expect(JSON.stringify(spec)).toContain(`"claimName":"${[...cluster.persistentvolumeclaims.keys()][0]}"`);
  });

  it('is made once for many commands at once', async () => {
    const workspace = randomUUID();
    await Promise.all(Array.from({ length: 5 }, () => run('true', { workspace })));
    expect([podNames().length, cluster.persistentvolumeclaims.size]).toEqual([1, 1]);
  });

  it('is waited for while it starts, and no longer than the caller waits', async () => {
    cluster.statusOf = (pod) => {
      setTimeout(() => (pod.status = RUNNING), 200);
      return { phase: 'Pending' };
    };
    expect(await run('echo out')).toEqual({ ...fine, stdout: 'out\n' });
    cluster.statusOf = () => ({ phase: 'Pending' });
    const cut = new AbortController();
    const result = run('true', {}, cut.signal).catch((error: unknown) => error);
    await eventually(
      () => Promise.resolve(cluster.pods.size),
      (size) => size === 2,
    );
    cut.abort(new Error('enough'));
    expect(await result).toMatchObject({ message: 'enough' });
  });

  it('is made anew where the last one is over', async () => {
    const workspace = randomUUID();
    await run('true', { workspace });
    cluster.end(podNames()[0], { phase: 'Failed', reason: 'DeadlineExceeded' });
    expect(await run('echo again', { workspace })).toEqual({ ...fine, stdout: 'again\n' });
  });

  const waiting = (reason: string) => ({ phase: 'Pending', containerStatuses: [{ state: { waiting: { reason } } }] });
  const ended = (reason: string) => ({ phase: 'Failed', containerStatuses: [{ state: { terminated: { reason } } }] });

  it.each([
    ['has an image that is not there', waiting('ImagePullBackOff'), 'cannot be pulled'],
    ['has an image without a shell', ended('StartError'), 'no `sh`'],
  ])('that %s is no sandbox, and not kept', async (_, status, message) => {
    cluster.statusOf = () => status;
    await expect(run('true')).rejects.toMatchObject({ began: false, message: expect.stringContaining(message) });
    expect(podNames()).toEqual([]);
  });

  it('is not made where the cluster has no room, or does not answer', async () => {
    cluster.refuses = (kind) => (kind === 'pods' ? 'forbidden: exceeded quota: sandboxes' : undefined);
    await expect(run('true')).rejects.toMatchObject({ began: false, message: 'The cluster has no room for another sandbox.' });
    configure({ SANDBOX_K8S_API: 'http://127.0.0.1:1' });
    await expect(run('true')).rejects.toMatchObject({ began: false, message: 'The cluster did not make the sandbox.' });
  });

  it('gives way to another where the cluster has no room, once it is idle, and never at work', async () => {
    await run('true');
    await begin(randomUUID());
    cluster.statusOf = ({ metadata }) => (metadata.name.startsWith('pull-') ? { phase: 'Pending' } : RUNNING);
    const enough = new AbortController();
    const pulled = driver.pull('quay.io/team/tools@sha256:0', enough.signal).catch(() => undefined);
    const [idle, atWork, fetching] = await eventually(
      () => Promise.resolve(podNames()),
      (names) => names.length === 3,
    );
    age(new Map([[fetching, cluster.pods.get(fetching)!]]), GIVES_WAY_MS);
    quota(3);
    await expect(run('true')).rejects.toMatchObject({ message: 'The cluster has no room for another sandbox.' });
    age(new Map([[idle, cluster.pods.get(idle)!]]), GIVES_WAY_MS);
    expect(await run('echo out')).toEqual({ ...fine, stdout: 'out\n' });
    expect(podNames()).toEqual([atWork, fetching, expect.not.stringMatching(idle)]);
    enough.abort();
    await pulled;
  });

  it('gives way again where what went was not enough', async () => {
    await Promise.all(Array.from({ length: 7 }, () => run('true')));
    age(cluster.pods, GIVES_WAY_MS);
    quota(1);
    expect(await run('echo out')).toEqual({ ...fine, stdout: 'out\n' });
    expect(podNames()).toHaveLength(1);
  });

  it('is removed when nobody has used it for long, by whoever looks', async () => {
    const workspace = randomUUID();
    await run('true', { workspace });
    await begin(randomUUID());
    await driver.sweep();
    expect(podNames()).toHaveLength(2);
    age(cluster.pods);
    await driver.sweep();
    expect(podNames()).toHaveLength(1);
    age(cluster.pods);
    await new KubernetesDriver().sweep();
    expect(podNames()).toEqual([]);
  });

  it('that is used again is kept from who would remove it at that moment', async () => {
    const workspace = randomUUID();
    for (let round = 0; round < 8; round++) {
      await run('true', { workspace });
      age(cluster.pods);
      const [used] = await Promise.all([run('sleep 0.1; echo out', { workspace }), new KubernetesDriver().sweep()]);
      expect(used).toEqual({ ...fine, stdout: 'out\n' });
    }
  });

  it('fetches an image, and is gone then, also where it cannot be started', async () => {
    await driver.pull('quay.io/team/tools@sha256:0', never);
    cluster.statusOf = () => ended('StartError');
    await driver.pull('quay.io/team/tools@sha256:0', never);
    cluster.statusOf = () => waiting('ErrImagePull');
    await expect(driver.pull('quay.io/team/tools@sha256:0', never)).rejects.toMatchObject({ began: false });
    expect([podNames(), cluster.persistentvolumeclaims.size]).toEqual([[], 0]);
  });
});

describe('a workspace', () => {
  it('is idle once nobody uses it, and is removed with what runs in it', async () => {
    const [idle, used] = [randomUUID(), randomUUID()];
    await run('true', { workspace: idle });
    age(cluster.persistentvolumeclaims);
    const { result } = await begin(used);
    expect(await driver.idleWorkspaces(3_600_000)).toEqual([idle]);
    await driver.removeWorkspace(used);
    expect(await result).toMatchObject({ began: true });
    await driver.removeWorkspace(idle);
    await driver.removeWorkspace(randomUUID());
    expect([podNames(), await driver.idleWorkspaces(0)]).toEqual([[], []]);
  });

  it('that is used again is kept from who would remove it at that moment', async () => {
    const workspace = randomUUID();
    await run('true', { workspace });
    await driver.removeWorkspace(workspace, 3_600_000);
    expect(await driver.idleWorkspaces(0)).toEqual([workspace]);
    age(cluster.persistentvolumeclaims);
    const claims = cluster.persistentvolumeclaims;
    const found = [...claims.values()][0];
    // Between the look and the removal.
    jest.spyOn(claims, 'get').mockImplementationOnce(() => (setImmediate(() => (found.metadata.resourceVersion = 'used')), found));
    await driver.removeWorkspace(workspace, 3_600_000);
    expect(await driver.idleWorkspaces(0)).toEqual([workspace]);
    age(cluster.persistentvolumeclaims);
    await driver.removeWorkspace(workspace, 3_600_000);
    expect(await driver.idleWorkspaces(0)).toEqual([]);
  });
});

it('can be used within a cluster that lets it', async () => {
  expect(await driver.unusable()).toBeNull();
  cluster.allows = false;
  expect(await driver.unusable()).toContain('may not run commands');
  configure({ SANDBOX_K8S_CREDENTIALS: '/nowhere' });
  expect(await driver.unusable()).toContain('no token');
  configure({ SANDBOX_K8S_API: 'http://127.0.0.1:1' });
  expect(await driver.unusable()).toContain('does not answer');
});
