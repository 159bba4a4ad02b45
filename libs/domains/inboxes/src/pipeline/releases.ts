import { Injectable } from '@nestjs/common';
import type { HoldReason } from '@aps/entities';
import { advisoryLock, Database, isConnectionLoss, NO_CALLER, type Tx } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { EvaluationRepository } from './evaluation.repository';
import type { HeldMessage, HoldingInbox } from './evaluation.sql';
import { Evaluations } from './evaluations';
import { ReleaseCapacity } from './release-capacity';

/** What is over by itself; all else waits for a human. */
export const SELF_RELEASING_REASONS = [
  'rate_sender',
  'rate_inbox',
  'plan_intake',
  'classifier_quota',
  'spike',
  'queue_full',
  'inbox_paused',
  'org_suspended',
  'credits_exhausted',
] as const satisfies HoldReason[];

const EVERY_S = 10;
/** Of an organization and reason in a transaction; where it was as many, the next look follows at once. */
const BATCH = 500;
/** Held messages of an inbox among which one is looked for whose queue has room. */
const AMONG = 10_000;

/** Lets messages go on that were held for what is over by itself: oldest first, and no more than there is room for. */
@Injectable()
export class Releases {
  constructor(
    private readonly db: Database,
    private readonly repository: EvaluationRepository,
    private readonly evaluations: Evaluations,
    private readonly capacity: ReleaseCapacity,
    maintenance: Maintenance,
  ) {
    maintenance.register({ name: 'inbox_releases', everyS: EVERY_S, batch: BATCH, run: () => this.releaseDue() });
  }

  /**
   * What fails with one organization keeps no other waiting.
   *
   * @returns how many messages go on
   * @throws what failed last, when all have had their turn; a lost connection at once
   */
  async releaseDue(): Promise<number> {
    let released = 0;
    let failure: { error: unknown } | undefined;
    const together = new Map<string, HoldingInbox[]>();
    for (const inbox of await this.repository.holding(this.db, SELF_RELEASING_REASONS)) {
      const key = `${inbox.org_id} ${inbox.hold_reason}`;
      together.set(key, [...(together.get(key) ?? []), inbox]);
    }
    for (const inboxes of together.values())
      try {
        released += await this.release(inboxes);
      } catch (error) {
        // All the others would fail, too.
        if (isConnectionLoss(error)) throw error;
        failure = { error };
      }
    if (failure) throw failure.error;
    return released;
  }

  /** @param inboxes of an organization, which hold for one reason */
  private release(inboxes: HoldingInbox[]): Promise<number> {
    const [{ org_id, hold_reason }] = inboxes;
    return this.db.transaction(NO_CALLER, async (tx) => {
      // Another process that looks at the same organization would let as many go again.
      await advisoryLock(tx, `inbox-releases:${org_id}`);
      return this.evaluations.letGo(tx, await this.going(tx, inboxes), hold_reason);
    });
  }

  /** The oldest messages of inboxes of an organization, held for one reason, that there is room for. */
  private async going(tx: Tx, inboxes: HoldingInbox[]): Promise<string[]> {
    const released = await this.repository.released(tx, inboxes[0].org_id);
    const held: { message: HeldMessage; inbox: HoldingInbox }[] = [];
    for (const inbox of inboxes) held.push(...(await this.oldestOf(tx, inbox)).map((message) => ({ message, inbox })));
    held.sort((a, b) => a.message.received_at.getTime() - b.message.received_at.getTime());
    const rooms = new Map<string, number>();
    const going: string[] = [];
    for (const { message, inbox } of held) {
      const needs = this.capacity.needsOf(tx, inbox, message, released);
      for (const need of needs) if (!rooms.has(need.of)) rooms.set(need.of, await need.room());
      const lacking = needs.filter(({ of, amount }) => rooms.get(of)! < amount);
      // What is too little for the oldest is kept for it.
      for (const { of } of lacking) rooms.set(of, -Infinity);
      if (lacking.length) continue;
      for (const { of, amount } of needs) rooms.set(of, rooms.get(of)! - amount);
      if (going.push(message.id) === BATCH) break;
    }
    return going;
  }

  private async oldestOf(tx: Tx, inbox: HoldingInbox): Promise<HeldMessage[]> {
    if (inbox.hold_reason === 'rate_sender') return this.repository.oldestOfSenders(tx, inbox, BATCH);
    if (inbox.hold_reason === 'queue_full') return this.repository.oldestOfQueues(tx, inbox.inbox_id, AMONG, BATCH);
    // Those that no day has enough calls for, or that need more credits than there are, stay, however many they are, and keep no other waiting.
    const calls = inbox.hold_reason === 'classifier_quota' ? await this.capacity.callsADay(tx, inbox) : null;
    const credits = inbox.hold_reason === 'credits_exhausted' ? await this.capacity.creditsNow(tx, inbox.org_id) : null;
    return this.repository.oldestHeld(tx, inbox.inbox_id, inbox.hold_reason, { calls, credits }, BATCH);
  }
}
