import { Injectable } from '@nestjs/common';
import { ReceiptsRepository, type WorkHold } from '@aps/inference';
import type { Tx } from '@aps/platform/database';
import { ChatState } from '../state/chat-state.repository';
import type { OwnedTurn } from './running-turn';

/** Charges turns for calls of models that no step tells of: summaries, and what was answered when a stop came. */
@Injectable()
export class TurnCharges {
  constructor(
    private readonly receipts: ReceiptsRepository,
    private readonly chats: ChatState,
  ) {}

  /** Once, whether or not the commit of an earlier try was heard of. */
  charge(tx: Tx, { id: turn_id, org_id, chat_id, agent_id }: OwnedTurn, { receipts }: WorkHold): Promise<void> {
    const owner = { org_id, chat_id, turn_id, agent_id };
    return this.receipts.insertOnce(tx, receipts, owner, (cost) => this.chats.addCost(tx, chat_id, cost));
  }
}
