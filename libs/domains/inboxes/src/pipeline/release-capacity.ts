import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { QueueDepth } from '@aps/chats';
import type { HeldFor } from '@aps/entities';
import { Holds } from '@aps/inference';
import type { Tx } from '@aps/platform/database';
import { RunBegins } from '@aps/processes';
import { EvaluationRepository } from './evaluation.repository';
import type { HeldMessage, HoldingInbox, ReleasedMessages } from './evaluation.sql';

/** A capacity that a held message takes of when it is released, and how much of it. */
export interface CapacityNeed {
  /** Names the capacity among those of the same organization and reason. */
  of: string;
  amount: number;
  /** How much is left, without what released messages take that are under way. */
  room: () => Promise<number>;
}

/** Tells what held messages of an organization need before they go on. */
@Injectable()
export class ReleaseCapacity {
  constructor(
    private readonly repository: EvaluationRepository,
    private readonly entitlements: Entitlements,
    private readonly depth: QueueDepth,
    private readonly runs: RunBegins,
    private readonly holds: Holds,
  ) {}

  /** @param released messages of the organization that are under way */
  needsOf(tx: Tx, inbox: HoldingInbox, { held_for }: HeldMessage, released: ReleasedMessages[]): CapacityNeed[] {
    const { org_id, inbox_id, hold_reason: reason } = inbox;
    const here = (each: ReleasedMessages) => each.inbox_id === inbox_id;
    const sameReason = (each: ReleasedMessages) => each.held_for.reason === reason;
    const need = (of: string, left: () => Promise<number>, taken: (each: ReleasedMessages) => boolean): CapacityNeed => ({
      of,
      amount: 1,
      room: async () => (await left()) - released.filter(taken).reduce((sum, { n }) => sum + n, 0),
    });
    const open = (isOpen: boolean): CapacityNeed =>
      need(
        inbox_id,
        () => Promise.resolve(isOpen ? Infinity : 0),
        () => false,
      );
    switch (reason) {
      case 'inbox_paused':
        return [open(inbox.status === 'active')];
      case 'org_suspended':
        return [open(!inbox.org_suspended)];
      case 'spike':
        return [
          need(
            inbox_id,
            () => this.ofFlood(tx, inbox),
            (each) => here(each) && each.unpassed,
          ),
        ];
      case 'rate_inbox': {
        const passed = () => this.repository.passedToday(tx, org_id, inbox_id);
        return [
          need(
            inbox_id,
            () => within(inbox.rate_limit_messages_per_day, passed),
            (each) => here(each) && each.unpassed,
          ),
        ];
      }
      case 'plan_intake': {
        const passed = () => this.repository.passedToday(tx, org_id, null);
        return [
          need(
            '',
            async () => within((await this.entitlements.of(org_id, tx)).intake_messages_per_day, passed),
            ({ unpassed }) => unpassed,
          ),
        ];
      }
      case 'classifier_quota': {
        const calls = (of: string, limit: () => Promise<number | null>, taken: (each: ReleasedMessages) => boolean): CapacityNeed => ({
          of,
          amount: callsFor(held_for),
          room: async () => {
            const left = await within(await limit(), () => this.repository.callsToday(tx, org_id, of));
            return left - released.filter(taken).reduce((sum, each) => sum + each.n * callsFor(each.held_for), 0);
          },
        });
        return [
          calls(
            inbox_id,
            () => Promise.resolve(inbox.rate_limit_classifier_calls_per_day),
            (each) => here(each) && sameReason(each),
          ),
          calls('', async () => (await this.entitlements.of(org_id, tx)).intake_classifier_calls_per_day, sameReason),
        ];
      }
      case 'credits_exhausted': {
        const taken = released.filter(sameReason).reduce((sum, each) => sum + each.n * creditsFor(each.held_for), 0);
        return [
          {
            of: '',
            amount: creditsFor(held_for),
            room: async () => Number((await this.creditsNow(tx, org_id)) ?? Infinity) - taken,
          },
        ];
      }
      case 'queue_full': {
        const { process_id, concurrency_key: key } = held_for ?? {};
        const sameQueue = (each: ReleasedMessages) =>
          sameReason(each) && each.held_for.process_id === process_id && each.held_for.concurrency_key === key;
        if (process_id === undefined || key === undefined) return [need('', () => this.ofTurns(tx, org_id), sameQueue)];
        return [need(`${process_id} ${key}`, () => this.runs.roomOf(tx, org_id, process_id, key), sameQueue)];
      }
      default:
        return [];
    }
  }

  /** How many calls of classifiers there ever are on a day; null is any number. */
  async callsADay(tx: Tx, inbox: HoldingInbox): Promise<number | null> {
    const { intake_classifier_calls_per_day: ofPlan } = await this.entitlements.of(inbox.org_id, tx);
    const limits = [inbox.rate_limit_classifier_calls_per_day, ofPlan].filter(isLimit);
    return limits.length ? Math.min(...limits) : null;
  }

  /** How many credits there are for calls at this moment, a decimal text; null is any number. */
  creditsNow(tx: Tx, orgId: string): Promise<string | null> {
    return this.holds.creditsFree(orgId, tx);
  }

  private async ofFlood(tx: Tx, inbox: HoldingInbox): Promise<number> {
    if (!inbox.spike_protection_enabled) return Infinity;
    const { passed, room } = await this.repository.spike(tx, inbox.inbox_id);
    return room - passed;
  }

  private async ofTurns(tx: Tx, orgId: string): Promise<number> {
    const { n, limit } = await this.depth.waiting(tx, orgId);
    return limit < 0 ? Infinity : limit - n;
  }
}

/** How many credits have to be left before a message goes on that there were too few for; where it does not say that, any. */
export const creditsFor = (held: HeldFor | null | undefined): number => Number(held?.credits ?? '0.000001');

/** How many calls of classifiers a day must have room for before a message goes on that was held for those. */
export const callsFor = (held: HeldFor | null | undefined): number => held?.calls ?? 1;

/** Null or negative is any number. */
export const isLimit = (limit: number | null): limit is number => limit !== null && limit >= 0;

const within = async (limit: number | null, used: () => Promise<number>): Promise<number> =>
  isLimit(limit) ? limit - (await used()) : Infinity;
