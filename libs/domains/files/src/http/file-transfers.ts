import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { OpenStreams } from '@aps/platform/rate-limit';

/** Uploads and downloads of a process. Each upload holds a part of its file in memory, each download a connection to the storage. */
export const MOST_AT_ONCE = 64;

/** Bounds the files that are on their way in or out, of each user and of the process. */
@Injectable()
export class FileTransfers {
  private underWay = 0;

  constructor(private readonly openStreams: OpenStreams) {}

  /**
   * Counts one until its response closes.
   *
   * @throws DomainError 429 when the user has too many; 503 when the process has
   */
  async admit(userId: string, response: ServerResponse): Promise<void> {
    await this.openStreams.admit(userId, response, 'files');
    if (this.underWay >= MOST_AT_ONCE)
      throw new DomainError('service_unavailable', 'Too many files are on their way right now. Try again.', { retryAfterS: 5 });
    if (response.destroyed) return;
    this.underWay++;
    response.once('close', () => this.underWay--);
  }
}
