import { JOBS, QUEUES, RUN_KINDS, WAITED_QUEUES, type WaitingPolicy } from '@aps/contracts';
import { stringify } from 'yaml';

/*
 * The manifests that name apps, kinds of runs and queues. What scales and alerts without naming any stands in k8s itself.
 */

const NAMESPACE = 'agent-platform';
const PROMETHEUS = 'http://prometheus-operated.monitoring.svc:9090';
/** As the monitor has Prometheus call the name of an app. */
const APP = 'app_kubernetes_io_name';
const INCIDENTS = 'docs/operations/incidents.md';
const HEAD = '# Made from the lists of apps, and of kinds of runs and of queues in libs/contracts, by `npm run manifests`.\n';

const kinds = Object.entries(RUN_KINDS);
const waited = Object.entries(WAITED_QUEUES);
/** Of a metric, every worker tells the same: the maximum, and no sum. */
const told = (metric: string, label: 'kind' | 'queue', value: string) => `${metric}{${label}="${value}",namespace="${NAMESPACE}"}`;

const trigger = (name: string, metricType: 'AverageValue' | 'Value', query: string, threshold: number) => ({
  type: 'prometheus',
  name,
  metricType,
  // No figure is no reason to shrink: it counts as an error, and the others decide.
  metadata: { serverAddress: PROMETHEUS, query: `max(${query})`, threshold: String(threshold), ignoreNullValues: 'false' },
});

const triggers = (label: 'kind' | 'queue', ready: string, oldest: string, policies: readonly [string, WaitingPolicy][], app: string) =>
  policies
    .filter(([, policy]) => policy.app === app)
    .flatMap(([name, policy]) => [
      trigger(`${name}-ready`, 'AverageValue', told(ready, label, name), policy.ready_per_pod),
      trigger(`${name}-age`, 'Value', told(oldest, label, name), policy.scale_after_s),
    ]);

/** What KEDA adds pods of an app by. */
const scaling = (app: string) => ({
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'ScaledObject',
  metadata: { name: app },
  spec: {
    triggers: [
      ...triggers('kind', 'runs_ready', 'runs_oldest_ready_seconds', kinds, app),
      ...triggers('queue', 'queue_ready', 'queue_oldest_ready_seconds', waited, app),
      // What runs waits no more: without this, the pods that were added for it would be scaled away under it at once.
      ...waited
        .filter(([, policy]) => policy.app === app)
        .map(([name, { active_per_pod }]) =>
          trigger(`${name}-active`, 'AverageValue', told('queue_active', 'queue', name), active_per_pod),
        ),
      // Works without Prometheus, and bounds what one event loop carries.
      { type: 'cpu', metricType: 'Utilization', metadata: { value: '70' } },
    ],
  },
});

const alert = (name: string, expr: string, since: string, severity: 'page' | 'ticket', summary: string, runbook: string) => ({
  alert: name,
  expr,
  for: since,
  labels: { severity },
  annotations: { summary, runbook: `${INCIDENTS}#${runbook}` },
});

const late = (label: 'kind' | 'queue', oldest: string, policies: readonly [string, WaitingPolicy][]) =>
  policies.map(([name, policy]) => `max by (${label}) (${told(oldest, label, name)}) > ${policy.late_after_s}`).join('\nor ');

/** Queues whose waiting is told by alerts of their own. */
const heeded = [...new Set([...kinds.map(([, { job }]) => JOBS[job].queue), ...waited.map(([queue]) => queue)])];
const alerts = (apps: readonly string[]) => ({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name: 'agent-platform-work', labels: { 'app.kubernetes.io/part-of': 'agent-platform' } },
  spec: {
    groups: [
      {
        name: 'agent-platform-work',
        rules: [
          alert(
            'AppAway',
            [
              `max by (${APP}) (app_ready{namespace="${NAMESPACE}"}) < 1`,
              ...apps.map((app) => `absent(app_ready{${APP}="${app}",namespace="${NAMESPACE}"})`),
            ].join('\nor '),
            '3m',
            'page',
            `No pod of {{ $labels.${APP} }} is ready`,
            'an-app-is-away',
          ),
          alert(
            'QueueWithoutWorker',
            QUEUES.map((queue) => `absent(${told('worker_jobs_running', 'queue', queue)})`).join('\nor '),
            '5m',
            'page',
            'A queue has no worker: nothing takes its jobs',
            'a-queue-without-a-worker',
          ),
          alert(
            'RunsWait',
            late('kind', 'runs_oldest_ready_seconds', kinds),
            '5m',
            'page',
            'Runs of the kind {{ $labels.kind }} have waited for a worker for {{ $value }} s',
            'work-waits',
          ),
          alert(
            'JobsWait',
            late('queue', 'queue_oldest_ready_seconds', waited),
            '5m',
            'page',
            'Jobs of the queue {{ $labels.queue }}, for which users wait, have waited for a worker for {{ $value }} s',
            'work-waits',
          ),
          alert(
            'WorkWaits',
            `max by (queue) (queue_oldest_ready_seconds{namespace="${NAMESPACE}",queue!~"${heeded.join('|')}"}) > 300`,
            '10m',
            'ticket',
            'Jobs of the queue {{ $labels.queue }} have waited for a worker for {{ $value }} s',
            'work-waits',
          ),
        ],
      },
    ],
  },
});

/** @param apps all that is deployed @returns the files by their paths from the root */
export function manifests(apps: readonly string[]): Map<string, string> {
  const scaled = [...new Set(kinds.map(([, { app }]) => app))];
  const files: [string, object][] = [
    ...scaled.map((app): [string, object] => [`k8s/base/${app}/triggers.yaml`, scaling(app)]),
    ['k8s/components/monitoring/work.yaml', alerts(apps)],
  ];
  return new Map(files.map(([file, content]) => [file, HEAD + stringify(content, { lineWidth: 0, singleQuote: true })]));
}
