import { allSections } from '../env-example/sections';
import { at, read } from './files';
import { containersOf, podOf, render, type Fields, type Resource } from './kustomize';

const PRODUCTION = 'k8s/overlays/production';
const COMPONENTS = ['sandbox', 'sandbox-egress-public'].map((name) => at(`k8s/components/${name}`));

const title = ({ kind, metadata }: Resource) => `${kind} ${metadata.namespace}/${metadata.name}`;
const [without, closed, open] = [[], COMPONENTS.slice(0, 1), COMPONENTS].map((components) => render(at(PRODUCTION), ...components));
const added = (to: Resource[], by: Resource[]) => by.filter((r) => !to.some((other) => title(other) === title(r)));
const find = (resources: Resource[], name: string) => resources.find((r) => title(r) === name) as Resource;
const engine = (resources: Resource[]) => find(resources, 'Deployment agent-platform/process-engine');
const variables = (r: Resource) =>
  Object.fromEntries((containersOf(r)[0].env as unknown as { name: string; value?: string }[]).map(({ name, value }) => [name, value]));

it('comes with components that production names last, and leaves out', () => {
  const named = read(`${PRODUCTION}/kustomization.yaml`).match(/- \.\.\/\.\.\/components\/\S+/g) ?? [];
  expect(named.slice(-2)).toEqual(['- ../../components/sandbox', '- ../../components/sandbox-egress-public']);
  expect(added(without, closed).map(title).sort()).toEqual(
    [
      ...['LimitRange', 'NetworkPolicy'].map(
        (kind) => `${kind} agent-platform-sandbox/${kind === 'LimitRange' ? 'sandboxes' : 'default-deny'}`,
      ),
      'NetworkPolicy agent-platform/egress-cluster-api',
      ...['ResourceQuota', 'Role', 'RoleBinding'].map((kind) => `${kind} agent-platform-sandbox/sandboxes`),
      'Namespace undefined/agent-platform-sandbox',
    ].sort(),
  );
});

it('lets process-engine alone ask for pods, in that namespace alone, by a token that nobody else has', () => {
  const { rules } = find(closed, 'Role agent-platform-sandbox/sandboxes') as unknown as {
    rules: { resources: string[]; verbs: string[] }[];
  };
  expect(rules.flatMap(({ resources }) => resources)).toEqual(['pods', 'pods/exec', 'persistentvolumeclaims']);
  expect(JSON.stringify(rules)).not.toContain('*');
  const { subjects } = find(closed, 'RoleBinding agent-platform-sandbox/sandboxes') as unknown as { subjects: Fields[] };
  expect(subjects).toEqual([{ kind: 'ServiceAccount', name: podOf(engine(closed))!.serviceAccountName, namespace: 'agent-platform' }]);
  expect(closed.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([]);
  const holders = closed.filter((r) => JSON.stringify(podOf(r) ?? {}).includes('serviceAccountToken'));
  expect(holders.map(title)).toEqual(['Deployment agent-platform/process-engine']);
  const [mount] = (containersOf(engine(closed))[0].volumeMounts as Fields[]).filter(({ name }) => name === 'cluster');
  expect(mount).toEqual({ name: 'cluster', mountPath: variables(engine(closed)).SANDBOX_K8S_CREDENTIALS, readOnly: true });
});

it('is set as the service reads it', async () => {
  const settings = (await allSections()).flatMap((section) => Object.values(section.settings));
  const set = Object.entries(variables(engine(open))).filter(([name]) => name.startsWith('SANDBOX_'));
  expect(set).toHaveLength(4);
  for (const [name, value] of set)
    expect([name, settings.find(({ env }) => env === name)?.schema.safeParse(value).success]).toEqual([name, true]);
  expect(set).toContainEqual(['SANDBOX_NAMESPACE', find(closed, 'Namespace undefined/agent-platform-sandbox').metadata.name]);
});

it('lets sandboxes reach nothing, or the internet without what is near', () => {
  const policies = (resources: Resource[]) => resources.filter((r) => title(r).startsWith('NetworkPolicy agent-platform-sandbox/'));
  expect(policies(closed).map(({ spec }) => spec)).toEqual([{ podSelector: {}, policyTypes: ['Ingress', 'Egress'] }]);
  const [, publicly] = policies(open).map(({ spec }) => spec as unknown as Egress);
  expect(publicly.podSelector).toEqual({ matchLabels: { 'agent-platform/sandbox-egress': variables(engine(open)).SANDBOX_EGRESS } });
  const blocks = publicly.egress.flatMap(({ to }) => to).flatMap(({ ipBlock }) => ipBlock ?? []);
  expect(blocks.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '2000::/3']);
  for (const near of [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '169.254.0.0/16',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '168.63.129.16/32',
  ])
    expect(blocks[0].except).toContain(near);
});

interface Egress {
  podSelector: object;
  egress: { to: { ipBlock?: { cidr: string; except: string[] } }[] }[];
}
