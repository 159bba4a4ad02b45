/**
 * Runs what has the same key one after another, within this process: for what waits for the same row or lock anyway. A flood of it would
 * hold a connection for each who waits.
 */
export class OneByOne {
  /** Per key, the end of the last that was begun. */
  private readonly ends = new Map<string, Promise<void>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.ends.get(key) ?? Promise.resolve()).then(work);
    const end = mine.then(
      () => undefined,
      () => undefined,
    );
    this.ends.set(key, end);
    void end.then(() => {
      if (this.ends.get(key) === end) this.ends.delete(key);
    });
    return mine;
  }
}
