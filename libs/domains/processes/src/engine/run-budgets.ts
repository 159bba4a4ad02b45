import { Injectable } from '@nestjs/common';
import { TurnBudgets, type BudgetKeeper } from '@aps/chats';
import { InferenceError, type HoldingWork } from '@aps/inference';
import { Database } from '@aps/platform/database';
import { USE_OF_CHATS_RUN, USE_OF_RUN } from './run-budgets.sql';
import type { LoadedRun } from './process-run.sql';

/** Keeps runs to their budgets: before each model call of a step, and of the agents that steps wait for. */
@Injectable()
export class RunBudgets implements BudgetKeeper {
  readonly origins = ['process'] as const;

  constructor(
    private readonly db: Database,
    turns: TurnBudgets,
  ) {
    turns.register(this);
  }

  /** What is asked before the calls of a step; nothing where the run has no budget. */
  of({ id, budget_credits }: Pick<LoadedRun, 'id' | 'budget_credits'>): HoldingWork['budget'] {
    return budget_credits === null ? undefined : async (used) => refuse(await this.db.query(USE_OF_RUN, [id, used]));
  }

  async require(chatId: string, used: string): Promise<void> {
    refuse(await this.db.query(USE_OF_CHATS_RUN, [chatId, used]));
  }
}

function refuse(use: { used_up: boolean }[]): void {
  if (use[0]?.used_up) throw new InferenceError('budget_exceeded', 'The budget of this run is used up.');
}
