import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import { ResponsePlaces } from '@aps/platform/http';
import { OpenStreams } from '@aps/platform/rate-limit';

/**
 * Uploads and downloads of a process. Each upload holds a part of its file in memory, each download a connection to the storage. A user alone has a
 * quarter of them: the 20 files that a message may have.
 */
export const MOST_AT_ONCE = 80;

/** Bounds the files that are on their way in or out, of each user, of each organization and of the process. */
@Injectable()
export class FileTransfers {
  private readonly places = new ResponsePlaces(MOST_AT_ONCE);

  constructor(private readonly openStreams: OpenStreams) {}

  /**
   * Counts one until its response closes.
   *
   * @throws DomainError 429 when the user has too many; 503 when the process has no place left for the user or the organization
   */
  async admit({ orgId, userId }: OrgScope, response: ServerResponse): Promise<void> {
    await this.openStreams.admit(userId, response, 'files');
    this.places.take({ orgId, userId }, response, 'Too many files are on their way right now. Try again.');
  }
}
