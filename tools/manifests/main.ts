import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { manifests } from './manifests';

/** `manifests` writes the manifests that follow from the lists of kinds of runs and of queues; tools/deploy-check tells when they are stale. */
for (const [file, text] of manifests()) {
  const current = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (current !== text) writeFileSync(file, text);
  process.stdout.write(current === text ? `${file} is up to date\n` : `wrote ${file}\n`);
}
