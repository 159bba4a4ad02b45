/** A map whose entries are good for a fixed time and whose size is bounded. */
export class TtlCache<K, V> {
  private readonly entries = new Map<K, { value: V; until: number }>();

  constructor(
    private readonly ttlMs: number,
    private readonly max: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get(key: K): V | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    if (entry.until > this.now()) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  /** Forgets all that are so. */
  drop(isSo: (value: V, key: K) => boolean): void {
    for (const [key, { value }] of this.entries) if (isSo(value, key)) this.entries.delete(key);
  }

  set(key: K, value: V): void {
    if (this.entries.size >= this.max) {
      // Insertion order is age: the oldest entries are the first to expire.
      for (const [k, e] of this.entries) {
        if (e.until > this.now() && this.entries.size < this.max) break;
        this.entries.delete(k);
      }
    }
    this.entries.delete(key);
    this.entries.set(key, { value, until: this.now() + this.ttlMs });
  }
}
