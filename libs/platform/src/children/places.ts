/** Where one thing is done at a time; what it is done with stays there for the next. */
export interface Place<T> {
  holds?: T;
}

/** Some places for work that comes as it likes; what finds none free waits its turn. */
export class Places<T> {
  readonly all: Place<T>[];
  /** Those that were used last are used first, so what is not needed is not made. */
  private readonly free: Place<T>[];
  private readonly waiting: ((place: Place<T>) => void)[] = [];

  /** @param room what the next waits for where a place holds something */
  constructor(
    count: number,
    private readonly room: (held: T) => Promise<void> = () => Promise.resolve(),
  ) {
    this.all = Array.from({ length: count }, () => ({}));
    this.free = [...this.all];
  }

  /** @param signal ends the waiting, and not the use. @throws its reason */
  async at<R>(use: (place: Place<T>) => R | Promise<R>, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    const place = this.free.pop() ?? (await this.turn(signal));
    try {
      return await use(place);
    } finally {
      void this.giveBack(place);
    }
  }

  private turn(signal?: AbortSignal): Promise<Place<T>> {
    return new Promise((taken, fail) => {
      const take = (place: Place<T>) => {
        signal?.removeEventListener('abort', leave);
        taken(place);
      };
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(take), 1);
        fail(signal!.reason as Error);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.waiting.push(take);
    });
  }

  private async giveBack(place: Place<T>): Promise<void> {
    if (place.holds) await this.room(place.holds);
    const next = this.waiting.shift();
    if (next) next(place);
    else this.free.push(place);
  }
}
