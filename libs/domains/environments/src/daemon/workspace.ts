import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { HALF, joined } from './kept';

/** How paths of commands begin; what it stands for is a folder of this machine. */
const WORKSPACE = '/workspace';

/** It cannot be done, and the message says why, to people and models. */
export class Refused extends Error {}

/** The files that commands of one chat share. */
export class Workspace {
  constructor(private readonly folder: string) {}

  /**
   * The real place of a path, of which the end may not be there yet.
   *
   * @throws Refused for what is elsewhere, also by a link
   */
  async place(given: string): Promise<string> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const root = await realpath(this.folder);
    const refused = new Refused(`${given} is not within ${WORKSPACE}.`);
    const resolved = path.posix.resolve(WORKSPACE, given);
    if (resolved !== WORKSPACE && !resolved.startsWith(`${WORKSPACE}/`)) throw refused;
    const missing: string[] = [];
    for (let at = path.join(root, resolved.slice(WORKSPACE.length)); ; at = path.dirname(at)) {
      const real = await realpath(at).catch(unlessMissing);
      if (real !== undefined) {
        if (real !== root && !real.startsWith(`${root}/`)) throw refused;
        return path.join(real, ...missing);
      }
      // A link to what is not there: whoever writes through it makes it there.
      if (await lstat(at).catch(unlessMissing)) throw refused;
      missing.unshift(path.basename(at));
    }
  }

  async folderAt(given: string): Promise<string> {
    const place = await this.place(given);
    if (!(await lstat(place).catch(unlessMissing))?.isDirectory()) throw new Refused(`There is no folder ${given}.`);
    return place;
  }

  async put(given: string, content: Buffer): Promise<void> {
    await mkdir(path.dirname(await this.place(given)), { recursive: true });
    const file = await open(await this.place(given), constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW);
    try {
      await file.writeFile(content);
    } finally {
      await file.close();
    }
  }

  /** Head and tail of a file. */
  async get(given: string): Promise<{ content: Buffer; isTruncated: boolean }> {
    const place = await this.place(given);
    // Whoever opens a pipe waits for who writes to it.
    if (!(await lstat(place).catch(unlessMissing))?.isFile()) throw new Refused(`There is no file ${given}.`);
    const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const { size } = await file.stat();
      const read = async (from: number, bytes: number) => {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, from);
        return buffer.subarray(0, bytesRead);
      };
      const head = await read(0, Math.min(size, HALF));
      const tail = await read(Math.max(HALF, size - HALF), Math.max(0, Math.min(size - HALF, HALF)));
      return { content: joined(head, tail, size), isTruncated: size > 2 * HALF };
    } finally {
      await file.close();
    }
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
