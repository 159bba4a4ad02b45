/**
 * Does what hangs on time, anew where this process has stood still for so long meanwhile.
 *
 * @returns what it came to when nothing disturbed it
 */
export async function undisturbed<T>(ms: number, act: () => Promise<T>): Promise<T> {
  for (;;) {
    let [last, longest] = [performance.now(), 0];
    const look = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    };
    const watch = setInterval(look, ms / 10);
    const [outcome] = await Promise.allSettled([act()]);
    clearInterval(watch);
    look();
    if (longest > ms) continue;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }
}
