/** Who takes or sends less of a file, or of a list, in such a time, and has others hold something for it all the while, is cut off. */
const PACE_BYTES = 512 * 1024;
const PACE_S = 30;

/**
 * Cuts off a client that is too slow.
 *
 * @param keepsWaiting whether it is us, the storage or the database, just now, that the client waits for: such a second does not count
 * @returns to be told of the bytes that came through, and of the end
 */
export function holdToPace(cutOff: () => void, keepsWaiting = () => false): { moved(bytes: number): void; end(): void } {
  let [moved, seconds] = [0, 0];
  const timer = setInterval(() => {
    if (keepsWaiting() || ++seconds < PACE_S) return;
    if (moved < PACE_BYTES) cutOff();
    [moved, seconds] = [0, 0];
  }, 1_000).unref();
  return { moved: (bytes) => void (moved += bytes), end: () => clearInterval(timer) };
}
