import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { anchors, documents, links, metricNames, quoted, ROOT, settingNames, type Document } from './docs';

const all = documents();
/** Findings of all documents as `file: what`, so that a failure lists every one. */
const findings = (of: Document[], find: (document: Document) => string[]) => of.flatMap((document) => [...new Set(find(document))].map((what) => `${document.file}: ${what}`));

/** Upper-case words that are no settings: variables of the test run, statements and constants of the code. */
const NO_SETTINGS = new Set(['TEST_DATABASE_URL', 'TEST_REDIS_URL', 'TEST_LOG_LEVEL', 'COMMIT_STEP', 'COMMIT_FINAL_STEP', 'CAP_MARGIN', 'QUEUE_POLICY']);

it('there are documents', () => {
  expect(all.map(({ file }) => file)).toEqual(expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'docs/architecture.md', 'docs/operations/running.md']));
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
  const names = (document: Document) => quoted(document).flatMap((text) => text.split(/[=\s,]/)).filter(isSetting);
  expect(findings(all, (document) => names(document).filter((name) => !known.has(name) && !NO_SETTINGS.has(name)))).toEqual([]);
});

it('scripts that are named exist', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const own = new Set(['start', 'test']);
  const named = ({ text }: Document) => [...[...text.matchAll(/\bnpm run (?:-\S+ )*([a-z][\w-]*)/g)].map((match) => match[1]), ...[...text.matchAll(/`npm ([a-z]+)\b/g)].map((match) => match[1]).filter((name) => own.has(name))];
  expect(findings(all, (document) => named(document).filter((name) => !scripts[name]))).toEqual([]);
});

describe('metrics', () => {
  const registered = metricNames();
  const operations = all.filter(({ file }) => file.startsWith('docs/operations/'));

  it('that are named exist', () => {
    const isMetric = (text: string) => /^[a-z][a-z0-9]*(_[a-z0-9]+)*_(total|seconds)$/.test(text) && !/^(nodejs|process)_/.test(text);
    const names = (document: Document) => quoted(document).map((text) => text.replace(/\{.*$/, '')).filter(isMetric);
    expect(registered.size).toBeGreaterThan(10);
    expect(findings(operations, (document) => names(document).filter((name) => !registered.has(name)))).toEqual([]);
  });

  it('are all explained in docs/operations/running.md', () => {
    const { text } = operations.find(({ file }) => file.endsWith('/running.md'))!;
    expect([...registered].filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
  });
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
