import { Injectable } from '@nestjs/common';
import type { Dispatched, EvaluationWait, HeldFor, HoldReason, InboxMessage, TraceRow } from '@aps/entities';
import type { Db, Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { LeaseEnded, RunRows, type ClaimedRun } from '@aps/platform/runs';
import type { Told } from '../messages/message-log.sql';
import {
  BEGIN,
  BEHIND,
  CALLS_TODAY,
  COUNT_CALL,
  COUNT_ONE,
  COUNTED_OF_INBOX,
  COUNTED_OF_ORG,
  GIVE_UP,
  HOLDING,
  INSERT_TRACE,
  IS_OVER,
  IS_SUSPENDED,
  LOAD,
  OLDEST_HELD,
  OLDEST_OF_QUEUES,
  OLDEST_OF_SENDERS,
  PASSED_OF_SENDER,
  PUT_OFF,
  RELEASE,
  RELEASED,
  RUNS,
  SETTLE,
  SPIKE,
  STEP,
  THREAD,
  TOOK_PART,
  TRACE,
  type HeldMessage,
  type HoldingInbox,
  type LoadedMessage,
  type ReleasedMessages,
  type Settling,
} from './evaluation.sql';

/** A message whose evaluation this worker owns. */
export interface ClaimedMessage extends ClaimedRun {
  evaluation_no: number;
  /** Of what it says. */
  bytes: number;
  /** As it was claimed; null where it is large. Its times are texts. */
  message: LoadedMessage | null;
}

/** What an evaluation has come to. */
export interface Settled extends Pick<Settling, 'state' | 'verdict' | 'hold_reason' | 'decided_by' | 'tags'> {
  /** What it was handed to, and what it became there. */
  dispatched?: { to: Dispatched; chat_message_id: string | null };
  /** It passes the rates with this. */
  passes?: boolean;
  /** What has to be over before it goes on, where the reason does not say that. */
  held_for?: HeldFor;
}

/** What is told of it, and whether others of its organization wait for its slot. */
type SettledMessage = Told & { parked: boolean };

/** What was begun for a message must not be: its inbox is deleted by now. */
export class InboxDeleted extends Error {
  constructor() {
    super('The inbox is deleted');
  }
}

/** The rows of messages under evaluation, and what is counted of them. */
@Injectable()
export class EvaluationRepository {
  readonly runs: RunRows<'inbox.evaluate'>;

  constructor(private readonly outbox: Outbox) {
    this.runs = new RunRows(RUNS, outbox);
  }

  /** Null where it is gone. @param run with what its claim has read, where that will do */
  async load(db: Db, { id, message }: Pick<ClaimedMessage, 'id'> & Partial<ClaimedMessage>): Promise<LoadedMessage | null> {
    const row = message ?? (await db.batched<{ id: string }, LoadedMessage>(LOAD, { id }));
    return row && { ...row, received_at: new Date(row.received_at), passed_at: row.passed_at && new Date(row.passed_at) };
  }

  /** Rows of the trace that an evaluation has written so far. */
  async traceOf(db: Db, { id, evaluation_no }: { id: string; evaluation_no: number }): Promise<TraceRow[]> {
    return (await db.query(TRACE, [id, evaluation_no])).flatMap(({ rows }) => rows);
  }

  async trace(
    tx: Tx,
    { id, org_id, evaluation_no }: Pick<InboxMessage, 'id' | 'org_id' | 'evaluation_no'>,
    rows: TraceRow[],
  ): Promise<void> {
    if (rows.length) await tx.execute(INSERT_TRACE, [id, org_id, evaluation_no, JSON.stringify(rows)]);
  }

  /** Ends an evaluation, with its trace, its event and its job. @throws LeaseEnded when it is not this owner's any more; InboxDeleted */
  async settle(
    db: Db,
    { id, fence, evaluation_no }: ClaimedMessage,
    { dispatched, passes = false, held_for, ...to }: Settled,
    trace: TraceRow[],
    at: Date,
  ): Promise<SettledMessage> {
    const handed = { dispatched: dispatched?.to ?? null, chat_message_id: dispatched?.chat_message_id ?? null };
    const wait = held_for ? { resume_at: null, held_for } : null;
    const told = await db.batched<Settling, SettledMessage | { too_late: true }>(SETTLE, {
      id,
      fence,
      evaluation_no,
      ...to,
      ...handed,
      passes,
      wait,
      trace,
      at,
    });
    if (!told) throw new LeaseEnded('lost');
    if ('too_late' in told) throw new InboxDeleted();
    return told;
  }

  /** Notes that a step is done. @throws LeaseEnded when the run is not this owner's any more */
  async stepDone(tx: Tx, { id, fence }: ClaimedRun, passes: boolean): Promise<void> {
    if ((await tx.execute(STEP, [id, fence, passes])) === 0) throw new LeaseEnded('lost');
  }

  /** Whether an organization is suspended at this moment. */
  async isSuspended(db: Db, orgId: string): Promise<boolean> {
    return (await db.query(IS_SUSPENDED, [orgId])).length > 0;
  }

  /** Whether an evaluation that an owner has lost is over, and no other owner goes on with it. */
  async isOver(db: Db, { id, evaluation_no, fence }: ClaimedMessage): Promise<boolean> {
    return (await db.query(IS_OVER, [id, evaluation_no, fence])).length > 0;
  }

  /** Lets an evaluation wait until its handler is tried again. @throws LeaseEnded when it is not this owner's any more */
  async putOff(tx: Tx, { id, fence }: ClaimedRun, wait: EvaluationWait & { resume_at: string }): Promise<void> {
    if ((await tx.execute(PUT_OFF, [id, fence, JSON.stringify(wait), wait.resume_at])) === 0) throw new LeaseEnded('lost');
  }

  /** @returns whether it is given up: not when it is over, or is evaluated anew */
  async giveUp(tx: Tx, { id, evaluation_no }: ClaimedMessage): Promise<boolean> {
    if ((await tx.execute(GIVE_UP, [id, evaluation_no])) === 0) return false;
    await this.outbox.cancel(tx, id);
    return true;
  }

  /** Sets a locked message back, and dispatches it. @param wait what the evaluation is to know */
  async begin(
    tx: Tx,
    { id, org_id }: { id: string; org_id: string },
    cause: InboxMessage['evaluation_cause'],
    wait: object | null,
  ): Promise<number> {
    const [{ evaluation_no }] = await tx.query(BEGIN, [id, cause, wait && JSON.stringify(wait)]);
    await this.runs.dispatch(tx, id, { org_id, message_id: id }, evaluation_no);
    return evaluation_no;
  }

  async passedOfSender(
    db: Db,
    { inbox_id, sender_key }: { inbox_id: string; sender_key: string },
    upTo: { minute: number; hour: number },
  ): Promise<{ minute: number; hour: number }> {
    return (await db.query(PASSED_OF_SENDER, [inbox_id, sender_key, upTo.minute, upTo.hour]))[0];
  }

  async spike(db: Db, inboxId: string): Promise<{ passed: number; room: number }> {
    return (await db.query(SPIKE, [inboxId]))[0];
  }

  /** How many messages have passed today, held until the transaction ends. */
  async passedToday(db: Db, orgId: string, inboxId: string | null): Promise<number> {
    return (await db.query(inboxId === null ? COUNTED_OF_ORG : COUNTED_OF_INBOX, [orgId, inboxId ?? '']))[0].n;
  }

  /** Counts one more in each of these. @param of inboxes; an empty text for the organization */
  async countPassed(db: Db, orgId: string, of: string[]): Promise<void> {
    if (of.length) await db.execute(COUNT_ONE, [orgId, of]);
  }

  /** Counts a classifier call against a cap. @returns whether there was room for it */
  async countCall(tx: Tx, orgId: string, of: string, limit: number | null): Promise<boolean> {
    return (await tx.query(COUNT_CALL, [orgId, of, limit])).length > 0;
  }

  /** Inboxes that hold messages for one of these reasons. */
  holding(db: Db, reasons: readonly HoldReason[]): Promise<HoldingInbox[]> {
    return db.query(HOLDING, [reasons]);
  }

  async callsToday(db: Db, orgId: string, of: string): Promise<number> {
    return (await db.query(CALLS_TODAY, [orgId, of]))[0].n;
  }

  /** @param most how many calls of classifiers, and credits, a message may need; null is any number */
  oldestHeld(
    db: Db,
    inboxId: string,
    reason: HoldReason,
    most: { calls: number | null; credits: string | null },
    limit: number,
  ): Promise<HeldMessage[]> {
    return db.query(OLDEST_HELD, [inboxId, reason, most.calls, limit, most.credits]);
  }

  /** Of those that are held for full queues, the oldest of each. @param among how many */
  oldestOfQueues(db: Db, inboxId: string, among: number, limit: number): Promise<HeldMessage[]> {
    return db.query(OLDEST_OF_QUEUES, [inboxId, among, limit]);
  }

  /** Of those that are held for the rates of their senders, the oldest that these have room for. */
  oldestOfSenders(
    db: Db,
    { inbox_id, rate_limit_per_sender_per_minute: minute, rate_limit_per_sender_per_hour: hour }: HoldingInbox,
    limit: number,
  ): Promise<HeldMessage[]> {
    return db.query(OLDEST_OF_SENDERS, [inbox_id, minute, hour, limit]);
  }

  /** Messages of an organization that were released and are under way. */
  released(db: Db, orgId: string): Promise<ReleasedMessages[]> {
    return db.query(RELEASED, [orgId]);
  }

  /** Lets held messages go on that nobody is at. Their jobs are handed out after the commit. @returns what readers are to be told */
  async release(tx: Tx, ids: string[], reason: HoldReason, row: TraceRow, at: Date): Promise<Told[]> {
    const released = await tx.query(RELEASE, [ids, reason, JSON.stringify([row]), at]);
    await this.outbox.handOut(
      tx,
      released.map(({ id, org_id, evaluation_no: generation }) => {
        return { id, name: 'inbox.evaluate', payload: { org_id, message_id: id }, generation };
      }),
    );
    return released;
  }

  /** Whether an earlier mail that a mail refers to is still evaluated, and will begin a chat or not. */
  async isBehind(tx: Tx, { id, references }: Pick<LoadedMessage, 'id' | 'references'>): Promise<boolean> {
    return (await tx.query(BEHIND, [id, references])).length > 0;
  }

  async threadOf(
    tx: Tx,
    { id, inbox_id, references, channel_kind }: Pick<LoadedMessage, 'id' | 'inbox_id' | 'references' | 'channel_kind'>,
  ): Promise<{ chat_id: string; agent_id: string } | null> {
    return (await tx.query(THREAD, [inbox_id, references, id, channel_kind]))[0] ?? null;
  }

  async tookPart(tx: Tx, chatId: string, address: string): Promise<boolean> {
    return (await tx.query(TOOK_PART, [chatId, address])).length > 0;
  }
}
