import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { JOBS, QUEUE_POLICY, QUEUES } from '@aps/contracts';
import { anchors, codeWords, documents, links, metricLabels, quoted, ROOT, settingNames, type Document } from './docs';

const all = documents();
/** Findings of all documents as `file: what`, so that a failure lists every one. */
const findings = (of: Document[], find: (document: Document) => string[]) =>
  of.flatMap((document) => [...new Set(find(document))].map((what) => `${document.file}: ${what}`));

/** Upper-case words that are no settings: variables of the test run, of compose and of its PostgreSQL, statements and constants of the code. */
const NO_SETTINGS = new Set([
  'COMPOSE_PROFILES',
  'POSTGRES_PASSWORD',
  'TEST_DATABASE_URL',
  'TEST_REDIS_URL',
  'TEST_LOG_LEVEL',
  'TEST_ROLLING_RESTARTS',
  'BENCH_PEERS',
  'RECORD_JOURNALS',
  'ENGINE_VERSION',
  'FUZZ_REQUESTS',
  'FUZZ_SEED',
  'MODEL_PRICE_DATASET_URL',
  'DEMO_TOOLS_API_KEY',
  'WEBHOOK_URL',
  'WEBHOOK_SECRET',
  'COMMIT_STEP',
  'COMMIT_FINAL_STEP',
  'CAP_MARGIN',
  'QUEUE_POLICY',
  'NO_CALLER',
]);

/** Names that are of others: errors and commands of Redis, Node.js, PostgreSQL and its pooler. */
const NAMES_OF_OTHERS = new Set(['MISCONF', 'OOM', 'FLUSHDB', 'EDNS', 'EAUTH', 'LISTEN', 'RECONNECT']);

it('there are documents', () => {
  expect(all.map(({ file }) => file)).toEqual(
    expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'docs/architecture.md', 'docs/operations/running.md']),
  );
});

it('links lead somewhere', () => {
  const broken = findings(all, ({ file, text }) =>
    links({ file, text }).filter((link) => {
      const [target, anchor] = link.split('#');
      const to = target ? path.resolve(ROOT, path.dirname(file), target) : path.join(ROOT, file);
      if (!existsSync(to)) return true;
      return anchor !== undefined && to.endsWith('.md') && !anchors(readFileSync(to, 'utf8')).has(anchor);
    }),
  );
  expect(broken).toEqual([]);
});

it('paths that are named exist', () => {
  // A .env is the reader's own.
  const isPath = (text: string) => /^(apps|libs|tools|docs|docker|k8s|openapi|\.ci)\/[\w./-]+$/.test(text) && !text.endsWith('/.env');
  expect(findings(all, (document) => quoted(document).filter((text) => isPath(text) && !existsSync(path.join(ROOT, text))))).toEqual([]);
});

it('settings that are named exist', () => {
  const known = settingNames();
  const isSetting = (text: string) => /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(text);
  const names = (document: Document) =>
    quoted(document)
      .flatMap((text) => text.split(/[=\s,]/))
      .filter(isSetting);
  expect(findings(all, (document) => names(document).filter((name) => !known.has(name) && !NO_SETTINGS.has(name)))).toEqual([]);
});

it('names of the code that are named exist', () => {
  const known = codeWords();
  // Decisions and changes tell of what was once.
  const present = all.filter(({ file }) => !file.startsWith('docs/adr/') && file !== 'CHANGELOG.md');
  // Settings are looked at above.
  const names = (document: Document) =>
    quoted(document).flatMap((text) => /^@?([A-Za-z][A-Za-z0-9]*[A-Z][A-Za-z0-9]*)(\.\w+)?(\([^)]*\))?$/.exec(text)?.[1] ?? []);
  expect(present.flatMap(names).length).toBeGreaterThan(100);
  expect(findings(present, (document) => names(document).filter((name) => !known.has(name) && !NAMES_OF_OTHERS.has(name)))).toEqual([]);
});

