import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { declaredSections, type ConfigSection } from '@aps/platform/config';

/** The folder that holds apps/ and libs/: the repository when run from its sources, dist when run from the build. */
const root = path.resolve(__dirname, '../..');
const extension = path.extname(__filename);

/** Files below `folder` that the service is made of: no tests, and nothing that only tests use. */
function filesOf(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension) && !/\.(spec|d)\.[jt]s$/.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((file) => !/(^|\/)(node_modules|testing)\//.test(file) && !/^apps\/[^/]+-e2e\//.test(file))
    .sort();
}

/**
 * Every configuration section of the service: each file that declares one is imported, so a section that no app imports yet is found
 * too. Not the modules of the apps: importing those already reads some values, and here none are set.
 */
export async function allSections(): Promise<ConfigSection[]> {
  for (const file of [...filesOf('libs'), ...filesOf('apps')]) {
    if (file.startsWith('libs/platform/src/config/')) continue;
    // In compiled code the call is (0, _config.configSection)(…).
    if (/\bconfigSection\)?\(/.test(readFileSync(path.join(root, file), 'utf8'))) await import(path.join(root, file));
  }
  return declaredSections();
}
