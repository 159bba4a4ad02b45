import { DomainError } from '@aps/contracts';

/** 503 `service_unavailable` @param ofOne there is room, but no more for him */
export const noRoom = (ofOne = false): DomainError =>
  new DomainError('service_unavailable', 'Too much comes at once. Try again.', { retryAfterS: 1, ofOne });

/**
 * Whether somebody may have so much of a room that nobody fills: each a third of what is left of it, so by himself a quarter, and the more there
 * are, the less each of them, but whoever comes with little finds room.
 *
 * @param all what there is
 * @param held by all
 * @param own of that, by him
 * @param part of what is left, where it is not the third one
 */
export const mayHold = (all: number, held: number, own: number, part = 3): boolean => part * own <= all - held;

/**
 * Bytes of bodies that are in memory, by the shares that they are counted in. They count as they come, so those that send slowly keep
 * nobody out.
 */
export class HeldBytes {
  private readonly held = new Map<string, number>();

  /**
   * Counts for as long as `work` takes.
   *
   * @param shares what may be held of each, bytes
   * @param work is given what counts more bytes in all shares; that throws DomainError 503 `service_unavailable` where one has no room
   */
  holding<T>(shares: Record<string, number>, work: (hold: (bytes: number) => void) => Promise<T>): Promise<T> {
    return this.counting(Object.keys(shares), (count) =>
      work((bytes) => {
        if (Object.entries(shares).some(([share, most]) => this.of(share) + bytes > most)) throw noRoom();
        count(bytes);
      }),
    );
  }

  /**
   * Counts for as long as `work` takes, in a room of which everybody has what {@link mayHold} says.
   *
   * @param all what may be held by all, bytes
   * @param who another than `all`
   * @param work is given what counts more bytes; that says by what they are refused, and counts nothing, where they have no room
   */
  sharing<T>(all: number, who: string, work: (hold: (bytes: number) => DomainError | null) => Promise<T>): Promise<T> {
    return this.counting(['all', who], (count) =>
      work((bytes) => {
        const held = this.of('all') + bytes;
        if (!mayHold(all, held, this.of(who) + bytes)) return noRoom(mayHold(all, held, bytes));
        count(bytes);
        return null;
      }),
    );
  }

  private async counting<T>(shares: string[], work: (count: (bytes: number) => void) => Promise<T>): Promise<T> {
    let own = 0;
    const count = (bytes: number) => {
      own += bytes;
      for (const share of shares) {
        const left = this.of(share) + bytes;
        if (left) this.held.set(share, left);
        else this.held.delete(share);
      }
    };
    try {
      return await work(count);
    } finally {
      count(-own);
    }
  }

  private of(share: string): number {
    return this.held.get(share) ?? 0;
  }
}
