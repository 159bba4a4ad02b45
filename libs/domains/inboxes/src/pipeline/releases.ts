import { Injectable, OnModuleInit } from '@nestjs/common';
import { Blockers, Entitlements } from '@aps/billing';
import { QueueDepth } from '@aps/chats';
import type { HoldReason } from '@aps/entities';
import { advisoryLock, Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { EvaluationRepository } from './evaluation.repository';
import type { HoldingInbox } from './evaluation.sql';
import { Evaluations } from './evaluations';

/** What is over by itself; all else waits for a human. */
export const RELEASED = [
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
type Released = (typeof RELEASED)[number];

const EVERY_S = 10;
/** Of an inbox and reason at a time; the rest comes with the next look. */
const BATCH = 100;

/** Lets messages go on that were held for what is over by itself: oldest first, and no more than there is room for. */
@Injectable()
export class Releases implements OnModuleInit {
  constructor(
    private readonly db: Database,
    private readonly repository: EvaluationRepository,
    private readonly evaluations: Evaluations,
    private readonly entitlements: Entitlements,
    private readonly blockers: Blockers,
    private readonly depth: QueueDepth,
    private readonly maintenance: Maintenance,
  ) {}

  onModuleInit(): void {
    this.maintenance.register({ name: 'inbox_releases', everyS: EVERY_S, batch: Infinity, run: () => this.releaseDue() });
  }

  /** @returns how many messages go on */
  async releaseDue(): Promise<number> {
    let released = 0;
    for (const inbox of await this.repository.holding(this.db, RELEASED))
      released += await this.db.transaction(NO_CALLER, async (tx) => {
        // Another process that looks at the same inbox would let as many go again.
        await advisoryLock(tx, `inbox-releases:${inbox.inbox_id}`);
        return this.releaseOf(tx, inbox);
      });
    return released;
  }

  private async releaseOf(tx: Tx, inbox: HoldingInbox): Promise<number> {
    const reason = inbox.hold_reason as Released;
    const room = Math.min(await this.roomFor(tx, inbox, reason), BATCH);
    if (room <= 0) return 0;
    const oldest = await this.repository.oldestHeld(tx, inbox.inbox_id, reason, room);
    const going = reason === 'rate_sender' ? await this.withinRates(tx, inbox, oldest) : oldest;
    let released = 0;
    for (const { id } of going) {
      const message = await this.repository.lockHeld(tx, id, reason);
      if (!message) continue;
      await this.evaluations.begin(tx, message, 'auto_release', { user_id: null });
      released++;
    }
    return released;
  }

  /** How many messages may go on. */
  private async roomFor(tx: Tx, inbox: HoldingInbox, reason: Released): Promise<number> {
    const { org_id, inbox_id } = inbox;
    const plan = await this.entitlements.of(org_id, tx);
    const left = async (limit: number | null, used: () => Promise<number>) =>
      limit === null || limit < 0 ? BATCH : limit - (await used());
    switch (reason) {
      case 'inbox_paused':
        return inbox.status === 'active' ? BATCH : 0;
      case 'org_suspended':
        return inbox.org_suspended ? 0 : BATCH;
      case 'credits_exhausted':
        return (await this.blockers.of(org_id, tx)) === null ? BATCH : 0;
      case 'queue_full':
        return (await this.depth.hasRoom(tx, org_id)) ? BATCH : 0;
      case 'rate_inbox':
        return left(inbox.rate_limit_messages_per_day, () => this.repository.passedToday(tx, org_id, inbox_id));
      case 'plan_intake':
        return left(plan.intake_messages_per_day, () => this.repository.passedToday(tx, org_id, null));
      case 'classifier_quota':
        return Math.min(
          await left(inbox.rate_limit_classifier_calls_per_day, () => this.repository.callsToday(tx, org_id, inbox_id)),
          await left(plan.intake_classifier_calls_per_day, () => this.repository.callsToday(tx, org_id, '')),
        );
      case 'spike': {
        const { passed, room } = await this.repository.spike(tx, inbox_id);
        return room - passed;
      }
      case 'rate_sender':
        return BATCH;
    }
  }

  /** Of each sender as many as both its windows have room for. */
  private async withinRates<M extends { sender_key: string }>(tx: Tx, inbox: HoldingInbox, oldest: M[]): Promise<M[]> {
    const { rate_limit_per_sender_per_minute: minute, rate_limit_per_sender_per_hour: hour } = inbox;
    const rooms = new Map<string, number>();
    const going: M[] = [];
    for (const message of oldest) {
      let room = rooms.get(message.sender_key);
      if (room === undefined) {
        const upTo = { minute: minute ?? 0, hour: hour ?? 0 };
        const passed = await this.repository.passedOfSender(tx, { inbox_id: inbox.inbox_id, sender_key: message.sender_key }, upTo);
        room = Math.min(minute === null ? BATCH : minute - passed.minute, hour === null ? BATCH : hour - passed.hour);
      }
      rooms.set(message.sender_key, room - 1);
      if (room > 0) going.push(message);
    }
    return going;
  }
}
