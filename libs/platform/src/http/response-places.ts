import type { ServerResponse } from 'node:http';
import { DomainError } from '@aps/contracts';
import { mayHold } from './held-bytes';

/**
 * Places of a process, which answers take until they close. An organization has half of what is left, so by itself a third of all, and a user a
 * third, so by himself a quarter: neither keeps others out, nor does a member the others of the organization.
 */
export class ResponsePlaces {
  private readonly taken = new Set<{ orgId: string; userId: string }>();

  constructor(private readonly all: number) {}

  /**
   * Takes one until the response closes.
   *
   * @param refusal what is said where there is none left
   * @throws DomainError 503 `service_unavailable` where the user, or the organization, has none left
   */
  take(who: { orgId: string; userId: string }, response: ServerResponse, refusal: string): void {
    const held = this.taken.size + 1;
    const own = (key: keyof typeof who) => 1 + [...this.taken].filter((place) => place[key] === who[key]).length;
    if (!mayHold(this.all, held, own('userId')) || !mayHold(this.all, held, own('orgId'), 2))
      throw new DomainError('service_unavailable', refusal, { retryAfterS: 5, ofOne: mayHold(this.all, held, 1) });
    if (response.destroyed) return;
    const place = { ...who };
    this.taken.add(place);
    response.once('close', () => this.taken.delete(place));
  }
}
