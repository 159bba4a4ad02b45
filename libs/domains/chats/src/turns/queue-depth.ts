import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { DomainError } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { advisoryLock, Database, OneByOne, type Tx } from '@aps/platform/database';
import { DispatchRepository } from './dispatch.repository';
import { turnsConfig } from './turns.config';

/** How long a count is believed while it is far below the cap. */
const TTL_MS = 500;

/** So many waiting turns of an organization go without a priority. */
const FAIR_SHARE = 64;
/** Where their number is not limited, so many are counted: enough to tell a flood from another. */
const MOST_COUNTED = 4_096;

/** Leave to add one waiting turn, to be given back once it is stored or refused. */
export interface Room {
  readonly orgId: string;
  readonly limit: number;
  /** So little is left that whoever adds a turn counts again under the organization's lock. */
  readonly scarce: boolean;
  /** What whoever adds a turn is told at once; null while something may be left. */
  readonly full: DomainError | null;
  leave(): void;
}

/** Refuses turns of an organization whose waiting turns have reached its cap: exactly, and without a lock far below it. */
@Injectable()
export class QueueDepth {
  private readonly counts = new Map<string, { n: number; at: number }>();
  /** Per organization, the requests of this process whose turns a count may not see yet. */
  private readonly underWay = new Map<string, number>();
  private readonly nearCap = new OneByOne();

  constructor(
    private readonly db: Database,
    private readonly turns: DispatchRepository,
    private readonly entitlements: Entitlements,
  ) {}

  /** Refuses nobody: whether a turn is added at all, only the chat says. */
  async enter(orgId: string): Promise<Room> {
    const limit = (await this.entitlements.of(orgId)).max_queue_depth;
    if (limit < 0) {
      await this.count(orgId, MOST_COUNTED, Infinity);
      return { orgId, limit, scarce: false, full: null, leave: () => undefined };
    }
    const before = this.underWay.get(orgId) ?? 0;
    this.underWay.set(orgId, before + 1);
    const leave = () => {
      const left = (this.underWay.get(orgId) ?? 1) - 1;
      if (left > 0) this.underWay.set(orgId, left);
      else this.underWay.delete(orgId);
    };
    try {
      // In half a second one gateway cannot take so many messages that a count below half the cap becomes wrong.
      const n = await this.count(orgId, limit, limit / 2 - 1_000);
      return { orgId, limit, scarce: isScarce(limit - n, before), full: n >= limit ? queueFull(limit, n) : null, leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** @param believed a count below this is good for a while */
  private async count(orgId: string, limit: number, believed: number): Promise<number> {
    const known = this.counts.get(orgId);
    if (known && performance.now() - known.at < TTL_MS && known.n < believed) return known.n++;
    const n = await this.turns.waiting(this.db, orgId, limit);
    this.remember(orgId, n);
    return n;
  }

  private remember(orgId: string, n: number): void {
    if (this.counts.size > 10_000) this.counts.clear();
    this.counts.set(orgId, { n, at: performance.now() });
  }

  /**
   * A transaction that adds a waiting turn, and calls {@link confirm} before that.
   *
   * @param line those that have much to write before that have one of their own, which keeps back nobody else
   */
  transaction<T>(scope: OrgScope, room: Room, fn: (tx: Tx) => Promise<T>, line: 'short' | 'long' = 'short'): Promise<T> {
    const run = () => this.db.transaction(scope, fn);
    return room.scarce ? this.nearCap.run(`${line}:${room.orgId}`, run) : run();
  }

  /**
   * Refuses what is full already, before much is written that {@link confirm} would refuse. Takes no lock.
   *
   * @throws DomainError 429 `queue_full`
   */
  async refuseFull(tx: Tx, { orgId, limit, scarce, full }: Room): Promise<void> {
    if (full) throw full;
    const n = scarce ? await this.turns.waiting(tx, orgId, limit) : 0;
    if (scarce && n >= limit) throw queueFull(limit, n);
  }

  /**
   * Makes sure that there is room until the transaction ends. The lock of a chat comes before that of its organization: tools that
   * delegate hold theirs already.
   *
   * @throws DomainError 429 `queue_full`
   */
  async confirm(tx: Tx, { orgId, limit, scarce }: Room): Promise<void> {
    if (!scarce) return;
    const n = await this.countLocked(tx, orgId, limit);
    if (n >= limit) throw queueFull(limit, n);
  }

  /** Turns that wait, for who adds another in this transaction and refuses that in its own way. @returns -1 as limit for none */
  async waiting(tx: Tx, orgId: string): Promise<{ n: number; limit: number }> {
    const limit = (await this.entitlements.of(orgId, tx)).max_queue_depth;
    if (limit < 0) return { n: 0, limit };
    const n = await this.turns.waiting(tx, orgId, limit);
    this.remember(orgId, n);
    return { limit, n: n < limit && isScarce(limit - n, this.underWay.get(orgId) ?? 0) ? await this.countLocked(tx, orgId, limit) : n };
  }

  /** Whether there is room for another turn until the transaction ends. */
  async hasRoom(tx: Tx, orgId: string): Promise<boolean> {
    const { n, limit } = await this.waiting(tx, orgId);
    return limit < 0 || n < limit;
  }

  /**
   * The same, for who refuses it like a message.
   *
   * @throws DomainError 429 `queue_full`
   */
  async requireRoom(tx: Tx, orgId: string): Promise<void> {
    const { n, limit } = await this.waiting(tx, orgId);
    if (limit >= 0 && n >= limit) throw queueFull(limit, n);
  }

  private async countLocked(tx: Tx, orgId: string, limit: number): Promise<number> {
    await advisoryLock(tx, `cap:max_queue_depth:${orgId}`);
    return this.turns.waiting(tx, orgId, limit);
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

/**
 * Requests of the same moment do not see each other's turns. A process lets so small a part of the room that is left be taken without a
 * lock that as many processes as there may be together cannot pass the cap.
 *
 * @param underWay requests of this process that may take of the room as well
 */
const isScarce = (room: number, underWay: number): boolean => (underWay + 1) * turnsConfig.value.senders > room;

const queueFull = (limit: number, current: number): DomainError =>
  new DomainError('queue_full', 'Too many turns of this organization wait already.', {
    retryAfterS: 5,
    context: { entitlement: 'max_queue_depth', limit, current },
  });
