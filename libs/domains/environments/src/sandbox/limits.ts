import { stat } from 'node:fs/promises';
import { roomIn, type Room } from '@aps/platform/storage';
import { removeChanged, weightOf } from './workspaces';
import { weigh } from './processes';

const MIB = 1024 * 1024;
const WATCH_MS = 250;
/** Of the time between two looks at a workspace, what looking may take. */
const LOOKING_SHARE = 0.1;
/** However long a look took, on a busy machine perhaps, the next one comes after so long. */
const UNWATCHED_MS = 5_000;

/** What a command may use, of each. */
export const LIMITS = {
  cpus: 1,
  memoryBytes: 1024 * MIB,
  processes: 256,
  diskBytes: 1024 * MIB,
  temporaryBytes: 256 * MIB,
  sharedBytes: 64 * MIB,
};

/** Why nothing is begun. */
export const DISK_FULL = 'The disk that all workspaces share is nearly full.';

/** A workspace that is over its limit may grow by this, which folders take when it is cleared. */
const CLEARING_BYTES = MIB;
/** Where the disk has less than it had by this, it is looked whether it was a command. */
const NOTICED_BYTES = 64 * MIB;
/** What commands have made or changed is removed in this order, as long as its workspace is over its limit: files of so many KiB, then all. */
const REMOVED_KIB = [64 * 1024, 1024, 0];

const OVER = {
  memory: 'The command was ended: its processes used more than 1 GiB of memory.',
  processes: 'The command was ended: it had more than 256 processes.',
  disk: 'The command was ended: its workspace grew over 1 GiB.',
  room: 'The command was ended: the disk that all workspaces share is nearly full.',
};
const CLEARED = '\nThe workspace had more than 1 GiB: of what was made or changed there, the largest files were removed.\n';

/**
 * The disk while a command uses it. What the command has made or changed is told by the clock of the disk, and nobody else's. A workspace that is
 * over its limit already may not grow, so that it can be cleared.
 */
export class DiskUse {
  private constructor(
    private readonly workspace: string,
    private readonly files: string,
    private readonly since: number,
    private readonly before: Room,
    private readonly crowded: Set<string>,
  ) {}

  /** @param crowded the workspaces that were over their limit when they were looked at last; kept here */
  static async of(workspace: string, files: string, crowded: Set<string>): Promise<DiskUse> {
    const [{ ctimeMs }, before] = await Promise.all([stat(files), roomIn(files)]);
    return new DiskUse(workspace, files, ctimeMs, before, crowded);
  }

  /** Whether the disk had so little left, before the command, that nobody may use more of it. */
  get wasFull(): boolean {
    return this.before.isFull;
  }

  /** The same by now; not where it was so before. */
  async isFilled(): Promise<boolean> {
    return !this.wasFull && (await roomIn(this.files).catch(() => this.before)).isFull;
  }

  /** Whether the workspace has more than it may, and has it of this command. */
  async isOver(): Promise<boolean> {
    const { all, changed } = await weightOf(this.files, this.since);
    if (all > LIMITS.diskBytes) this.crowded.add(this.workspace);
    else this.crowded.delete(this.workspace);
    return all > LIMITS.diskBytes && changed > CLEARING_BYTES;
  }

  /**
   * Once neither the command runs any more nor any that began meanwhile: removes of what they have made or changed as much as there is too much. What was too short to be looked at
   * is noticed by what the disk has lost, or by the next command.
   *
   * @returns what is said of it; null where the workspace is as it was left
   */
  async clear(): Promise<string | null> {
    const lost = this.before.freeBytes - (await roomIn(this.files)).freeBytes;
    if ((lost < NOTICED_BYTES && !this.crowded.has(this.workspace)) || !(await this.isOver())) return null;
    for (const minKib of REMOVED_KIB) {
      await removeChanged(this.files, this.since, minKib);
      if (!(await this.isOver())) break;
    }
    return CLEARED;
  }
}

/** Whether a disk on which one of these folders lies has so little left that nobody may use more of it; what cannot be seen from here has enough. */
export const isAnyFull = async (folders: readonly string[]): Promise<boolean> =>
  (await Promise.all(folders.map((folder) => roomIn(folder).catch(() => null)))).some((room) => room?.isFull);

/** Ends what fills disks, once one of them is nearly full. */
export const watchDisks = (folders: readonly string[], end: (sentence: string) => void): NodeJS.Timeout =>
  setInterval(() => void isAnyFull(folders).then((is) => is && end(DISK_FULL)), WATCH_MS).unref();

/**
 * Ends a command whose processes, from `pid` downwards, or whose workspace have more than they may, and any where the disk is nearly full.
 *
 * @param ofProcesses false where something else bounds memory and processes
 */
export function watchLimits(pid: number, disk: DiskUse, ofProcesses: boolean, end: (sentence: string) => void): NodeJS.Timeout {
  let nextLook = 0;
  const lookAtDisk = async () => {
    const began = performance.now();
    nextLook = Infinity;
    try {
      if (await disk.isOver()) end(OVER.disk);
    } finally {
      const now = performance.now();
      nextLook = now + Math.min((now - began) / LOOKING_SHARE, UNWATCHED_MS);
    }
  };
  const look = () => {
    if (ofProcesses) {
      const { count, bytes } = weigh(pid, LIMITS.memoryBytes);
      if (bytes > LIMITS.memoryBytes) return end(OVER.memory);
      if (count > LIMITS.processes) return end(OVER.processes);
    }
    void disk.isFilled().then((is) => is && end(OVER.room));
    if (performance.now() >= nextLook) void lookAtDisk();
  };
  void lookAtDisk();
  return setInterval(look, WATCH_MS).unref();
}
