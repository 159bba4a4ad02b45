/** Asks until a condition holds. */
export async function eventually<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  let last: T | undefined;
  for (let i = 0; i < 3_600; i++) {
    last = await ask();
    if (holds(last)) return last;
    await new Promise((r) => setTimeout(r, 50));
  }
  throw new Error(`It did not become what was waited for: ${JSON.stringify(last, null, 1)}`);
}
