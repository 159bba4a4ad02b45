import { DomainError } from '@aps/contracts';

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
  async holding<T>(shares: Record<string, number>, work: (hold: (bytes: number) => void) => Promise<T>): Promise<T> {
    let own = 0;
    const count = (bytes: number) => {
      own += bytes;
      for (const share of Object.keys(shares)) {
        const left = this.of(share) + bytes;
        if (left) this.held.set(share, left);
        else this.held.delete(share);
      }
    };
    try {
      return await work((bytes) => {
        if (Object.entries(shares).some(([share, most]) => this.of(share) + bytes > most))
          throw new DomainError('service_unavailable', 'Too much comes at once. Try again.', { retryAfterS: 1 });
        count(bytes);
      });
    } finally {
      count(-own);
    }
  }

  private of(share: string): number {
    return this.held.get(share) ?? 0;
  }
}
