/**
 * Does what hangs on time, anew where this process has stood still for so long meanwhile. By the time of day: where the whole machine stood still,
 * the clock that only ever ticks has not noticed, and the database has.
 *
 * @returns what it came to when nothing disturbed it
 */
export async function undisturbed<T>(ms: number, act: () => Promise<T>): Promise<T> {
  for (;;) {
    let [last, longest] = [Date.now(), 0];
    const look = () => {
      longest = Math.max(longest, Date.now() - last);
      last = Date.now();
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
