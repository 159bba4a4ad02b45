import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { appsOf } from '../deploy-check/files';
import { manifests } from './manifests';

/** `manifests` writes the manifests that follow from the lists of apps, kinds of runs and queues; tools/deploy-check tells when they are stale. */
for (const [file, text] of manifests(appsOf(process.cwd()))) {
  const current = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (current !== text) writeFileSync(file, text);
  process.stdout.write(current === text ? `${file} is up to date\n` : `wrote ${file}\n`);
}
