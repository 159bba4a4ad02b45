import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readdir, rename, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const AT_ONCE = 64;

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
    // Used in between: it goes back to who has it.
    if (!(await this.isIdle(aside, idleMs))) return void (await rename(this.folder(aside), folder).catch(unlessMissing));
    await run('chmod', ['-R', 'u+rwX', '--', this.folder(aside)]).catch(() => undefined);
    await run('rm', ['-rf', '--', this.folder(aside)]);
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

/** Bytes on the disk of all that lies in a folder, as far as it can be looked into. */
export async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const sizes = entries.slice(at, at + AT_ONCE).map(async (entry) => {
      const inside = path.join(folder, entry.name);
      const own = ((await lstat(inside).catch(() => null))?.blocks ?? 0) * 512;
      return own + (entry.isDirectory() ? await bytesIn(inside) : 0);
    });
    for (const size of await Promise.all(sizes)) bytes += size;
  }
  return bytes;
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
