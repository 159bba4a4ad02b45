import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isInstalled } from '../../apps/api-gateway-e2e/support';
import { ERRORS, QUEUES, RUN_KINDS, WAITED_QUEUES } from '@aps/contracts';
import { anchors, metricLabels } from '../tour/docs';
import { APPS, at, read } from './files';
import { containersOf, dig, podOf, render, type Fields, type Resource } from './kustomize';
import { ALERTS, ASKED, BOARDS, RULES, SCALING } from './monitoring';
import { askedBy, faultsOf, metricOf } from './promql';

const INCIDENTS = 'docs/operations/incidents.md';

const PRODUCTION = render(at('k8s/overlays/production'));
const of = (kind: string) => PRODUCTION.filter((resource) => resource.kind === kind);

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

  it.each(ASKED)('that %s asks for exist, with their labels: %s', (_, expression) => {
    const registered = metricLabels();
    // What stands beside an `or` has groups of its own.
    const asked = expression
      .split(/\bor (?=\w+[ (])/)
      .map(askedBy)
      .flatMap(({ metrics, groups }) => metrics.map((m) => ({ ...m, groups })));
    expect(asked.length).toBeGreaterThan(0);
    for (const { metric, labels, groups } of asked) {
      // Node's own have no labels of ours.
      const own = metric.startsWith('nodejs_') ? [] : registered.get(metricOf(metric));
      expect([metric, own]).toEqual([metric, expect.any(Array)]);
      const known = [...TARGET_LABELS, ...(own ?? []), ...(metric.endsWith('_bucket') ? ['le'] : [])];
      expect([metric, [...labels.keys(), ...groups].filter((label) => !known.includes(label))]).toEqual([metric, []]);
      // Another installation in the cluster is none of this one's business.
      expect([metric, labels.get('namespace')]).toEqual([metric, monitor.metadata.namespace]);
    }
  });

  it.each(ASKED)('that %s asks for are asked as their kind allows: %s', (_, expression) => {
    expect(faultsOf(expression)).toEqual([]);
  });

  it('have no label that grows with the organizations, their agents or their chats', () => {
    const unbounded = /^(org|organization|agent|chat|turn|user|member|team|request|job)_?(id|slug|name)?$/;
    // The names of our own jobs.
    const labels = [...metricLabels()].flatMap(([metric, names]) => names.filter((name) => name !== 'job').map((name) => [metric, name]));
    expect(labels.filter(([, name]) => unbounded.test(name))).toEqual([]);
  });

  it('alert with a severity, after a time, and with the part of the page of incidents that says what to do', () => {
    expect(ALERTS.length).toBeGreaterThan(5);
    expect(new Set(ALERTS.map(({ alert }) => alert)).size).toBe(ALERTS.length);
    const headings = [...anchors(readFileSync(at(INCIDENTS), 'utf8'))].map((anchor) => `${INCIDENTS}#${anchor}`);
    for (const { alert, expr, for: since, labels, annotations } of ALERTS) {
      expect([alert, labels.severity, since]).toEqual([
        alert,
        expect.stringMatching(/^(page|ticket)$/),
        expect.stringMatching(/^\d+[smh]$/),
      ]);
      expect([alert, headings]).toEqual([alert, expect.arrayContaining([annotations.runbook])]);
      // A label that a summary names is one that its expression leaves.
      const { groups } = askedBy(expr);
      const named = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
      expect([alert, named.filter((label) => !groups.includes(label))]).toEqual([alert, []]);
    }
  });

  it('alert when runs of a kind wait, when a queue has no worker, and when either gives up', () => {
    const named = (name: string) => askedBy(ALERTS.find(({ alert }) => alert === name)?.expr ?? '').metrics;
    const valuesOf = (name: string, metric: string, label: string) =>
      named(name).flatMap((asked) => (asked.metric === metric ? asked.labels.get(label) : []));
    expect(valuesOf('RunsWait', 'runs_oldest_ready_seconds', 'kind')).toEqual(Object.keys(RUN_KINDS));
    expect(valuesOf('JobsWait', 'queue_oldest_ready_seconds', 'queue')).toEqual(Object.keys(WAITED_QUEUES));
    expect(valuesOf('QueueWithoutWorker', 'worker_jobs_running', 'queue')).toEqual([...QUEUES]);
    // Of every kind and job, without a list of them.
    for (const name of ['RunsFail', 'RunsGivenUp', 'RunsStuck', 'WorkersDie', 'DeadLetters'])
      for (const { metric, labels } of named(name))
        expect([name, metric, labels.has('kind') || labels.has('job')]).toEqual([name, metric, false]);
  });

  it('alert before commands that wait are given up', () => {
    const given = /^const MAX_QUEUED_MS = (\d+) \* 60_000;/m.exec(read('libs/domains/environments/src/commands/commands.service.ts'))![1];
    const alerts = ALERTS.filter(({ expr }) => /queue_oldest_ready_seconds.*> \d/.test(expr)).filter(({ expr }) => {
      const [but] = /(?<=queue!~")[^"]+/.exec(expr) ?? [];
      return but ? !but.split('|').includes('environments') : expr.includes('queue="environments"');
    });
    expect(alerts.map(({ alert }) => alert)).toEqual(['JobsWait']);
    expect(WAITED_QUEUES.environments.late_after_s).toBeLessThan(Number(given) * 60);
  });

  it('alert when no pod of an app is ready, or none is there to tell', () => {
    const [ready, ...absent] = askedBy(ALERTS.find(({ alert }) => alert === 'AppAway')?.expr ?? '').metrics;
    expect([ready.metric, [...ready.labels.keys()]]).toEqual(['app_ready', ['namespace']]);
    expect(absent.map(({ metric, labels }) => [metric, labels.get('app_kubernetes_io_name')])).toEqual(
      APPS.map((app) => ['app_ready', app]),
    );
  });

  it('page nobody for what an organization or a third party does', () => {
    const exprOf = (name: string) => ALERTS.find(({ alert }) => alert === name)!.expr;
    expect(/outcome=~"([^"]+)"/.exec(exprOf('RunsFail'))?.[1].split('|')).not.toContain('unsuccessful');
    const told = new RegExp(`^(?:${/status=~"([^"]+)"/.exec(exprOf('ServerErrors'))![1]})$`);
    const statuses = new Set(Object.values(ERRORS).map(({ status }) => status));
    expect([...statuses].filter((status) => told.test(String(status)))).toEqual([500, 503]);
    expect(exprOf('ServerErrors')).toContain('rate(proxy_failures_total');
    expect(exprOf('ProviderErrors')).toContain('route!="own"');
    // A mail whose server puts it off waits by itself; several that wait say that none is taken.
    expect(exprOf('MailsDoNotLeave')).toMatch(
      /and \(sum\(increase\(mail_tries_total\{[^}]*outcome="unreachable"\}\[2h\]\)\) > 0\s+or max\(mails_waiting\{[^}]*\}\) > 4\)/,
    );
  });

  it('add nothing to what may not be there: a status that nothing was answered with has no series, and with it there would be no sum', () => {
    const added = ALERTS.flatMap(({ alert, expr }) => {
      const terms = expr.split(/\s\+\s/);
      return terms.length > 1 ? terms.map((term) => [alert, /\bor vector\(0\)\)/.test(term)]) : [];
    });
    expect(added).toEqual([
      ['ServerErrors', true],
      ['ServerErrors', true],
    ]);
  });

  it('alert when PostgreSQL is away, and with it all that is computed from its rows and every request, which the ingress answers by itself', () => {
    const stuck = ALERTS.find(({ alert }) => alert === 'OutboxStuck');
    expect(stuck?.expr).toContain(`or absent(outbox_oldest_seconds{namespace="${monitor.metadata.namespace}"})`);
  });

  it('alert when what comes in from outside reaches no app behind the gateway, which counts what it answers in its place', () => {
    for (const [name, path] of [
      ['DeliveriesFail', '/api/webhooks'],
      ['InboxDoorFails', '/api/hooks'],
    ]) {
      const asked = askedBy(ALERTS.find(({ alert }) => alert === name)?.expr ?? '').metrics;
      expect([name, asked.find(({ metric }) => metric === 'proxy_failures_total')?.labels.get('path')]).toEqual([name, path]);
    }
  });

  const promtool = isInstalled('promtool');
  it(`alert by rules that ${promtool ? 'promtool takes' : 'have nothing that Prometheus does not know'}`, () => {
    for (const { groups } of RULES) {
      for (const { name, rules, ...rest } of groups) {
        expect([name, Object.keys(rest)]).toEqual([expect.stringMatching(/^[\w-]+$/), []]);
        for (const rule of rules) expect(Object.keys(rule).sort()).toEqual(['alert', 'annotations', 'expr', 'for', 'labels']);
      }
      if (!promtool) continue;
      const folder = mkdtempSync(path.join(tmpdir(), 'aps-rules-'));
      writeFileSync(path.join(folder, 'rules.json'), JSON.stringify({ groups }));
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', path.join(folder, 'rules.json')], { encoding: 'utf8' });
      rmSync(folder, { recursive: true });
      expect([status, status === 0 || stdout + stderr]).toEqual([0, true]);
    }
  });

  it('are shown by dashboards of inboxes, money, processes, queues and turns, each panel in its place', () => {
    expect([...BOARDS.keys()].sort()).toEqual(['inboxes.json', 'money.json', 'processes.json', 'queues.json', 'turns.json']);
    expect(new Set([...BOARDS.values()].map(({ uid }) => uid)).size).toBe(BOARDS.size);
    for (const { title, panels, templating } of BOARDS.values()) {
      const [source] = templating.list.filter(({ type }) => type === 'datasource');
      expect([title, new Set(panels.map(({ id }) => id)).size, new Set(panels.map((panel) => panel.title)).size]).toEqual([
        title,
        panels.length,
        panels.length,
      ]);
      const places = new Set<string>();
      for (const panel of panels) {
        expect([panel.title, panel.datasource.uid]).toEqual([panel.title, `\${${source.name}}`]);
        const { x, y, w, h } = panel.gridPos;
        for (let column = x; column < x + w; column++) for (let row = y; row < y + h; row++) places.add(`${column} ${row}`);
        expect([panel.title, x + w <= 24]).toEqual([panel.title, true]);
        for (const { expr, legendFormat } of panel.targets) {
          const { groups } = askedBy(expr);
          const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
          expect([panel.title, [...named].sort()]).toEqual([panel.title, [...new Set(groups)].filter((label) => label !== 'le').sort()]);
        }
        expect(new Set(panel.targets.map(({ refId }) => refId)).size).toBe(panel.targets.length);
      }
      expect([title, places.size]).toEqual([title, panels.reduce((sum, { gridPos }) => sum + gridPos.w * gridPos.h, 0)]);
    }
  });

  it('are asked for deliveries that went wrong by those that are open: of all that ever did, the number never falls', () => {
    const asked = ASKED.flatMap(([, expression]) => askedBy(expression).metrics).filter(({ metric }) => metric === 'billing_events');
    expect(asked.map(({ labels }) => labels.get('status'))).toEqual(['received']);
  });

  it('let KEDA ask the Prometheus of the operator', () => {
    for (const { serverAddress } of SCALING) expect(serverAddress).toBe('http://prometheus-operated.monitoring.svc:9090');
  });
});
