/** Where one thing is done at a time; what it is done with stays there for the next. */
export interface Place<T> {
  holds?: T;
}

/** How long a place is waited for, and for whom. */
export interface PlaceFor {
  /** Ends the waiting, and not the use. */
  signal?: AbortSignal;
  /** Such as an organization: of what waits, the next is of the share that has the fewest places, and of several the one whose last turn was longest ago. */
  share?: string;
}

export interface PlacesOptions<T> {
  /** What the next waits for where a place holds something. */
  room?: (held: T) => Promise<void>;
  /** As many places as one share has at once, so that others find one; left out: all. */
  ofAShare?: number;
}

/** Some places for work that comes as it likes; what finds none free waits its turn. */
export class Places<T> {
  readonly all: Place<T>[];
  /** Those that were used last are used first, so what is not needed is not made. */
  private readonly free: Place<T>[];
  /** By share; the one whose last turn was longest ago, or that has waited longest, first. */
  private readonly waiting = new Map<string, ((place: Place<T>) => void)[]>();
  private readonly used = new Map<string, number>();

  constructor(
    count: number,
    private readonly options: PlacesOptions<T> = {},
  ) {
    this.all = Array.from({ length: count }, () => ({}));
    this.free = [...this.all];
  }

  /** @throws the reason of the signal */
  async at<R>(use: (place: Place<T>) => R | Promise<R>, { signal, share = '' }: PlaceFor = {}): Promise<R> {
    signal?.throwIfAborted();
    const place = await this.turn(share, signal);
    try {
      return await use(place);
    } finally {
      void this.giveBack(place, share);
    }
  }

  /** How many of a share wait. */
  waitingOf(share: string): number {
    return this.waiting.get(share)?.length ?? 0;
  }

  /** Whether it is others who keep a share from the next place: none is free, and it has fewer than it may have; where shares have no limit, it has none. */
  isTakenByOthers(share: string): boolean {
    return !this.free.length && this.usedBy(share) < (this.options.ofAShare ?? 1);
  }

  private turn(share: string, signal?: AbortSignal): Promise<Place<T>> {
    return new Promise((taken, fail) => {
      const waiting = this.waiting.get(share) ?? [];
      const take = (place: Place<T>) => {
        signal?.removeEventListener('abort', leave);
        taken(place);
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(take), 1);
        if (!waiting.length) this.waiting.delete(share);
        fail(signal!.reason as Error);
      };
      signal?.addEventListener('abort', leave, { once: true });
      waiting.push(take);
      this.waiting.set(share, waiting);
      this.handOut();
    });
  }

  private async giveBack(place: Place<T>, share: string): Promise<void> {
    if (place.holds) await this.options.room?.(place.holds);
    const left = this.usedBy(share) - 1;
    if (left) this.used.set(share, left);
    else this.used.delete(share);
    this.free.push(place);
    this.handOut();
  }

  private handOut(): void {
    for (let share = this.next(); this.free.length && share !== undefined; share = this.next()) {
      const waiting = this.waiting.get(share)!;
      const take = waiting.shift()!;
      // Behind all the others.
      this.waiting.delete(share);
      if (waiting.length) this.waiting.set(share, waiting);
      this.used.set(share, this.usedBy(share) + 1);
      take(this.free.pop()!);
    }
  }

  private next(): string | undefined {
    let next: string | undefined;
    let fewest = this.options.ofAShare ?? Infinity;
    for (const share of this.waiting.keys()) {
      const used = this.usedBy(share);
      if (used < fewest) [next, fewest] = [share, used];
    }
    return next;
  }

  private usedBy(share: string): number {
    return this.used.get(share) ?? 0;
  }
}
