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

  async at<R>(use: (place: Place<T>) => R | Promise<R>): Promise<R> {
    const place = this.free.pop() ?? (await new Promise<Place<T>>((taken) => this.waiting.push(taken)));
    try {
      return await use(place);
    } finally {
      void this.giveBack(place);
    }
  }

  private async giveBack(place: Place<T>): Promise<void> {
    if (place.holds) await this.room(place.holds);
    const next = this.waiting.shift();
    if (next) next(place);
    else this.free.push(place);
  }
}
