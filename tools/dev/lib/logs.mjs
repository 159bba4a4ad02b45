/** The output of a child: all of it into its log file, its warnings and errors to the terminal too. */
import { appendFileSync, closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { say } from './console.mjs';

const LEVELS = { 40: 'warn', 50: 'error', 60: 'fatal' };
const KEEP_BYTES = 20_000_000;

export class ChildLog {
  #last = '';

  constructor(name, file) {
    this.name = name;
    this.file = file;
    if (statSync(file, { throwIfNoEntry: false })?.size > KEEP_BYTES) renameSync(file, `${file}.1`);
    closeSync(openSync(file, 'a', 0o600));
  }

  /** @param {import('node:child_process').ChildProcess} child */
  follow(child, onLine) {
    const fd = openSync(this.file, 'a');
    this.#last = '';
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        writeSync(fd, `${line}\n`);
        this.#read(line);
        onLine?.(line);
      });
    }
    child.once('close', () => closeSync(fd));
  }

  /** The line that says most about why a process ended. */
  get lastWords() {
    return this.#last;
  }

  #read(line) {
    const entry = parse(line);
    if (!entry) {
      // An app that cannot start says why under its own name, problems as a list. A crash prints a stack trace: its
      // message is the line that counts, and the lines around it do not.
      if (line.startsWith(`${this.name}: `)) this.#last = line.slice(this.name.length + 2);
      else if (this.#last && line.startsWith('  - ')) this.#last += ` ${line.slice(4)};`;
      else if (/^(?:Uncaught )?\w*(?:Error|Exception)\b.*:/.test(line)) this.#last = line;
      else if (!this.#last && line.trim() && !/^\s+at |^Node\.js v/.test(line)) this.#last = line.trim();
      return;
    }
    if (!(entry.level >= 40)) return;
    const text = readable(entry);
    if (entry.level >= 50) this.#last = text;
    say(`${String(entry.time ?? '').slice(11, 19)} ${this.name} ${LEVELS[entry.level] ?? entry.level}: ${text}`.trim());
  }
}

/** Appends a note of ours, so that a log file tells where one run ends and the next begins. */
export const note = (file, text) => appendFileSync(file, `--- ${new Date().toISOString()} ${text}\n`);

function parse(line) {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function readable({ msg, context, err, error }) {
  const cause = err?.message ?? error?.message ?? error;
  const parts = [context && `[${context}]`, msg, cause && cause !== msg && `(${String(cause).split('\n')[0]})`];
  return parts.filter(Boolean).join(' ').split('\n')[0] || 'no message';
}
