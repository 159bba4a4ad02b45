import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@aps/platform/database';
import { Maintenance, RowByRow } from '@aps/platform/maintenance';
import { ChatLog } from '../state/chat-log';
import { TurnEndings } from '../turns/turn-endings';
import { TurnWaits } from '../turns/turn-waits';
import { TurnRepository } from '../turns/turn.repository';
import { ChildWaits } from './child-waits';
import { ChatEnds } from '../state/chat-ends';
import { mayMove } from '../state/chat-state.policy';
import { ChatState } from '../state/chat-state.repository';
import { statusChanged } from '../state/chat.types';
import { DelegationRepository } from './delegation.repository';

const BATCH = 100;

/** Statuses of a parent whose children nobody waits for. */
const OVER: readonly string[] = ['ERRORED', 'ARCHIVED', 'ABANDONED'];

/**
 * Ends what nobody else ends of delegation: children that do not run while their parent has failed or is closed are abandoned, and
 * parents go on whose last open delegations have passed their deadlines. Runs in every worker; what it does is safe to do twice.
 */
@Injectable()
export class DelegationSweeper {
  private readonly overdue: RowByRow;
  private readonly orphans: RowByRow;

  constructor(
    maintenance: Maintenance,
    private readonly db: Database,
    private readonly rows: DelegationRepository,
    private readonly turns: TurnRepository,
    private readonly waits: TurnWaits,
    private readonly endings: TurnEndings,
    private readonly children: ChildWaits,
    private readonly chats: ChatState,
    private readonly ends: ChatEnds,
    private readonly log: ChatLog,
  ) {
    this.overdue = new RowByRow(db, 'delegations');
    this.orphans = new RowByRow(db, 'delegations');
    maintenance.register({ name: 'delegations', everyS: 5, batch: BATCH, run: () => this.sweep() });
  }

  /**
   * @returns the larger number of parents that it woke and children that it settled
   * @throws what one of those threw that could not be; the others are
   */
  async sweep(): Promise<number> {
    let woken = 0;
    let settled = 0;
    try {
      woken = await this.overdue.pass(
        BATCH,
        (limit, but) => this.rows.overdueTurns(this.db, limit, but),
        (tx, turn) => this.wake(tx, turn.id, turn.chat_id),
      );
    } finally {
      settled = await this.orphans.pass(
        BATCH,
        (limit, but) => this.rows.orphans(this.db, limit, but),
        (tx, child) => this.abandon(tx, child.id),
      );
    }
    return Math.max(woken, settled);
  }

  private async wake(tx: Tx, turnId: string, chatId: string): Promise<boolean> {
    const at = this.db.now();
    const events = await this.waits.wake(tx, turnId, at);
    await this.log.tell(tx, chatId, events ?? [], at);
    return events !== null;
  }

  /** Looks again under the locks of the child and then of its parent: either may have gone on meanwhile. @returns false when it is to be looked at again */
  private async abandon(tx: Tx, chatId: string): Promise<boolean> {
    const child = await this.rows.lockOrphan(tx, chatId);
    // Another worker has it, or it runs.
    if (!child) return false;
    const parent = await this.rows.lockParent(tx, child.parent_chat_id);
    await this.rows.settleOrphan(tx, chatId);
    if (child.deleted_at || !mayMove('abandon', child)) return true;
    if (!parent.deleted_at && !OVER.includes(parent.status)) return true;
    await this.children.abandonOf(tx, [chatId]);
    if (child.current_turn_id) {
      const wait = await this.turns.waitOf(tx, child.current_turn_id);
      const events = wait ? await this.waits.abandon(tx, wait, 'terminated') : [];
      await this.endings.end(tx, { id: child.current_turn_id, chat_id: chatId, org_id: child.org_id }, child.status, {
        turnStatus: 'cancelled',
        chat: 'abandon',
        events,
      });
      return true;
    }
    const at = this.db.now();
    await this.chats.abandon(tx, chatId, at);
    await this.log.tell(tx, chatId, [statusChanged(child.status, 'ABANDONED')], at);
    await this.ends.tell(tx, { id: chatId }, 'abandoned', null);
    return true;
  }
}
