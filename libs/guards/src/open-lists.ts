import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { ResponsePlaces } from '@aps/platform/http';
import { OpenStreams } from '@aps/platform/rate-limit';

/** Lists of a process that are read while they are written. Each holds the keys of what is left, 4 MB for 100,000 rows, and the text of a batch: of the largest rows, 12 MB. */
const MOST_AT_ONCE = 64;

/** Bounds the lists that are written piece by piece, of each user, of each organization and of the process. */
@Injectable()
export class OpenLists {
  private readonly places = new ResponsePlaces(MOST_AT_ONCE);

  constructor(private readonly openStreams: OpenStreams) {}

  /**
   * Counts one until its response closes.
   *
   * @param orgId whose list it is; null where it is no organization's
   * @throws DomainError 429 when the user has too many; 503 when the process has no place left for the user or the organization
   */
  async admit(userId: string, orgId: string | null, response: ServerResponse): Promise<void> {
    await this.openStreams.admit(userId, response, 'lists');
    this.places.take({ orgId: orgId ?? userId, userId }, response, 'Too many long lists are being read right now. Try again.');
  }
}
