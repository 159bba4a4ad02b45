import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(__dirname, '../..');

const filesBelow = (folder: string, isWanted: (name: string) => boolean): string[] =>
  existsSync(path.join(ROOT, folder))
    ? readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && isWanted(entry.name) && !entry.parentPath.includes('node_modules'))
        .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
        .sort()
    : [];

export interface Document {
  file: string;
  text: string;
}

/** Every Markdown file of the project, with its path from the root. */
export function documents(): Document[] {
  const files = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    ...['docs', 'apps', 'libs', 'tools'].flatMap((folder) => filesBelow(folder, (name) => name.endsWith('.md'))),
  ];
  return files
    .filter((file) => existsSync(path.join(ROOT, file)))
    .map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') }));
}

const withoutBlocks = (text: string) => text.replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1\s*$/gm, '');

/** What a document sets in backticks outside of its code blocks. */
export const quoted = ({ text }: Document): string[] => [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map((match) => match[1]);

/** Targets of the links that stay inside the project. */
export const links = ({ text }: Document): string[] =>
  [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]).filter((target) => !/^(https?|mailto):/.test(target));

/** The anchors that a page's headings give. */
export function anchors(text: string): Set<string> {
  const titles = [...withoutBlocks(text).matchAll(/^#{1,6} (.+)$/gm)].map((match) => match[1]);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

/** The metrics that the service registers: their labels by their names. */
export function metricLabels(): Map<string, string[]> {
  const sources = ['apps', 'libs'].flatMap((folder) => filesBelow(folder, (name) => name.endsWith('.ts') && !name.endsWith('.spec.ts')));
  const registered = /\b(?:counter|gauge|durationHistogram|sizeHistogram)\(\s*'([a-z0-9_]+)',\s*'[^']*'(?:,\s*\[([^\]]*)\])?/g;
  const found = sources.flatMap((file) => [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(registered)]);
  return new Map(found.map(([, name, labels = '']) => [name, [...labels.matchAll(/'(\w+)'/g)].map((match) => match[1])]));
}

/** Settings of the service, of the development stack and of the composition of containers. */
export function settingNames(): Set<string> {
  const declared = readFileSync(path.join(ROOT, '.env.example'), 'utf8').matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm);
  const composed = filesBelow('docker', (name) => /\.ya?ml$/.test(name)).flatMap((file) => [
    ...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\$\{([A-Z][A-Z0-9_]*)/g),
  ]);
  return new Set([...declared, ...composed].map((match) => match[1]));
}

/** Every word of the code, its files of rules and manifests included, but for what the checks of documents themselves say. */
export function codeWords(): Set<string> {
  const files = ['apps', 'libs', 'tools', 'k8s'].flatMap((folder) => filesBelow(folder, (name) => /\.([cm]?[jt]s|json|ya?ml)$/.test(name)));
  const ours = files.filter((file) => !file.startsWith('tools/tour/'));
  return new Set(ours.flatMap((file) => readFileSync(path.join(ROOT, file), 'utf8').match(/\w+/g) ?? []));
}
