import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { mayHold } from '@aps/platform/http';
import { OpenStreams } from '@aps/platform/rate-limit';

/** Lists of a process that are read while they are written. Each holds the keys of what is left: 4 MB for 100,000 rows. */
const MOST_AT_ONCE = 64;

/** Bounds the lists that are written piece by piece, of each user, of each organization and of the process. */
@Injectable()
export class OpenLists {
  private readonly open = new Set<{ of: string }>();

  constructor(private readonly openStreams: OpenStreams) {}

  /**
   * Counts one until its response closes.
   *
   * @param orgId whose list it is; null where it is no organization's
   * @throws DomainError 429 when the user has too many; 503 when the process or the organization has
   */
  async admit(userId: string, orgId: string | null, response: ServerResponse): Promise<void> {
    await this.openStreams.admit(userId, response, 'lists');
    const list = { of: orgId ?? userId };
    const own = [...this.open].filter(({ of }) => of === list.of).length;
    if (!mayHold(MOST_AT_ONCE, this.open.size + 1, own + 1))
      throw new DomainError('service_unavailable', 'Too many long lists are being read right now. Try again.', { retryAfterS: 5 });
    if (response.destroyed) return;
    this.open.add(list);
    response.once('close', () => this.open.delete(list));
  }
}