it('operations that are named exist', () => {
  const { paths } = JSON.parse(readFileSync(path.join(ROOT, 'openapi/openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const operations = Object.entries(paths).flatMap(([at, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${at}`),
  );
  const shape = (text: string) => text.replace(/\{[^}]*\}/g, '{}');
  const exists = (named: string) => {
    const [method, at] = named.replace(/\?.*$/, '').split(' ');
    return operations.some(
      (operation) =>
        shape(operation) === shape(`${method} ${at}`) ||
        (at.startsWith('…') && operation.startsWith(`${method} `) && shape(operation).endsWith(shape(at.slice(1)))),
    );
  };
  const operationsIn = (document: Document) => quoted(document).filter((text) => /^(GET|POST|PUT|PATCH|DELETE) (\/api|…)\/\S+$/.test(text));
  expect(all.flatMap(operationsIn).length).toBeGreaterThan(5);
  expect(findings(all, (document) => operationsIn(document).filter((named) => !exists(named)))).toEqual([]);
});

it('scripts that are named exist', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const own = new Set(['start', 'test']);
  const named = ({ text }: Document) => [
    ...[...text.matchAll(/\bnpm run (?:-\S+ )*([a-z][\w-]*)/g)].map((match) => match[1]),
    ...[...text.matchAll(/`npm ([a-z]+)\b/g)].map((match) => match[1]).filter((name) => own.has(name)),
  ];
  expect(findings(all, (document) => named(document).filter((name) => !scripts[name]))).toEqual([]);
});

it('every queue is in the list of queues, with its jobs', () => {
  const { text } = all.find(({ file }) => file === 'docs/operations/scaling.md')!;
  const rows = QUEUES.map((queue) => {
    const jobs = Object.entries(JOBS).flatMap(([job, policy]) => (policy.queue === queue ? [`\`${job}\``] : []));
    const setting = `CONCURRENCY_${queue.replaceAll('-', '_').toUpperCase()}`;
    return `| \`${queue}\` | ${jobs.join(', ')} | ${QUEUE_POLICY[queue].concurrency} | \`${setting}\` |`;
  });
  expect(rows.filter((row) => !text.includes(row))).toEqual([]);
});

describe('metrics', () => {
  const registered = metricLabels();
  const operations = all.filter(({ file }) => file.startsWith('docs/operations/'));
  const isMetric = (text: string) =>
    registered.has(text) || (/^[a-z][a-z0-9]*(_[a-z0-9]+)*_(total|seconds)$/.test(text) && !/^(nodejs|process)_/.test(text));

  it('that are named exist, with the labels that are named', () => {
    const named = (document: Document) =>
      quoted(document)
        .map((text) => /^([a-z_0-9]+)(?:\{(.*)\})?$/.exec(text))
        .flatMap((match) =>
          match && isMetric(match[1])
            ? [{ name: match[1], labels: [...(match[2] ?? '').matchAll(/(\w+)[=!]/g)].map(([, label]) => label) }]
            : [],
        );
    expect(registered.size).toBeGreaterThan(10);
    expect(operations.flatMap(named).filter(({ labels }) => labels.length).length).toBeGreaterThan(3);
    expect(
      findings(operations, (document) =>
        named(document)
          .filter(({ name, labels }) => labels.some((label) => !registered.get(name)?.includes(label)) || !registered.has(name))
          .map(({ name, labels }) => `${name} ${labels.join()}`),
      ),
    ).toEqual([]);
  });

  it('are all explained in docs/operations/running.md, with their labels', () => {
    const { text } = operations.find(({ file }) => file.endsWith('/running.md'))!;
    expect(
      [...registered]
        .map(([name, labels]) => `| \`${name}\` | ${labels.join(', ')} |`.replace('|  |', '| |'))
        .filter((row) => !text.includes(row)),
    ).toEqual([]);
  });
});

it('a restore waits for every pod of an app, for as long as workers may take to end', () => {
  const grace = Number(
    /terminationGracePeriodSeconds: (\d+)/.exec(readFileSync(path.join(ROOT, 'k8s/components/workload/worker.yaml'), 'utf8'))![1],
  );
  const { text } = all.find(({ file }) => file === 'docs/operations/restoring.md')!;
  const [scaled, waited] = [/scale deployment (.+) --replicas=0\n/, /wait --for=delete pod (.+) --timeout=/].map(
    (by) => by.exec(text)?.[1],
  );
  expect([scaled, waited]).toEqual(['-l agent-platform/kind=app', '-l agent-platform/kind=app']);
  expect(Number(/wait --for=delete .*--timeout=(\d+)s/.exec(text)?.[1])).toBeGreaterThan(grace);
});

it('what draining does not wait for is told with how long it waits', () => {
  const patience = /drain\.js, '(\d+)'/.exec(readFileSync(path.join(ROOT, 'k8s/components/workload/worker.yaml'), 'utf8'))![1];
  const parts = ['scaling', 'deploying'].map((page) => {
    const { text } = all.find(({ file }) => file === `docs/operations/${page}.md`)!;
    return text.slice(text.indexOf('\n## Draining')).replace(/(?<=.)\n## [^]*/, '');
  });
  for (const part of parts) {
    expect(part).toContain(` ${patience} s`);
    expect(part).toMatch(/commands? of .*sandbox(es)?\b.* cut off/is);
  }
});

it('every decision is in the list of decisions', () => {
  const records = all.filter(({ file }) => /^docs\/adr\/\d{4}-/.test(file));
  const list = all.find(({ file }) => file === 'docs/adr/README.md')!;
  expect(records.length).toBeGreaterThan(0);
  for (const { file, text } of records) {
    const title = text.slice(2, text.indexOf('\n'));
    expect(list.text).toContain(`[${title.slice(0, 4)}](${path.basename(file)}) | ${title.slice(5)} |`);
  }
});
