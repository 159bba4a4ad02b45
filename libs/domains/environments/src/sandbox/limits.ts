import { bytesIn } from './workspaces';
import { weigh } from './processes';

const MIB = 1024 * 1024;
const WATCH_MS = 250;
/** Of the time between two looks at a workspace, what looking may take. */
const LOOKING_SHARE = 0.1;

/** What a command may use, of each. */
export const LIMITS = {
  cpus: 1,
  memoryBytes: 1024 * MIB,
  processes: 256,
  diskBytes: 1024 * MIB,
  temporaryBytes: 256 * MIB,
  sharedBytes: 64 * MIB,
};

const OVER = {
  memory: 'The command was ended: its processes used more than 1 GiB of memory.',
  processes: 'The command was ended: it had more than 256 processes.',
  disk: 'The command was ended: its workspace grew over 1 GiB.',
};

/**
 * Ends a command whose processes, from `pid` downwards, or whose workspace have more than they may. A workspace that is over already may not grow, so
 * that it can be cleared.
 *
 * @param ofProcesses false where something else bounds memory and processes
 */
export function watchLimits(pid: number, files: string, ofProcesses: boolean, end: (sentence: string) => void): NodeJS.Timeout {
  let allowedBytes: number | undefined;
  let nextLook = 0;
  const lookAtDisk = async () => {
    const began = performance.now();
    nextLook = Infinity;
    const bytes = await bytesIn(files);
    allowedBytes ??= Math.max(bytes, LIMITS.diskBytes);
    if (bytes > allowedBytes) end(OVER.disk);
    nextLook = performance.now() + (performance.now() - began) / LOOKING_SHARE;
  };
  const look = () => {
    if (ofProcesses) {
      const { count, bytes } = weigh(pid, LIMITS.memoryBytes);
      if (bytes > LIMITS.memoryBytes) return end(OVER.memory);
      if (count > LIMITS.processes) return end(OVER.processes);
    }
    if (performance.now() >= nextLook) void lookAtDisk();
  };
  void lookAtDisk();
  return setInterval(look, WATCH_MS).unref();
}
