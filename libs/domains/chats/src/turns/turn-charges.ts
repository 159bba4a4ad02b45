import { Injectable, Logger } from '@nestjs/common';
import { ReceiptsRepository, type WorkHold } from '@aps/inference';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { ChatState } from '../state/chat-state.repository';
import type { OwnedTurn } from './running-turn';
import { TurnRepository } from './turn.repository';

/** Charges turns for calls of models that no step tells of: summaries, and what was answered when a stop came. */
@Injectable()
export class TurnCharges {
  private readonly logger = new Logger('TurnCharges');

  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly receipts: ReceiptsRepository,
    private readonly chats: ChatState,
  ) {}

  /** @returns whether the turn was stopped and is charged for what it was answered; one that goes on elsewhere pays for what it is answered there */
  async chargeStopped(turn: OwnedTurn, hold: WorkHold): Promise<boolean> {
    if (hold.receipts.length === 0) return false;
    try {
      return await this.db.transaction(NO_CALLER, async (tx) => {
        const isOver = await this.turns.isStopped(tx, turn);
        if (isOver) await this.charge(tx, turn, hold);
        return isOver;
      });
    } catch (cause) {
      this.logger.warn({ msg: 'A stopped turn was not charged', turn_id: turn.id, error: (cause as Error).message });
      return false;
    }
  }

  /** Once, whether or not the commit of an earlier try was heard of. */
  charge(tx: Tx, { id: turn_id, org_id, chat_id, agent_id }: OwnedTurn, { receipts }: WorkHold): Promise<void> {
    const owner = { org_id, chat_id, turn_id, agent_id };
    return this.receipts.insertOnce(tx, receipts, owner, (cost) => this.chats.addCost(tx, chat_id, cost));
  }
}
