import { Injectable } from '@nestjs/common';
import type { TurnWait, WaitingCall } from '@aps/entities';
import { Database, type Db, type Tx } from '@aps/platform/database';
import { statusChanged, type NewEvent, type Pause } from '../state/chat.types';
import { TurnRepository, type AnsweredCall, type TurnBar } from './turn.repository';

/** What a waiting call gets when its wait is over: a result, or another call that runs in its place. */
export type WaitOutcome =
  | { kind: 'result'; content: string; isError?: boolean; events?: NewEvent[] }
  /** `remark`: what the model is told besides the result of that call. */
  | { kind: 'run'; toolSlug: string; arguments: unknown; remark?: string; events?: NewEvent[] };

/** Why nobody waits any more for something that is not over. */
export type AbandonReason = 'stopped' | 'message' | 'terminated' | 'deleted' | TurnBar;

/** Things that turns wait for: questions to humans, child chats. The rows of the source are the truth about what is over. */
export interface WaitSource {
  readonly kind: TurnWait['kind'];
  /** Of these, those that are not over. */
  open(db: Db, refs: string[]): Promise<string[]>;
  /** Asked when nothing is open any more, or the deadline has passed. What is still open then is given up. */
  outcome(tx: Tx, ref: string): Promise<WaitOutcome>;
  /** What the model is told of those that are over, where a message ends the wait for others; a call without an entry was interrupted. */
  interruptedResults?(tx: Tx, refs: string[]): Promise<Map<string, string>>;
  /** @returns what to tell the chat's readers */
  abandon(tx: Tx, refs: string[], reason: AbandonReason): Promise<NewEvent[]>;
}

/**
 * Where turns wait without a slot. Whoever ends what a turn waits for writes that down in its own row and then calls {@link wake} in the
 * same transaction; a turn that begins to wait looks at those rows under the same lock. So whichever comes second sees the other.
 */
@Injectable()
export class TurnWaits {
  private readonly sources = new Map<TurnWait['kind'], WaitSource>();

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
  ) {}

  register(source: WaitSource): void {
    this.sources.set(source.kind, source);
  }

  /** Whether the wait is still for something. A timer is, until its time has come. */
  async isOpen(db: Db, wait: TurnWait): Promise<boolean> {
    const source = this.sources.get(wait.kind);
    if (!source) return wait.resume_at === null || Date.parse(wait.resume_at) > this.db.now().getTime();
    return (await source.open(db, refsOf(wait))).length > 0;
  }

  /** What the call gets. */
  outcome(tx: Tx, wait: TurnWait, call: WaitingCall): Promise<WaitOutcome> {
    const source = this.sources.get(wait.kind);
    if (source && call.ref) return source.outcome(tx, call.ref);
    return Promise.resolve({ kind: 'result', content: JSON.stringify({ status: 'elapsed', at: this.db.now().toISOString() }) });
  }

  /**
   * A user wrote instead of waiting.
   *
   * @returns what to tell the chat's readers, and what to answer the calls that the turn waits in
   */
  async interrupt(tx: Tx, wait: TurnWait): Promise<{ events: NewEvent[]; calls: AnsweredCall[] }> {
    const results = await this.sources.get(wait.kind)?.interruptedResults?.(tx, refsOf(wait));
    const calls = wait.calls.map((call): AnsweredCall => {
      const content = call.ref ? results?.get(call.ref) : undefined;
      return { ...call, content: content ?? INTERRUPTED_BY_MESSAGE, status: content === undefined ? 'failed' : 'done' };
    });
    return { events: await this.abandon(tx, wait, 'message'), calls };
  }

  /** Nobody waits any more. @returns what to tell the chat's readers */
  async abandon(tx: Tx, wait: TurnWait, reason: AbandonReason): Promise<NewEvent[]> {
    return (await this.sources.get(wait.kind)?.abandon(tx, refsOf(wait), reason)) ?? [];
  }

  /**
   * Lets a waiting turn go on when nothing that it waits for is open any more. To be called after writing down what is over. Locks the
   * chat and the turn.
   *
   * @returns what to tell the chat's readers; null when it waits on, is not waiting yet, or is over
   */
  async wake(tx: Tx, turnId: string, at: Date): Promise<NewEvent[] | null> {
    const row = await this.turns.lockWaiting(tx, turnId);
    if (!row || (await this.isOpen(tx, row.wait))) return null;
    await this.turns.endWait(tx, { id: turnId, org_id: row.org_id, chat_id: row.chat_id }, at);
    return [statusChanged(row.chat_status, 'ACTIVE')];
  }
}

/** What a call gets that a user's message ended. */
export const INTERRUPTED_BY_MESSAGE = JSON.stringify({ status: 'interrupted_by_message' });

const refsOf = (wait: TurnWait): string[] => wait.calls.flatMap((call) => call.ref ?? []);

/** The wait as the chat shows it. */
export function pauseOf(wait: TurnWait & { since: string }): Pause {
  const refs = refsOf(wait);
  return {
    kind: wait.kind,
    since: wait.since,
    ...(wait.resume_at && { resume_at: wait.resume_at }),
    ...(wait.kind === 'human' && { request_id: refs[0] }),
    ...(wait.kind === 'children' && { child_chat_ids: refs }),
  };
}
