import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { WebSocketServer, type WebSocket } from 'ws';
import { WORKSPACE } from '../../sandbox-driver';

/** An object of the cluster, as it was sent, and what the cluster adds. */
export interface Stored {
  metadata: { name: string; uid: string; resourceVersion: string; labels: Record<string, string>; annotations: Record<string, string> };
  spec: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export interface ApiServerSwitches {
  /** Whether the service account may do anything at all. */
  allows: boolean;
  protocol: 'v4.channel.k8s.io' | 'v5.channel.k8s.io';
  /** What becomes of a pod that is made. */
  statusOf: (pod: Stored) => Record<string, unknown>;
  /** Refuses an object that is to be made, by its sentence. */
  refuses: (kind: string) => string | undefined;
}

export interface ApiServer extends ApiServerSwitches {
  /** Settings of who asks it. */
  settings: Record<string, string>;
  pods: Map<string, Stored>;
  persistentvolumeclaims: Map<string, Stored>;
  /** Method and place of the requests that have come, without those that only look. */
  seen: string[];
  /** Ends a pod as the kubelet does, and leaves it with that status; without one it is gone. */
  end(name: string, status?: Record<string, unknown>): void;
  /** Breaks all connections to commands, which go on. */
  disconnect(): void;
  close(): Promise<void>;
}

export const RUNNING = { phase: 'Running', containerStatuses: [{ state: { running: {} } }] };
const TOKEN = 'token-of-the-service-account';
const NAMESPACE = '/api/v1/namespaces/sandboxes/';

interface Exec {
  pod: string;
  child: ChildProcess;
  socket: WebSocket;
}

/** A cluster whose pods are processes of this machine, which see a folder of theirs in the place of the workspace. */
export async function startApiServer(switches: Partial<ApiServerSwitches> = {}): Promise<ApiServer> {
  const dir = mkdtempSync(path.join(tmpdir(), 'cluster-'));
  writeFileSync(path.join(dir, 'token'), `${TOKEN}\n`);
  const execs = new Set<Exec>();
  let version = 0;

  const it: ApiServer = {
    ...{ allows: true, protocol: 'v5.channel.k8s.io', statusOf: () => RUNNING, refuses: () => undefined, ...switches },
    settings: {},
    pods: new Map(),
    persistentvolumeclaims: new Map(),
    seen: [],
    end(name, status) {
      const pod = it.pods.get(name)!;
      if (status) pod.status = status;
      else it.pods.delete(name);
      for (const exec of execs) if (exec.pod === name) killAll(exec.child);
    },
    disconnect: () => execs.forEach(({ socket }) => socket.terminate()),
    close: () => {
      for (const { child } of execs) killAll(child);
      server.closeAllConnections();
      rmSync(dir, { recursive: true, force: true });
      return new Promise((done) => server.close(() => done()));
    },
  };

  const answer = (res: ServerResponse, status: number, body: object) =>
    void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url!, 'http://cluster');
    if (req.headers.authorization !== `Bearer ${TOKEN}`) return answer(res, 401, { message: 'Unauthorized' });
    if (req.method !== 'GET') it.seen.push(`${req.method} ${url.pathname.replace(NAMESPACE, '')}`);
    const body = req.method === 'GET' ? {} : ((await json(req)) as Stored & Deletion);
    if (url.pathname.endsWith('/selfsubjectaccessreviews')) return answer(res, 201, { status: { allowed: it.allows } });
    const [kind, name] = url.pathname.replace(NAMESPACE, '').split('/') as ['pods' | 'persistentvolumeclaims', string?];
    return name
      ? serveOne(req.method!, kind, name, body as Stored & Deletion, res)
      : serveAll(req.method!, kind, body as Stored, url.searchParams, res);
  }

  function serveAll(
    method: string,
    kind: 'pods' | 'persistentvolumeclaims',
    object: Stored,
    query: URLSearchParams,
    res: ServerResponse,
  ): void {
    const wanted = (query.get('labelSelector') ?? '').split(',').map((label) => label.split('='));
    const selected = [...it[kind].values()].filter(({ metadata }) => wanted.every(([label, value]) => metadata.labels[label] === value));
    if (method === 'GET') return answer(res, 200, { metadata: {}, items: selected });
    if (method === 'DELETE') {
      for (const { metadata } of selected) it.end(metadata.name);
      return answer(res, 200, {});
    }
    const message = it.refuses(kind);
    if (message) return answer(res, 403, { message });
    const { name } = object.metadata;
    if (it[kind].has(name)) return answer(res, 409, { message: 'AlreadyExists' });
    Object.assign(object.metadata, { uid: randomUUID(), resourceVersion: String(++version) });
    if (kind === 'pods') object.status = it.statusOf(object);
    it[kind].set(name, object);
    return answer(res, 201, object);
  }

  function serveOne(
    method: string,
    kind: 'pods' | 'persistentvolumeclaims',
    name: string,
    body: Stored & Deletion,
    res: ServerResponse,
  ): void {
    const found = it[kind].get(name);
    if (!found) return answer(res, 404, { message: 'NotFound' });
    if (method === 'PATCH') {
      Object.assign(found.metadata.annotations, body.metadata.annotations);
      found.metadata.resourceVersion = String(++version);
    }
    if (method !== 'DELETE') return answer(res, 200, found);
    const { uid = found.metadata.uid, resourceVersion = found.metadata.resourceVersion } = body.preconditions ?? {};
    if (uid !== found.metadata.uid || resourceVersion !== found.metadata.resourceVersion) return answer(res, 409, { message: 'Conflict' });
    if (kind === 'pods') it.end(name);
    else it[kind].delete(name);
    return answer(res, 200, {});
  }

  function run(socket: WebSocket, pod: string, query: URLSearchParams): void {
    const files = path.join(dir, it.pods.get(pod)!.metadata.labels['agent-platform/workspace']);
    mkdirSync(files, { recursive: true });
    const [file, ...args] = query.getAll('command').map((part) => part.replace(new RegExp(`^${WORKSPACE}(?=/|$)`), files));
    const stdin = query.get('stdin') === 'true' ? 'pipe' : 'ignore';
    const env = { PATH: process.env.PATH, KUBERNETES_SERVICE_HOST: '10.0.0.1' };
    const child = spawn(file, args, { detached: true, stdio: [stdin, 'pipe', 'pipe'], env });
    const exec = { pod, child, socket };
    execs.add(exec);
    const send = (stream: number, data: Buffer) => socket.send(Buffer.concat([Buffer.of(stream), data]));
    child.stdin?.on('error', () => undefined);
    child.stdout!.on('data', (data: Buffer) => send(1, data));
    child.stderr!.on('data', (data: Buffer) => send(2, data));
    socket.on('message', (data: Buffer) => data[0] === 0 && child.stdin?.write(data.subarray(1)));
    child.on('close', (code, signal) => {
      execs.delete(exec);
      send(3, Buffer.from(JSON.stringify(statusOf(signal ? 137 : code!))));
      socket.close();
    });
  }

  const server = createServer((req, res) => void serve(req, res));
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => offered.has(it.protocol) && it.protocol });
  server.on('upgrade', (req, socket, head) => {
    const { pathname, searchParams } = new URL(req.url!, 'http://cluster');
    const [, pod] = /\/pods\/([^/]+)\/exec$/.exec(pathname) ?? [];
    if (!it.pods.has(pod) || req.headers.authorization !== `Bearer ${TOKEN}`) return void socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
    sockets.handleUpgrade(req, socket, head, (opened) => run(opened, pod, searchParams));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  it.settings = { SANDBOX_NAMESPACE: 'sandboxes', SANDBOX_K8S_API: `http://127.0.0.1:${port}`, SANDBOX_K8S_CREDENTIALS: dir };
  return it;
}

interface Deletion {
  preconditions?: { uid?: string; resourceVersion?: string };
}

const statusOf = (code: number) =>
  code === 0
    ? { status: 'Success' }
    : { status: 'Failure', reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: String(code) }] } };

/** It leads its session, of which all its processes are. */
function killAll({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
