import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ProcessRun } from '@aps/entities';
import type { JournalRow } from '../engine/journal';

const FOLDER = path.join(__dirname, '../reviews/fixtures');
const DATES = new Set(['started_at', 'finished_at', 'waiting_until', 'created_at']);

/** A run as it once was: what it ran, what it was begun with, and all that its journal says. */
export interface StoredJournal {
  definition: Record<string, unknown>;
  run: Pick<
    ProcessRun,
    'id' | 'process_id' | 'revision_id' | 'revision_version' | 'label' | 'envelope' | 'started_at' | 'created_at' | 'status'
  >;
  journal: JournalRow[];
}

/** Those that runs of an engine have left, and of every engine that there was. */
export const storedJournals = (): { engine: string; name: string; read: () => StoredJournal }[] =>
  readdirSync(FOLDER).flatMap((engine) =>
    readdirSync(path.join(FOLDER, engine)).map((file) => ({
      engine,
      name: path.basename(file, '.json'),
      read: () => JSON.parse(readFileSync(path.join(FOLDER, engine, file), 'utf8'), revived) as StoredJournal,
    })),
  );

/** Outside of what steps were given and gave, a time is a time again. */
function revived(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const isColumn = DATES.has(key) && ('path' in this || 'envelope' in this);
  return isColumn && typeof value === 'string' ? new Date(value) : value;
}

/** Stores what a run of an engine has left. */
export function storeJournal(engine: string, name: string, { definition, run, journal }: StoredJournal): void {
  mkdirSync(path.join(FOLDER, engine), { recursive: true });
  const { id, process_id, revision_id, revision_version, label, envelope, started_at, created_at, status } = run;
  const kept = { id, process_id, revision_id, revision_version, label, envelope, started_at, created_at, status };
  const rows = journal.map((row) => JSON.stringify({ ...row, org_id: undefined, run_id: undefined }));
  const text = `{\n"definition": ${JSON.stringify(definition)},\n"run": ${JSON.stringify(kept)},\n"journal": [\n${rows.join(',\n')}\n]}\n`;
  writeFileSync(path.join(FOLDER, engine, `${name}.json`), text);
}
