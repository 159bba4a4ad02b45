import { Injectable } from '@nestjs/common';
import type { HoldingWork } from '@aps/inference';
import type { ChatOrigin } from '@aps/tools';
import type { OwnedTurn } from './running-turn';

/** Who lets chats that it has begun spend no more than so much. */
export interface BudgetKeeper {
  readonly origins: readonly ChatOrigin['kind'][];
  /**
   * Comes before each model call of such a chat.
   *
   * @param used credits that the step at hand has used already, which no receipt tells of yet
   * @throws InferenceError `budget_exceeded`
   */
  require(chatId: string, used: string): Promise<void>;
}

/** Where domains above keep budgets of their own. All other chats ask nothing. */
@Injectable()
export class TurnBudgets {
  private readonly keepers: BudgetKeeper[] = [];

  register(keeper: BudgetKeeper): void {
    this.keepers.push(keeper);
  }

  of({ origin, chat_id }: Pick<OwnedTurn, 'origin' | 'chat_id'>): HoldingWork['budget'] {
    const keeper = this.keepers.find(({ origins }) => origins.includes(origin.kind));
    return keeper && ((used) => keeper.require(chat_id, used));
  }
}
