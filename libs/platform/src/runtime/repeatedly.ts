/**
 * Does something again and again, and never while the last time has not ended. What fails is tried the next time.
 *
 * @returns ends it, and resolves when the last time has ended
 */
export function repeatedly(everyMs: number, work: () => Promise<unknown>): () => Promise<void> {
  let running: Promise<void> | undefined;
  const over = () => (running = undefined);
  const timer = setInterval(() => {
    running ??= work().then(over, over);
  }, everyMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
