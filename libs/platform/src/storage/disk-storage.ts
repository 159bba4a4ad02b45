import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { roomIn } from './disk-room';
import { ObjectStorage, type ByteRange, type StoredBytes } from './object-storage';

/** Half-written files that nobody has written to for so long belong to a process that has died: an upload has an hour. */
const ABANDONED_MS = 2 * 3_600_000;

/** After so many bytes of an object it is looked again whether the disk has room. */
const ASK_AGAIN_BYTES = 4 * 1024 * 1024;

/** For development and single machines: objects are files below one folder. */
export class DiskStorage extends ObjectStorage {
  private readonly root: string;
  private prepared: Promise<unknown> | undefined;

  constructor(dir: string) {
    super();
    this.root = path.resolve(dir);
  }

  /** Written beside, forced to the disk and then moved: after a crash there is the whole object or none. Not where the disk is nearly full, or becomes so meanwhile. */
  protected async write(key: string, bytes: Readable): Promise<void> {
    await this.prepare();
    await this.requireRoom();
    const target = this.pathOf(key);
    const beside = path.join(this.halfWritten, randomUUID());
    const file = createWriteStream(beside, { flags: 'wx', mode: 0o600, flush: true });
    try {
      await pipeline(bytes, (chunks: AsyncIterable<Buffer>) => this.whileRoom(chunks), file);
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
      await rename(beside, target);
      await syncFolder(path.dirname(target));
    } catch (error) {
      // A stream that ends while its file is being opened makes the file after that.
      if (!file.closed) await new Promise<void>((resolve) => file.once('close', () => resolve()));
      await rm(beside, { force: true });
      throw error;
    }
  }

  /** Asks again for room, as many write at once and slowly. */
  private async *whileRoom(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let unasked = 0;
    for await (const chunk of chunks) {
      unasked += chunk.length;
      if (unasked >= ASK_AGAIN_BYTES) {
        await this.requireRoom();
        unasked = 0;
      }
      yield chunk;
    }
  }

  private async requireRoom(): Promise<void> {
    if ((await roomIn(this.root)).isFull) throw new Error('The disk is nearly full.');
  }

  protected async read(key: string, range?: ByteRange): Promise<StoredBytes | null> {
    const file = await open(this.pathOf(key)).catch(unlessMissing);
    if (!file) return null;
    try {
      const { size } = await file.stat();
      const { start, length } = range ?? { start: 0, length: size };
      return {
        length: Math.max(0, Math.min(length, size - start)),
        stream: file.createReadStream({ start, end: Math.max(start, start + length - 1) }),
      };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  protected async remove(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  protected async has(key: string): Promise<boolean> {
    return (await stat(this.pathOf(key)).catch(unlessMissing))?.isFile() ?? false;
  }

  override async removeAbandoned(): Promise<number> {
    let removed = 0;
    for (const name of (await readdir(this.halfWritten).catch(unlessMissing)) ?? []) {
      const file = path.join(this.halfWritten, name);
      const { mtimeMs } = (await stat(file).catch(unlessMissing)) ?? { mtimeMs: Date.now() };
      if (Date.now() - mtimeMs <= ABANDONED_MS) continue;
      await rm(file, { force: true });
      removed++;
    }
    return removed;
  }

  /** No key begins with a dot, so no object lies here. */
  private get halfWritten(): string {
    return path.join(this.root, '.half-written');
  }

  private pathOf(key: string): string {
    return path.join(this.root, key);
  }

  private prepare(): Promise<unknown> {
    this.prepared ??= mkdir(this.halfWritten, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      this.prepared = undefined;
      throw error;
    });
    return this.prepared;
  }
}

/** A new name is safe only when its folder is on the disk. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
