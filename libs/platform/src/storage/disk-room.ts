import { statfs } from 'node:fs/promises';

/** What is left free of a disk that is shared with others, a database perhaps: so many bytes, of a small one a share. */
const KEPT_FREE_BYTES = 2 * 1024 ** 3;
const KEPT_FREE_SHARE = 0.1;
/** The same of its numbers for files, where it has so many and no more. */
const KEPT_INODES_SHARE = 0.01;

/** What a disk has left. */
export interface Room {
  freeBytes: number;
  /** Nobody may use more of it. */
  isFull: boolean;
}

/** Of the disk on which a folder lies. */
export async function roomIn(folder: string): Promise<Room> {
  const { bsize, blocks, bavail, files, ffree } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const keptBytes = Math.min(KEPT_FREE_BYTES, blocks * bsize * KEPT_FREE_SHARE);
  return { freeBytes, isFull: freeBytes < keptBytes || ffree < files * KEPT_INODES_SHARE };
}
