interface Entry<V> {
  value: Promise<V>;
  /** Not over while it loads. */
  until: number;
}

/**
 * Keeps what was loaded for a while from then on, the least recently used going first. Callers that come together share one load. What is
 * dropped while it loads still goes to those who wait for it, and to nobody after them. A failure is told to those who wait, and kept for no longer
 * than `failedMs`.
 */
export class ViewCache<K, V> {
  private readonly entries = new Map<K, Entry<V>>();

  constructor(
    private readonly ttlMs: number,
    private readonly max: number,
    private readonly load: (key: K) => Promise<V>,
    private readonly failedMs = 0,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get(key: K): Promise<V> {
    const known = this.entries.get(key);
    if (known) {
      // Taken out and put back: the order of a Map is the order of use.
      this.entries.delete(key);
      if (known.until > this.now()) {
        this.entries.set(key, known);
        return known.value;
      }
    }
    const entry: Entry<V> = { value: this.load(key), until: Infinity };
    this.entries.set(key, entry);
    if (this.entries.size > this.max) this.entries.delete(this.entries.keys().next().value as K);
    entry.value.then(
      () => (entry.until = this.now() + this.ttlMs),
      () => (entry.until = this.now() + this.failedMs),
    );
    return entry.value;
  }

  drop(key: K): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }
}
