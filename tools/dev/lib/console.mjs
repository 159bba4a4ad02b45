/** What the person at the terminal reads: one line per step with its time, and one sentence per problem. */
import path from 'node:path';

/** A problem that its message explains in full: printed as that one sentence, without a stack trace. */
export class UserError extends Error {}

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

// A reader that went away (a closed terminal, `| head`) must not be what ends us: there are children to stop in order.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});

let lineIsOpen = false;

/** Prints text as it comes; the next whole line begins a new one. */
export function stream(text) {
  process.stdout.write(text);
  lineIsOpen = !text.endsWith('\n');
}

export function say(text = '') {
  if (lineIsOpen) stream('\n');
  console.log(text);
}

/** Does `work`, then prints `  1.2 s  name  detail`, where the detail is what the work answers. */
export async function step(name, work) {
  const since = performance.now();
  const detail = await work();
  say(`${seconds(performance.now() - since).padStart(7)}  ${name.padEnd(17)}${detail ?? ''}`.trimEnd());
}

/** Paths below the current folder are shown relative to it. */
export function show(file) {
  const relative = path.relative(process.cwd(), file);
  return relative && !relative.startsWith('..') ? relative : file;
}

/** An address without the password it may carry. */
export function redact(address) {
  try {
    const url = new URL(address);
    return `${url.protocol}//${url.host}${url.pathname}`;
  } catch {
    return 'an address that cannot be read';
  }
}

/** Runs a command's main function: a UserError is one sentence and exit code 1, anything else shows where it broke. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof UserError ? error.message : error);
    process.exitCode = 1;
  }
}
