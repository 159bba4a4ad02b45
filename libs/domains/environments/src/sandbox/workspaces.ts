import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readdir, rename, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const AT_ONCE = 64;
/** What is to end in another process has ended after so long. */
const ENDED_MS = 3_000;

/** Whom files of workspaces belong to, and commands run as: ourselves, unless that is root. */
export const OWNER =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
/** Root's privileges are given up for commands. */
export const IS_ROOT = process.getuid?.() === 0;

/**
 * Folders of workspaces on this machine's disk. Each has one of its own, whose time says when it was used last, and which commands never see; what
 * they see as theirs is `files` in it.
 */
export class Workspaces {
  constructor(private readonly dir: string) {}

  /** Made if it is not there, and marked as used now. */
  async open(workspace: string): Promise<{ folder: string; files: string }> {
    const folder = this.folder(workspace);
    const files = path.join(folder, 'files');
    await mkdir(folder, { recursive: true, mode: 0o711 });
    // Before anything is done in it: who would remove it looks at this.
    await this.touch(workspace);
    const made = await mkdir(files, { recursive: true, mode: 0o700 });
    if (made && IS_ROOT) await chown(files, OWNER.uid, OWNER.gid);
    // A command may have closed it for itself.
    await chmod(files, 0o700);
    return { folder, files };
  }

  async touch(workspace: string): Promise<void> {
    const now = new Date();
    await utimes(this.folder(workspace), now, now).catch(unlessMissing);
  }

  /**
   * By programs that hold on to folders while they walk: nothing in it leads them elsewhere, and folders that may not be entered do not stop them. It is
   * out of the way first, under a key that nobody has: who opens it while it is being removed has a new one, and what is left where we die is as
   * idle as it was.
   */
  async remove(workspace: string, idleMs?: number): Promise<void> {
    const folder = this.folder(workspace);
    if (!(await this.isIdle(workspace, idleMs))) return;
    const aside = randomUUID();
    await rename(folder, this.folder(aside)).catch(unlessMissing);
    // Used in between: it goes back to who has it, unless they have a new one by now; then what they had lies aside until it is idle again.
    if (!(await this.isIdle(aside, idleMs))) return void (await rename(this.folder(aside), folder).catch(unlessTaken));
    await run('chmod', ['-R', 'u+rwX', '--', this.folder(aside)]).catch(() => undefined);
    const removed = () => run('rm', ['-rf', '--', this.folder(aside)]);
    // What still runs in it elsewhere, where it is being ended, may write to it meanwhile.
    await removed().catch(() => sleep(ENDED_MS).then(removed));
  }

  /** Keys of those that were not used for so long. */
  async idle(idleMs: number): Promise<string[]> {
    const keys = ((await readdir(this.dir).catch(unlessMissing)) ?? []).filter((name) => UUID.test(name));
    const are = await Promise.all(keys.map((key) => this.isIdle(key, idleMs)));
    return keys.filter((_, i) => are[i]);
  }

  /** Whether it is there, and nobody has used it for so long. */
  private async isIdle(workspace: string, idleMs = -Infinity): Promise<boolean> {
    const found = await stat(this.folder(workspace)).catch(unlessMissing);
    return !!found && Date.now() - found.mtimeMs >= idleMs;
  }

  private folder(workspace: string): string {
    if (!UUID.test(workspace)) throw new Error('A workspace is named by a UUID.');
    return path.join(this.dir, workspace);
  }
}

/** Bytes on a disk. */
export interface Weight {
  all: number;
  /** Of these, what was made or changed since then. */
  changed: number;
}

/** Why a folder cannot be looked into by its path, although it is there. */
const BEYOND = ['EACCES', 'EPERM', 'ENAMETOOLONG'];

/** What lies in a folder. @param since by the clock of its disk, milliseconds */
export async function weightOf(folder: string, since: number): Promise<Weight> {
  try {
    return await walked(folder, since, new Set());
  } catch {
    const all = await measured(folder);
    return { all, changed: all };
  }
}

async function walked(folder: string, since: number, linked: Set<number>): Promise<Weight> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(unlessBeyond)) ?? [];
  const weight: Weight = { all: 0, changed: 0 };
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const within = entries.slice(at, at + AT_ONCE).map(async (entry) => {
      const inside = path.join(folder, entry.name);
      const own = await lstat(inside).catch(unlessBeyond);
      const isFurtherName = own && own.nlink > 1 && !entry.isDirectory() && linked.size === linked.add(own.ino).size;
      if (own && !isFurtherName) {
        weight.all += own.blocks * 512;
        if (own.ctimeMs >= since) weight.changed += own.blocks * 512;
      }
      return entry.isDirectory() ? walked(inside, since, linked) : null;
    });
    for (const below of await Promise.all(within)) {
      weight.all += below?.all ?? 0;
      weight.changed += below?.changed ?? 0;
    }
  }
  return weight;
}

/** The same by programs, which get everywhere. What even they do not see into may be of any size. */
async function measured(folder: string): Promise<number> {
  await reopened(folder);
  const du = run('env', ['LC_ALL=C', 'du', '-sk', '--', folder]);
  const { stdout, stderr } = await du.catch((error: { stdout: string; stderr: string }) => error);
  const isBlind = stderr.split('\n').some((line) => line && !line.endsWith('No such file or directory'));
  return isBlind ? Infinity : (Number.parseInt(stdout, 10) || 0) * 1024;
}

/**
 * Removes what was made or changed in a folder since then. By a program that holds on to folders while it walks, as commands may still exchange them.
 *
 * @param minKib of each; 0: folders, too, that are empty by then
 */
export async function removeChanged(folder: string, since: number, minKib: number): Promise<void> {
  await reopened(folder);
  const large = minKib ? ['-type', 'f', '-size', `+${minKib - 1}k`] : [];
  await run('find', [folder, '-mindepth', '1', '-newerct', `@${(since - 1) / 1_000}`, ...large, '-delete']).catch(() => undefined);
}

/** Opens folders that commands have closed for themselves. */
async function reopened(folder: string): Promise<void> {
  if (IS_ROOT) return;
  await run('find', [folder, '-type', 'd', '!', '-perm', '-700', '-execdir', 'chmod', 'u+rwx', '{}', ';']).catch(() => undefined);
}

function unlessBeyond(error: NodeJS.ErrnoException): undefined {
  if (BEYOND.includes(error.code!)) throw error;
}

function unlessTaken(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') unlessMissing(error);
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
