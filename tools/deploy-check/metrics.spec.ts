import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { anchors, metricLabels } from '../tour/docs';
import { APPS, at } from './files';
import { containersOf, podOf, render, type Fields, type Resource } from './kustomize';
import { askedBy, metricOf } from './promql';

const PRODUCTION = render(at('k8s/overlays/production'));
const of = (kind: string) => PRODUCTION.filter((resource) => resource.kind === kind);
const dig = <T>(from: unknown, ...keys: (string | number)[]): T =>
  keys.reduce<unknown>((value, key) => (value as Fields | undefined)?.[key], from) as T;

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}
const alerts = of('PrometheusRule').flatMap((rule) => dig<{ rules: Alert[] }[]>(rule, 'spec', 'groups').flatMap((group) => group.rules));
const queries = of('ScaledObject').flatMap((s) =>
  dig<Fields[]>(s, 'spec', 'triggers')
    .filter((t) => t.type === 'prometheus')
    .map((t) => dig<Record<string, string>>(t, 'metadata')),
);
const [monitor, ...others] = of('PodMonitor');

/** What the operator adds to each sample, and what the monitor asks it to add. */
const TARGET_LABELS = [
  'namespace',
  'pod',
  'container',
  ...dig<string[]>(monitor, 'spec', 'podTargetLabels').map((label) => label.replace(/[^\w]/g, '_')),
];

describe('Metrics in the cluster', () => {
  it('are found in one way: the monitor selects the internal port of every app', () => {
    expect(others).toEqual([]);
    const selector = dig<Record<string, string>>(monitor, 'spec', 'selector', 'matchLabels');
    const [endpoint] = dig<{ port: string; path: string }[]>(monitor, 'spec', 'podMetricsEndpoints');
    for (const app of APPS) {
      const deployment = of('Deployment').find((d) => d.metadata.name === app) as Resource;
      expect(dig(deployment, 'spec', 'template', 'metadata', 'labels')).toMatchObject(selector);
      expect(deployment.metadata.namespace).toBe(monitor.metadata.namespace);
      expect(containersOf(deployment).flatMap((c) => dig<Fields[]>(c, 'ports').map((port) => port.name))).toContain(endpoint.port);
    }
    expect(endpoint.path).toBe('/metrics');
    const annotations = PRODUCTION.flatMap((r) => [
      r.metadata.annotations,
      podOf(r) && dig(r, 'spec', 'template', 'metadata', 'annotations'),
    ]);
    expect(JSON.stringify(annotations)).not.toContain('prometheus.io/');
  });

  it.each([...queries.map(({ query }) => ['KEDA', query]), ...alerts.map(({ alert, expr }) => [alert, expr])])(
    'that %s asks for exist, with their labels: %s',
    (_, expression) => {
      const registered = metricLabels();
      const { metrics, groups } = askedBy(expression);
      expect(metrics.length).toBeGreaterThan(0);
      for (const { metric, labels } of metrics) {
        // Node's own have no labels of ours.
        const own = metric.startsWith('nodejs_') ? [] : registered.get(metricOf(metric));
        expect([metric, own]).toEqual([metric, expect.any(Array)]);
        expect([metric, [...labels.keys(), ...groups].filter((label) => ![...TARGET_LABELS, ...(own ?? [])].includes(label))]).toEqual([
          metric,
          [],
        ]);
        // Another installation in the cluster is none of this one's business.
        expect([metric, labels.get('namespace')]).toEqual([metric, monitor.metadata.namespace]);
      }
    },
  );

  it('alert with a severity, and with the page that says what to do', () => {
    expect(alerts.length).toBeGreaterThan(5);
    for (const { alert, labels, annotations } of alerts) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)]);
      const [file, anchor] = annotations.runbook.split('#');
      expect([alert, existsSync(at(path.normalize(file)))]).toEqual([alert, true]);
      if (anchor) expect([alert, [...anchors(readFileSync(at(file), 'utf8'))]]).toEqual([alert, expect.arrayContaining([anchor])]);
      // A label that a summary names is one that its expression leaves.
      const { groups } = askedBy(alerts.find((other) => other.alert === alert)!.expr);
      expect([
        alert,
        [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label).filter((label) => !groups.includes(label)),
      ]).toEqual([alert, []]);
    }
  });

  it('let KEDA ask the Prometheus of the operator', () => {
    for (const { serverAddress } of queries) expect(serverAddress).toBe('http://prometheus-operated.monitoring.svc:9090');
  });
});
