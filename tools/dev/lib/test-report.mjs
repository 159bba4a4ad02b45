/** What a run of the tests prints: now and then how far it is, of each failure a line at once and all of it at the end, and the slowest files. */
import path from 'node:path';
import { say, seconds } from './console.mjs';
import { root } from './paths.mjs';

const PROGRESS_MS = 20_000;
const SLOWEST = 10;

/** The path of a test file as people name it. */
export const nameOf = (file) => path.relative(root, file);

export class TestReport {
  passed = 0;
  failed = 0;
  #since = performance.now();
  #expected = 0;
  #done = [];
  #failures = [];
  #timer = setInterval(() => this.#progress(), PROGRESS_MS);

  /** So many files will be run, beside those of which it was told before. */
  expect(files) {
    this.#expected += files;
  }

  /** A file has been run, see jest-reporter.cjs; `shown` says whether what it printed is of interest. */
  done(file, shown) {
    this.#done.push(file);
    this.passed += file.passed;
    if (shown && file.printed) say(`${nameOf(file.path)} printed:\n${file.printed}`);
    if (file.failed)
      this.fail(file.failed, [nameOf(file.path), ...file.failures].join('\n            '), `${nameOf(file.path)}\n\n${file.text}`);
  }

  /** Counts failures: `line` is printed at once, `text` at the end. */
  fail(count, line, text) {
    this.failed += count;
    this.#failures.push(text.trim());
    say(`  FAILED  ${line}`);
  }

  #progress() {
    say(`${this.#elapsed()}  ${this.#done.length} of ${this.#expected} files, ${this.passed} passed, ${this.failed} failed`);
  }

  #elapsed() {
    return seconds(performance.now() - this.#since).padStart(8);
  }

  /** Prints what is left for the end. */
  end() {
    clearInterval(this.#timer);
    for (const text of this.#failures) say(`\n${text}`);
    if (this.#done.length === 0) return;
    say(`\n${this.#elapsed()}  ${this.#done.length} files; the slowest:`);
    const slowest = [...this.#done].sort((one, other) => other.ms - one.ms).slice(0, SLOWEST);
    for (const { path: file, ms } of slowest) say(`${seconds(ms).padStart(8)}  ${nameOf(file)}`);
    say();
  }
}
