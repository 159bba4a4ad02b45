import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const updates = (): boolean =>
  (expect.getState() as unknown as { snapshotState?: { _updateSnapshot?: string } }).snapshotState?._updateSnapshot === 'all';

/**
 * Compares entries with a committed file of one entry per line, so that a diff of the file reads like the change it is.
 * `jest -u` writes the file.
 */
export function expectCommitted(file: string, entries: readonly object[]): void {
  const text = `[\n${entries.map((e) => `  ${JSON.stringify(e)}`).join(',\n')}\n]\n`;
  const where = path.join(__dirname, '..', file);
  if (updates()) writeFileSync(where, text);
  const committed = existsSync(where) ? readFileSync(where, 'utf8').split('\n') : [];
  const now = text.split('\n');
  const gone = committed.filter((line) => !now.includes(line)).map((line) => `- ${line.trim()}`);
  const fresh = now.filter((line) => !committed.includes(line)).map((line) => `+ ${line.trim()}`);
  // Compared as a list of differences: the whole files side by side would hide the one line that changed.
  expect({ [file]: [...gone, ...fresh], hint: 'npm test -- tools/house-check/routes -u' }).toEqual({
    [file]: [],
    hint: 'npm test -- tools/house-check/routes -u',
  });
}
