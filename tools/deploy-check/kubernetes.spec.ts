import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { JOBS, RUN_KINDS, WAITED_QUEUES } from '@aps/contracts';
import { MAX_FORM_BYTES } from '@aps/files/http';
import { parseAllDocuments } from 'yaml';
import { isInstalled } from '../../apps/api-gateway-e2e/support';
import { allSections } from '../env-example/sections';
import { manifests } from '../manifests/manifests';
import { APPS, at, FOREIGN_VARIABLES, HTTP_APPS, INTERNAL_APPS, read, RUN_APPS } from './files';
import { containersOf, dig, podOf, render, type Fields, type Resource } from './kustomize';

const OVERLAYS = readdirSync(at('k8s/overlays'));
const RENDERED = OVERLAYS.flatMap((overlay) => [`k8s/overlays/${overlay}`, `k8s/overlays/${overlay}/migrate`]);
const PRODUCTION = 'k8s/overlays/production';

const all = new Map(RENDERED.map((folder) => [folder, render(at(folder))]));
const everything = [...all.values()].flat();
const of = (kind: string, resources: Resource[] = everything) => resources.filter((r) => r.kind === kind);
const named = (kind: string, name: string, folder: string) => of(kind, all.get(folder)).find((r) => r.metadata.name === name);
const workloads = everything.filter(podOf);
const title = (r: Resource) => `${r.kind} ${r.metadata.name}`;
const app = (r: Resource) => containersOf(r).find((c) => c.name === 'app') as Fields;

interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: { name: string; key: string; optional?: boolean } };
}
const variables = (r: Resource) => containersOf(r).flatMap((c) => (c.env as unknown as Variable[] | undefined) ?? []);

interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { protocol: string; port: number | string; endPort?: number }[];
}
interface Peer {
  podSelector?: { matchLabels?: Record<string, string> };
  namespaceSelector?: { matchLabels?: Record<string, string> };
  ipBlock?: { cidr: string; except?: string[] };
}
interface Policy {
  podSelector: { matchLabels?: Record<string, string>; matchExpressions?: unknown };
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
}
const labelsOf = (r: Resource) => dig<Record<string, string>>(r, 'spec', 'template', 'metadata', 'labels');
/** The policies that select a workload. */
const policiesFor = (workload: Resource, folder: string) =>
  of('NetworkPolicy', all.get(folder))
    .map((p) => p.spec as unknown as Policy)
    .filter(
      (p) =>
        !p.podSelector.matchExpressions && Object.entries(p.podSelector.matchLabels ?? {}).every(([k, v]) => labelsOf(workload)[k] === v),
    );

describe('The rendering', () => {
  it.each(RENDERED)('of %s is complete', (folder) => {
    expect(all.get(folder)?.length).toBeGreaterThan(1);
  });

  // Everything below is checked on the rendering of our own; that it is the right one is proved wherever kubectl is installed. No npm package
  // renders, and that of Debian is older than components.
  if (!isInstalled('kubectl')) {
    it('is not compared with that of kubectl, for want of one on PATH (1.27 or later): install it before manifests are changed', () =>
      undefined);
    return;
  }

  it.each(RENDERED)('of %s is that of kubectl', (folder) => {
    const { stdout, stderr, status } = spawnSync('kubectl', ['kustomize', at(folder)], { encoding: 'utf8', maxBuffer: 1e8 });
    expect([status, stderr]).toEqual([0, '']);
    const theirs = parseAllDocuments(stdout.replace(/\b(aps-config)-[a-z0-9]{10}\b/g, '$1')).map((d) => d.toJS() as Resource);
    const sorted = (resources: Resource[]) =>
      resources.map((r) => JSON.parse(JSON.stringify(ordered(r))) as Resource).sort((a, b) => key(a).localeCompare(key(b)));
    const key = (r: Resource) => `${r.kind}/${r.metadata.name}`;
    expect(sorted(all.get(folder) ?? [])).toEqual(sorted(theirs));
  });

  /** Lists whose order means nothing, in one order. */
  function ordered(value: unknown, name = ''): unknown {
    if (Array.isArray(value)) {
      const items = value.map((item) => ordered(item));
      return ['env', 'ports', 'volumes', 'volumeMounts', 'envFrom'].includes(name)
        ? items.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
        : items;
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([k, v]) => [k, ordered(v, k)]),
    );
  }
});

