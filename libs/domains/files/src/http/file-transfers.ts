import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { mayHold } from '@aps/platform/http';
import { OpenStreams } from '@aps/platform/rate-limit';

/** Uploads and downloads of a process. Each upload holds a part of its file in memory, each download a connection to the storage. */
export const MOST_AT_ONCE = 64;

/** Bounds the files that are on their way in or out, of each user and of the process, of which organizations have what {@link mayHold} says. */
@Injectable()
export class FileTransfers {
  private readonly underWay = new Set<{ orgId: string }>();

  constructor(private readonly openStreams: OpenStreams) {}

  /**
   * Counts one until its response closes.
   *
   * @throws DomainError 429 when the user has too many; 503 when the organization has no place left
   */
  async admit({ orgId, userId }: OrgScope, response: ServerResponse): Promise<void> {
    await this.openStreams.admit(userId, response, 'files');
    const own = [...this.underWay].filter((transfer) => transfer.orgId === orgId).length;
    if (!mayHold(MOST_AT_ONCE, this.underWay.size + 1, own + 1))
      throw new DomainError('service_unavailable', 'Too many files are on their way right now. Try again.', { retryAfterS: 5 });
    if (response.destroyed) return;
    const transfer = { orgId };
    this.underWay.add(transfer);
    response.once('close', () => this.underWay.delete(transfer));
  }
}
