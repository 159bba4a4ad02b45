import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { operationsOf, resolve, type Document, type Operation } from './testing/document';

const ROOT = path.join(__dirname, '../..');
const document = JSON.parse(readFileSync(path.join(ROOT, 'openapi/openapi.json'), 'utf8')) as Document;
const gets = operationsOf(document).filter(({ method }) => method === 'GET');
const idsOf = (operations: typeof gets) => operations.map(({ path: p }) => `GET ${p}`).sort();

const answerOf = ({ responses }: Operation) => resolve(document, responses['200']?.content?.['application/json']?.schema);
const takes = ({ parameters = [] }: Operation, name: string) => parameters.some((parameter) => parameter.name === name);
const isPage = (op: Operation) => ['items', 'total', 'next_offset'].every((field) => answerOf(op).properties?.[field]);
const isArray = (op: Operation) => answerOf(op).type === 'array';

interface Told {
  read: string[];
  bounded: [string, { cap: string; where: string }][];
  whole: string[];
  figures: string[];
}

/** What the benchmark declares; an ES module, which Jest does not load. */
function told(): Told {
  const lists = pathToFileURL(path.join(ROOT, 'tools/bench/sections/growth/lists.mjs')).href;
  const code = `import { LISTS, BOUNDED, WHOLE, FIGURES } from '${lists}';
    console.log(JSON.stringify({ read: Object.keys(LISTS), bounded: Object.entries(BOUNDED), whole: Object.keys(WHOLE), figures: Object.keys(FIGURES) }));`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Told;
}

describe('the benchmark of growth', () => {
  const { read, bounded, whole, figures } = told();

  it('reads every list that has pages, or says what bounds it', () => {
    const lists = gets.filter(({ op }) => isPage(op) || (isArray(op) && takes(op, 'offset')));
    expect([...read, ...bounded.map(([id]) => id)].sort()).toEqual(idsOf(lists));
  });

  it('says of every list without pages what keeps it short', () => {
    expect(whole.sort()).toEqual(idsOf(gets.filter(({ op }) => isArray(op) && !takes(op, 'offset'))));
  });

  it('says what enforces a bound', () => {
    expect(bounded.filter(([, { cap, where }]) => !cap || !existsSync(path.join(ROOT, where)))).toEqual([]);
  });

  it('reads no figure that is not there', () => {
    expect(figures.filter((id) => !idsOf(gets).includes(id))).toEqual([]);
  });
});