describe.each(OVERLAYS.map((o) => `k8s/overlays/${o}`))('%s', (folder) => {
  const resources = all.get(folder) ?? [];

  it.each(APPS)('deploys %s completely', (name) => {
    const deployment = named('Deployment', name, folder);
    expect(deployment).toBeDefined();
    // By which all of them are found, and nothing else.
    expect(deployment?.metadata.labels).toMatchObject({ 'agent-platform/kind': 'app' });
    expect(dig(deployment, 'spec', 'selector', 'matchLabels', 'app.kubernetes.io/name')).toBe(name);
    expect(labelsOf(deployment as Resource)).toMatchObject({
      'app.kubernetes.io/name': name,
      'app.kubernetes.io/part-of': 'agent-platform',
      'agent-platform/kind': 'app',
    });
    for (const kind of ['ServiceAccount', 'PodDisruptionBudget', 'NetworkPolicy'])
      expect([kind, named(kind, name, folder)?.metadata.name]).toEqual([kind, name]);
    expect(podOf(deployment as Resource)?.serviceAccountName).toBe(name);
    expect(dig(named('PodDisruptionBudget', name, folder), 'spec', 'selector', 'matchLabels', 'app.kubernetes.io/name')).toBe(name);
    expect(dig(named('NetworkPolicy', name, folder), 'spec', 'podSelector', 'matchLabels', 'app.kubernetes.io/name')).toBe(name);
    expect(named('ServiceAccount', name, folder)?.automountServiceAccountToken).toBe(false);
    expect(Boolean(named('Service', name, folder))).toBe(HTTP_APPS.includes(name));
  });

  it('holds the namespace to the restricted standard, and puts everything into it', () => {
    const [namespace] = of('Namespace', resources);
    expect(namespace.metadata.labels?.['pod-security.kubernetes.io/enforce']).toBe('restricted');
    for (const r of resources)
      if (r.kind !== 'Namespace') expect([title(r), r.metadata.namespace]).toEqual([title(r), namespace.metadata.name]);
  });

  it('has one Ingress, to the gateway, and no other way from outside', () => {
    const backends = of('Ingress', resources).flatMap((i) =>
      dig<Fields[]>(i, 'spec', 'rules').flatMap((rule) =>
        dig<Fields[]>(rule, 'http', 'paths').map((p) => dig(p, 'backend', 'service', 'name')),
      ),
    );
    expect(backends).toEqual(['api-gateway']);
    for (const service of of('Service', resources))
      expect([title(service), dig(service, 'spec', 'type') ?? 'ClusterIP']).toEqual([title(service), 'ClusterIP']);
    for (const workload of resources.filter(podOf)) {
      expect(podOf(workload)).not.toHaveProperty('hostNetwork');
      for (const c of containersOf(workload)) for (const port of (c.ports as Fields[]) ?? []) expect(port).not.toHaveProperty('hostPort');
    }
  });

  it('streams through the Ingress: no buffer, and a long read time-out', () => {
    const { annotations = {} } = of('Ingress', resources)[0].metadata;
    expect(annotations['nginx.ingress.kubernetes.io/proxy-buffering']).toBe('off');
    expect(Number(annotations['nginx.ingress.kubernetes.io/proxy-read-timeout'])).toBeGreaterThanOrEqual(3600);
  });

  it('lets the largest file through the Ingress, whichever of the NGINX controllers stands there', () => {
    const { annotations = {} } = of('Ingress', resources)[0].metadata;
    for (const name of ['nginx.ingress.kubernetes.io/proxy-body-size', 'nginx.org/client-max-body-size'])
      expect([name, Number(/^(\d+)m$/.exec(annotations[name])?.[1]) * 1024 ** 2 >= MAX_FORM_BYTES]).toEqual([name, true]);
  });

  it('denies all traffic by default', () => {
    const spec = dig<Policy>(named('NetworkPolicy', 'default-deny', folder), 'spec');
    expect(spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  });

  it('lets the ingress controller reach the gateway, the gateway reach what stands behind it, and Prometheus the internal port; nobody else', () => {
    for (const name of APPS) {
      const rules = policiesFor(named('Deployment', name, folder) as Resource, folder).flatMap((p) => p.ingress ?? []);
      const doors = rules.map((r) => ({
        who: (r.from ?? []).map((p) => Object.values({ ...p.namespaceSelector?.matchLabels, ...p.podSelector?.matchLabels }).join()).join(),
        ports: (r.ports ?? []).map((p) => p.port),
      }));
      const expected = [{ who: 'monitoring', ports: [9090] }];
      if (name === 'api-gateway') expected.push({ who: 'ingress-nginx', ports: [3000] });
      else if (HTTP_APPS.includes(name)) expected.push({ who: 'api-gateway', ports: [3000] });
      expect([name, doors]).toEqual([name, expect.arrayContaining(expected)]);
      expect([name, doors.length]).toEqual([name, expected.length]);
    }
  });

  it('lets every app reach names, PostgreSQL and Redis, and the internet where models or the payment provider are called', () => {
    for (const name of APPS) {
      const rules = policiesFor(named('Deployment', name, folder) as Resource, folder).flatMap((p) => p.egress ?? []);
      const ports = rules.flatMap((r) => (r.ports ?? []).map((p) => p.port));
      expect(ports).toEqual(expect.arrayContaining([53, 5432, 6379]));
      const outside = rules
        .filter((r) => r.to?.some((p) => p.ipBlock?.cidr === '0.0.0.0/0'))
        .map((r) => (r.ports ?? []).map((p) => p.port));
      const callsModels = name === 'api-gateway' || RUN_APPS.includes(name);
      const asksProvider = name === 'billing-webhooks';
      const expected = callsModels ? expect.arrayContaining([[443, 1024], [443]]) : asksProvider ? [[443, 1024]] : [];
      expect([name, outside]).toEqual([name, expected]);
      for (const rule of rules)
        expect([name, rule.to?.length ?? 0, rule.ports?.length ?? 0]).toEqual([name, expect.any(Number), expect.any(Number)]);
      for (const rule of rules) expect((rule.to?.length ?? 0) * (rule.ports?.length ?? 0)).toBeGreaterThan(0);
    }
  });

  it('lets every app send its spans to a collector', () => {
    for (const name of APPS) {
      const rules = policiesFor(named('Deployment', name, folder) as Resource, folder).flatMap((p) => p.egress ?? []);
      const to = rules
        .filter((r) => r.ports?.some((p) => p.port === 4318))
        .flatMap((r) => (r.to ?? []).map((p) => p.namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']));
      expect([name, to]).toEqual([name, ['monitoring']]);
    }
  });

  it('lets nodes be drained of pods that are not ready', () => {
    for (const budget of of('PodDisruptionBudget', resources))
      expect([title(budget), budget.spec]).toEqual([
        title(budget),
        expect.objectContaining({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
      ]);
  });

  it('keeps private ranges and the metadata service out of every rule for the internet', () => {
    const blocks = of('NetworkPolicy', resources)
      .flatMap((p) => ((p.spec as unknown as Policy).egress ?? []).flatMap((r) => r.to ?? []))
      .flatMap((p) => (p.ipBlock ? [p.ipBlock] : []));
    const open = blocks.filter((b) => b.cidr === '0.0.0.0/0');
    expect(open.length).toBeGreaterThan(0);
    for (const { except } of open)
      expect(except).toEqual(
        expect.arrayContaining([
          ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10', '127.0.0.0/8'],
          ...['161.26.0.0/16', '166.8.0.0/14', '168.63.129.16/32'],
        ]),
      );
    // IPv6: global unicast only, which leaves out fc00::/7 and fe80::/10.
    expect(blocks.filter((b) => b.cidr.includes(':')).map((b) => b.cidr)).toEqual(['2000::/3']);
  });

  it('names services that exist in the addresses that it sets', () => {
    const config = named('ConfigMap', 'aps-config', folder)?.data as Record<string, string>;
    const addresses = [...Object.entries(config), ...resources.flatMap(variables).map((v) => [v.name, v.value ?? ''])].filter(([, value]) =>
      /^http:\/\/[a-z-]+:\d+/.test(value),
    );
    expect(addresses.length).toBeGreaterThan(0);
    for (const [name, value] of addresses) {
      const { hostname, port } = new URL(value);
      const ports = dig<{ port: number }[] | undefined>(named('Service', hostname, folder), 'spec', 'ports') ?? [];
      expect([name, ports.map((p) => String(p.port))]).toEqual([name, expect.arrayContaining([port])]);
    }
  });
});

describe('Mail by SMTP', () => {
  const SMTP = at('k8s/components/smtp');
  const without = all.get(PRODUCTION) ?? [];
  const withMail = render(at(PRODUCTION), SMTP);
  const find = (resources: Resource[], kind: string, name: string) =>
    resources.find((r) => r.kind === kind && r.metadata.name === name) as Resource;

  it('comes with a component that production names and leaves out', () => {
    expect(read('k8s/overlays/production/kustomization.yaml')).toMatch(/^ {2}# - \.\.\/\.\.\/components\/smtp$/m);
    const added = withMail.filter((r) => !without.some((o) => o.kind === r.kind && o.metadata.name === r.metadata.name));
    expect(added.map(title).sort()).toEqual(['NetworkPolicy inbox-intake-smtp', 'Service inbox-intake-smtp']);
    for (const r of added) expect(r.metadata.namespace).toBe('agent-platform');
  });

  it('comes in at port 25, from anywhere, and shows who sends it', () => {
    const { spec } = find(withMail, 'Service', 'inbox-intake-smtp');
    expect(spec).toMatchObject({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ports: [{ name: 'smtp', port: 25, targetPort: 'smtp' }],
    });
    const intake = find(withMail, 'Deployment', 'inbox-intake');
    expect(dig(spec, 'selector')).toEqual({ 'app.kubernetes.io/name': dig(labelsOf(intake), 'app.kubernetes.io/name') });
    const port = dig<{ name: string; containerPort: number }[]>(app(intake), 'ports').find((p) => p.name === 'smtp')?.containerPort;
    expect(dig(find(withMail, 'NetworkPolicy', 'inbox-intake-smtp'), 'spec', 'ingress')).toEqual([{ ports: [{ protocol: 'TCP', port }] }]);
  });

  it('can be encrypted: the certificate comes from a secret', () => {
    const intake = find(withMail, 'Deployment', 'inbox-intake');
    const value = (name: string) => variables(intake).find((v) => v.name === name)?.value;
    const mounts = dig<Fields[]>(app(intake), 'volumeMounts').filter((m) => m.name === 'smtp-certificate');
    expect([mounts[0].readOnly, value('SMTP_TLS_CERT_FILE'), value('SMTP_TLS_KEY_FILE')]).toEqual([
      true,
      `${mounts[0].mountPath as string}/tls.crt`,
      `${mounts[0].mountPath as string}/tls.key`,
    ]);
    const others = dig<Fields[]>(podOf(find(without, 'Deployment', 'inbox-intake')), 'volumes');
    expect(dig(podOf(intake), 'volumes')).toEqual([
      ...others,
      { name: 'smtp-certificate', secret: { secretName: 'aps-smtp-tls', defaultMode: 0o440 } },
    ]);
  });
});

describe('Every pod', () => {
  it.each(workloads.map((w) => [`${title(w)} (${RENDERED.find((f) => all.get(f)?.includes(w))})`, w] as const))(
    '%s is restricted and bounded',
    (_name, workload) => {
      const pod = podOf(workload) as Fields;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(dig<number>(pod, 'securityContext', 'runAsUser')).toBeGreaterThan(0);
      for (const container of containersOf(workload)) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        for (const side of ['requests', 'limits'])
          expect(dig(container, 'resources', side)).toEqual({
            cpu: expect.anything(),
            memory: expect.anything(),
            'ephemeral-storage': expect.anything(),
          });
        expect(container.image).toMatch(/^[^:@]+(:[\w.-]+|@sha256:[0-9a-f]{64})$/);
        expect(container.image).not.toMatch(/:latest$/);
      }
      for (const volume of (pod.volumes as Fields[]) ?? []) expect(volume).not.toHaveProperty('hostPath');
    },
  );

  it('runs as the user of the image', () => {
    const user = /^USER (\d+):/m.exec(read('docker/Dockerfile'))?.[1];
    for (const w of workloads.filter((x) => app(x)))
      expect([title(w), String(dig(podOf(w), 'securityContext', 'runAsUser'))]).toEqual([title(w), user]);
  });

  it('writes to memory or a temporary volume only', () => {
    for (const w of workloads.filter((x) => app(x))) {
      const volumes = dig<Fields[]>(podOf(w), 'volumes').map((v) => Object.keys(v).find((k) => k !== 'name'));
      expect(volumes.sort()).toEqual(['emptyDir', 'secret']);
      expect(dig<Fields[]>(app(w), 'volumeMounts').map((m) => [m.mountPath, m.readOnly ?? false])).toEqual(
        expect.arrayContaining([
          ['/tmp', false],
          ['/run/secrets/aps', true],
        ]),
      );
    }
  });

  const mebibytes = (text: string) => Number(/^(\d+)/.exec(text)?.[1]) * (text.endsWith('Gi') ? 1024 : 1);

  it('has room for its temporary files, and for its logs beside them', () => {
    for (const w of workloads.filter((x) => app(x))) {
      const [size] = dig<Fields[]>(podOf(w), 'volumes').flatMap((v) => dig<string | undefined>(v, 'emptyDir', 'sizeLimit') ?? []);
      expect(mebibytes(dig<string>(app(w), 'resources', 'limits', 'ephemeral-storage'))).toBeGreaterThanOrEqual(mebibytes(size) + 100);
    }
  });

  it('keeps its heap within its memory', () => {
    for (const w of workloads) {
      for (const { name, value = '' } of variables(w)) {
        const heap = Number(/--max-old-space-size=(\d+)/.exec(value)?.[1] ?? 0);
        if (name === 'NODE_OPTIONS' && heap)
          expect(heap).toBeLessThanOrEqual(0.8 * mebibytes(dig<string>(app(w), 'resources', 'limits', 'memory')));
      }
    }
  });

  const heapOf = (w: Resource) =>
    Math.max(...variables(w).map(({ value = '' }) => Number(/--max-old-space-size=(\d+)/.exec(value)?.[1] ?? 0)));

  it.each([
    ['api-gateway', 1],
    ['chat-worker', 1],
    ['process-engine', 2],
  ])('has room for what reads files, beside the heap and 256 MiB of %s', (name, kinds) => {
    const source = read('libs/domains/files/src/extraction/readers.ts');
    const [readers, memory] = ['READERS', 'MEMORY_MIB'].map((each) => Number(new RegExp(`^const ${each} = (\\d+);`, 'm').exec(source)![1]));
    const w = workloads.find((each) => each.metadata.name === name)!;
    const limit = mebibytes(dig<string>(app(w), 'resources', 'limits', 'memory'));
    expect(limit).toBeGreaterThanOrEqual(heapOf(w) + kinds * readers * memory + 256);
  });

  it('has room for what reads mails, beside the heap of inbox-intake and twice what comes', async () => {
    const inMail = (file: string, name: string) =>
      Number(
        new RegExp(`^const ${name} = (\\d+)( \\* 1024 \\* 1024)?;`, 'm').exec(read(`libs/domains/inboxes/src/intake/mail/${file}.ts`))![1],
      );
    const hooks = (await allSections()).flatMap((s) => Object.values(s.settings)).find(({ env }) => env === 'HOOK_BUFFER_BYTES')!;
    // By SMTP they are there twice while they are read; what comes by hooks is counted with its copies.
    const coming = 2 * inMail('smtp-listener', 'MAX_HELD_BYTES') + (hooks.schema.parse(undefined) as number) / 1024 ** 2;
    const w = workloads.find((each) => each.metadata.name === 'inbox-intake')!;
    expect(mebibytes(dig<string>(app(w), 'resources', 'limits', 'memory'))).toBeGreaterThanOrEqual(
      heapOf(w) + inMail('mail-reader', 'READERS') * inMail('reader-process', 'MEMORY_MIB') + coming,
    );
  });
});

describe('Every app', () => {
  const deployments = of('Deployment').filter((d) => labelsOf(d)['agent-platform/kind'] === 'app');

  it('is probed on the internal port', () => {
    for (const d of deployments) {
      const container = app(d);
      expect(container.ports).toEqual(expect.arrayContaining([{ name: 'internal', containerPort: 9090 }]));
      expect(dig(container, 'startupProbe', 'httpGet')).toEqual({ path: '/healthz', port: 'internal' });
      expect(dig(container, 'livenessProbe', 'httpGet')).toEqual({ path: '/healthz', port: 'internal' });
      expect(dig(container, 'readinessProbe', 'httpGet')).toEqual({ path: '/readyz', port: 'internal' });
    }
    expect(read('docker/Dockerfile')).toMatch(/INTERNAL_PORT=9090/);
  });

  it('listens for requests exactly when it has a Service', () => {
    for (const d of deployments)
      expect([title(d), dig<Fields[]>(app(d), 'ports').some((p) => p.name === 'http')]).toEqual([
        title(d),
        HTTP_APPS.includes(d.metadata.name),
      ]);
  });

  it('is never fewer than before while it is rolled out', () => {
    for (const d of deployments)
      expect(dig(d, 'spec', 'strategy')).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '25%' } });
  });

  it('is spread over zones and nodes', () => {
    for (const d of deployments)
      expect(dig<Fields[]>(podOf(d), 'topologySpreadConstraints').map((c) => c.topologyKey)).toEqual([
        'topology.kubernetes.io/zone',
        'kubernetes.io/hostname',
      ]);
  });

  it('adds turns in no more processes than the caps of organizations reckon with', () => {
    for (const folder of OVERLAYS.map((o) => `k8s/overlays/${o}`)) {
      const pods = ['api-gateway', ...RUN_APPS].map((name) => {
        const scaler = named('HorizontalPodAutoscaler', name, folder) ?? named('ScaledObject', name, folder);
        const { maxReplicas, maxReplicaCount } = (scaler?.spec ?? {}) as { maxReplicas?: number; maxReplicaCount?: number };
        // A rollout adds a quarter; but pods that end are not counted, and workers take minutes for it.
        expect(dig(named('Deployment', name, PRODUCTION), 'spec', 'strategy', 'rollingUpdate', 'maxSurge')).toBe('25%');
        return Math.ceil((maxReplicas ?? maxReplicaCount ?? 1) * (RUN_APPS.includes(name) ? 2 : 1.25));
      });
      const { TURN_SENDERS } = named('ConfigMap', 'aps-config', folder)?.data as Record<string, string>;
      expect(Number(TURN_SENDERS)).toBeGreaterThanOrEqual(pods.reduce((sum, n) => sum + n, 0));
    }
  });

  it('gets the time that its shutdown takes', async () => {
    const settings = (await allSections()).flatMap((s) => Object.values(s.settings));
    const fallback = (env: string) => settings.find((s) => s.env === env)?.schema.parse(undefined) as number;
    for (const folder of OVERLAYS.map((o) => `k8s/overlays/${o}`)) {
      const config = named('ConfigMap', 'aps-config', folder)?.data as Record<string, string>;
      const seconds = (env: string) => Number(config[env] ?? fallback(env)) / 1000;
      for (const name of APPS) {
        const d = named('Deployment', name, folder) as Resource;
        // Until who knows only readiness has seen that it is going, and has acted on it, the app must be reachable.
        const { periodSeconds, failureThreshold } = dig<{ periodSeconds: number; failureThreshold: number }>(app(d), 'readinessProbe');
        expect(seconds('SHUTDOWN_DELAY_MS')).toBeGreaterThanOrEqual(periodSeconds * failureThreshold + 5);
        // The delay begins with SIGTERM: of what clients call, a preStop would only put off when they are told. Who carries out runs ends them in it.
        const [node, script, patience = '0', ...rest] = dig<string[] | undefined>(app(d), 'lifecycle', 'preStop', 'exec', 'command') ?? [];
        expect([name, node, script, rest]).toEqual(
          RUN_APPS.includes(name) ? [name, 'node', 'drain.js', []] : [name, undefined, undefined, []],
        );
        expect(podOf(d)?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
          Number(patience) + seconds('SHUTDOWN_DELAY_MS') + seconds('SHUTDOWN_GRACE_MS') + 10,
        );
      }
    }
  });
});

describe('Settings and secrets', () => {
  const settingMaps = of('ConfigMap').filter(({ metadata }) => metadata.name === 'aps-config');

  it('are known to the configuration, every one of them', async () => {
    const known = new Set([...(await allSections()).flatMap((s) => Object.values(s.settings).map((x) => x.env)), ...FOREIGN_VARIABLES]);
    const used = new Set([
      ...workloads.flatMap(variables).map((v) => v.name),
      ...settingMaps.flatMap((c) => Object.keys(c.data as Fields)),
    ]);
    expect(used.size).toBeGreaterThan(10);
    expect([...used].filter((name) => !known.has(name))).toEqual([]);
  });

  it('pass every check of the configuration', async () => {
    const settings = (await allSections()).flatMap((s) => Object.values(s.settings));
    for (const config of settingMaps) {
      for (const [name, value] of Object.entries(config.data as Record<string, string>)) {
        for (const s of settings.filter((x) => x.env === name)) expect([name, s.schema.safeParse(value).success]).toEqual([name, true]);
      }
    }
  });

  it('hold no secret by value', async () => {
    const secrets = new Set(
      (await allSections())
        .flatMap((s) => Object.values(s.settings))
        .filter((s) => s.secret)
        .map((s) => s.env),
    );
    expect(of('Secret')).toEqual([]);
    for (const c of of('ConfigMap')) expect(Object.keys(c.data as Fields).filter((name) => secrets.has(name))).toEqual([]);
    for (const v of workloads.flatMap(variables)) {
      if (secrets.has(v.name) || /PASSWORD|SECRET|TOKEN$|_KEYS?$/.test(v.name))
        expect([v.name, v.value, v.valueFrom?.secretKeyRef?.name]).toEqual([v.name, undefined, 'aps-secrets']);
    }
  });

  it('deliver every secret that the configuration knows to some app', async () => {
    const secrets = (await allSections())
      .flatMap((s) => Object.values(s.settings))
      .filter((s) => s.secret)
      .map((s) => s.env);
    const delivered = new Set(
      of('Deployment', all.get(PRODUCTION))
        .flatMap(variables)
        .map((v) => v.name.replace(/_FILE$/, '')),
    );
    // Keys of model providers come as a whole, from the secret aps-provider-keys.
    expect(secrets.filter((name) => !delivered.has(name) && !name.endsWith('_API_KEY'))).toEqual([]);
  });

  it('give the internal secret to those who sign or verify with it, and the mail server to workers', () => {
    const holders = (name: string) =>
      of('Deployment', all.get(PRODUCTION))
        .filter((d) => variables(d).some((v) => v.name === name))
        .map((d) => d.metadata.name)
        .sort();
    expect(holders('INTERNAL_TOKEN_SECRET')).toEqual([...INTERNAL_APPS].sort());
    expect(holders('SMTP_URL')).toContain('chat-worker');
    expect(holders('SMTP_URL').filter((name) => HTTP_APPS.includes(name))).toEqual([]);
  });
});

describe('Scaling', () => {
  const production = all.get(PRODUCTION) ?? [];
  const scalers = [...of('HorizontalPodAutoscaler', production), ...of('ScaledObject', production)];

  it('covers every app, and nothing else sets the number of its pods', () => {
    const deployments = of('Deployment', production);
    expect(deployments.map((d) => d.metadata.name)).toEqual(expect.arrayContaining(APPS));
    expect(scalers.map((s) => dig(s, 'spec', 'scaleTargetRef', 'name')).sort()).toEqual(deployments.map((d) => d.metadata.name).sort());
    for (const d of deployments) expect(d.spec).not.toHaveProperty('replicas');
    for (const s of scalers)
      expect(dig<number>(s, 'spec', 'minReplicas') ?? dig<number>(s, 'spec', 'minReplicaCount')).toBeGreaterThanOrEqual(2);
  });

  it('of workers follows how many runs of each kind, and jobs that users wait for, wait for them and for how long, with CPU beside', () => {
    const asked = of('ScaledObject', production).flatMap((s) =>
      dig<Fields[]>(s, 'spec', 'triggers')
        .filter((t) => t.type === 'prometheus')
        .map((t) => [s.metadata.name, dig<string>(t, 'metadata', 'query'), t.metricType, Number(dig(t, 'metadata', 'threshold'))]),
    );
    for (const [kind, { app, job, ready_per_pod, scale_after_s }] of Object.entries(RUN_KINDS)) {
      const labels = `{kind="${kind}",namespace="agent-platform"}`;
      expect(asked).toContainEqual([app, `max(runs_ready${labels})`, 'AverageValue', ready_per_pod]);
      expect(asked).toContainEqual([app, `max(runs_oldest_ready_seconds${labels})`, 'Value', scale_after_s]);
      const own = variables(named('Deployment', app, PRODUCTION) as Resource).find((v) => v.name === 'QUEUES')?.value;
      if (own) expect([app, own.split(',')]).toEqual([app, expect.arrayContaining([JOBS[job].queue])]);
    }
    for (const [queue, { app, ready_per_pod, active_per_pod, scale_after_s }] of Object.entries(WAITED_QUEUES)) {
      const labels = `{queue="${queue}",namespace="agent-platform"}`;
      expect(asked).toContainEqual([app, `max(queue_ready${labels})`, 'AverageValue', ready_per_pod]);
      expect(asked).toContainEqual([app, `max(queue_oldest_ready_seconds${labels})`, 'Value', scale_after_s]);
      // What cannot be handed over keeps its pods.
      expect(asked).toContainEqual([app, `max(queue_active${labels})`, 'AverageValue', active_per_pod]);
    }
    for (const s of of('ScaledObject', production)) {
      expect(dig<Fields[]>(s, 'spec', 'triggers').map((t) => t.type)).toEqual(expect.arrayContaining(['prometheus', 'cpu']));
      const down = dig<Fields>(s, 'spec', 'advanced', 'horizontalPodAutoscalerConfig', 'behavior', 'scaleDown');
      expect(down.stabilizationWindowSeconds).toBeGreaterThanOrEqual(600);
    }
  });
});

it('What is made from the lists of apps, kinds of runs and queues is as they are: npm run manifests', () => {
  for (const [file, text] of manifests(APPS)) expect([file, read(file)]).toEqual([file, text]);
});

it('The migration runs in every overlay, with the image and the settings of the gateway', () => {
  for (const overlay of OVERLAYS) {
    const folder = `k8s/overlays/${overlay}`;
    const job = named('Job', 'migrate', `${folder}/migrate`) as Resource;
    expect(dig(app(job), 'command')).toEqual(['node', 'dist/bundles/migrate/main.js']);
    expect(app(job).image).toBe(app(named('Deployment', 'api-gateway', folder) as Resource).image);
    expect(named('ConfigMap', 'aps-config', `${folder}/migrate`)).toEqual(named('ConfigMap', 'aps-config', folder));
    expect(labelsOf(job)['app.kubernetes.io/part-of']).toBe('agent-platform');
  }
});
