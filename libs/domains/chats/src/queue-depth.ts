import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { DomainError } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { ChatsRepository } from './chats.repository';

/** How long a count is believed while it is far below the cap. */
const TTL_MS = 500;

/** So many waiting turns of an organization go without a priority. */
const FAIR_SHARE = 64;

/** Refuses messages of an organization whose waiting turns have reached its cap. */
@Injectable()
export class QueueDepth {
  private readonly counts = new Map<string, { n: number; at: number }>();

  constructor(
    private readonly db: Database,
    private readonly chats: ChatsRepository,
    private readonly entitlements: Entitlements,
  ) {}

  /** @throws DomainError 429 `queue_full` */
  async requireRoom(orgId: string): Promise<void> {
    const limit = (await this.entitlements.of(orgId)).max_queue_depth;
    if (limit < 0) return;
    const known = this.counts.get(orgId);
    const now = performance.now();
    // In half a second one gateway cannot take so many messages that a count below half the cap becomes wrong.
    if (known && now - known.at < TTL_MS && known.n < limit / 2 - 1_000) {
      known.n++;
      return;
    }
    const n = await this.chats.waitingTurns(this.db, orgId, limit);
    if (this.counts.size > 10_000) this.counts.clear();
    this.counts.set(orgId, { n, at: now });
    if (n >= limit) {
      throw new DomainError('queue_full', 'Too many turns of this organization wait already.', { retryAfterS: 5, context: { entitlement: 'max_queue_depth', limit, current: n } });
    }
  }

  /**
   * Where a turn stands among those of other organizations: the more of one's own wait already, the later it comes, so that a flood
   * delays nobody but who makes it.
   *
   * @returns a priority of the queue; undefined comes first
   */
  priorityOf(orgId: string): number | undefined {
    const waiting = this.counts.get(orgId)?.n ?? 0;
    return waiting < FAIR_SHARE ? undefined : Math.floor(waiting / FAIR_SHARE);
  }
}
