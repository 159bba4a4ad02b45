import { at } from './files';
import { render, type Fields } from './kustomize';

const PRODUCTION = render(at('k8s/overlays/production'));
const of = (kind: string) => PRODUCTION.filter((resource) => resource.kind === kind);

/** An alert of the Prometheus operator. */
export interface Alert {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

/** As a file of Prometheus has them. */
export const RULES = of('PrometheusRule').map((rule) => rule.spec as unknown as { groups: { name: string; rules: Alert[] }[] });
export const ALERTS = RULES.flatMap(({ groups }) => groups).flatMap(({ rules }) => rules);

/** A dashboard, as far as it is checked. */
export interface Board {
  uid: string;
  title: string;
  templating: { list: { name: string; type: string }[] };
  panels: {
    id: number;
    title: string;
    datasource: { uid: string };
    gridPos: { h: number; w: number; x: number; y: number };
    targets: { refId: string; expr: string; legendFormat: string }[];
  }[];
}

/** By the names of their files. */
export const BOARDS = new Map(
  of('ConfigMap')
    .filter(({ metadata }) => metadata.labels?.grafana_dashboard === '1')
    .flatMap(({ data }) => Object.entries(data as Record<string, string>))
    .map(([file, text]) => [file, JSON.parse(text) as Board]),
);

/** What KEDA asks Prometheus for. */
export const SCALING = of('ScaledObject').flatMap(({ spec }) =>
  ((spec as Fields).triggers as Fields[])
    .filter(({ type }) => type === 'prometheus')
    .map(({ metadata }) => metadata as { query: string; serverAddress: string }),
);

/** Every expression that Prometheus is asked, with who asks. */
export const ASKED: [who: string, expression: string][] = [
  ...SCALING.map(({ query }): [string, string] => ['KEDA', query]),
  ...ALERTS.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...[...BOARDS].flatMap(([file, { panels }]) =>
    panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [`${file}: ${title}`, expr])),
  ),
];
