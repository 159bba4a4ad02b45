/** Files that others read while we write them. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Writes a file for our user alone, and in one step: a reader sees the old content or the new, never half of it. */
export function replaceFile(file, content, mode = 0o600) {
  mkdirSync(path.dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, content, { mode });
  renameSync(fresh, file);
}

/** The content of a JSON file, or undefined when there is none that can be read. */
export function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
