/**
 * The daemon of a remote machine: takes commands of agents, and runs them here. One file for any Node.js from 18 on, which is made of this folder;
 * it knows nothing of the rest.
 */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Daemon } from './daemon';
import { Works } from './works';

const VERSION = '1.0.0';
/** By this a supervisor knows that it would end in the same way again. */
const EXIT_FOR_GOOD = 77;
/** What says goodbye has so long, milliseconds. */
const LEAVING_MS = 2_000;
/** How often files that nobody uses are looked for, milliseconds. */
const CLEANING_MS = 3_600_000;

const folder = process.env.APS_DAEMON_DIR || path.join(os.homedir(), '.aps-daemon');
const say = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);

/** As the environment has it, or as the installation has left it. */
function settingOf(variable: string, file: string): string {
  const given = process.env[variable]?.trim();
  if (given) return given;
  try {
    return readFileSync(path.join(folder, file), 'utf8').trim();
  } catch {
    say(`${variable} is not set, and ${path.join(folder, file)} cannot be read.`);
    process.exit(EXIT_FOR_GOOD);
  }
}

const target = {
  url: settingOf('APS_DAEMON_URL', 'url').replace(/\/+$/, ''),
  token: settingOf('APS_DAEMON_TOKEN', 'token'),
  hello: { version: VERSION, platform: `${process.platform}-${process.arch}`, hostname: os.hostname().slice(0, 255) },
};
const works = new Works(path.join(folder, 'workspaces'));
const daemon = new Daemon(target, works, say);
setInterval(() => void works.removeIdle().catch(() => undefined), CLEANING_MS).unref();

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    setTimeout(() => process.exit(0), LEAVING_MS).unref();
    void daemon.leave().then(
      () => process.exit(0),
      () => process.exit(0),
    );
  });
// One command that goes wrong in a way that nobody has thought of is no reason to end the others.
process.on('uncaughtException', (error) => say(`Something went wrong: ${error.stack}`));

void daemon.run().then((why) => {
  if (why === null) return;
  say(why);
  process.exit(EXIT_FOR_GOOD);
});
