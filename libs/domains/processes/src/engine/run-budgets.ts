import { Injectable } from '@nestjs/common';
import { TurnBudgets, type BudgetKeeper } from '@aps/chats';
import { InferenceError, type HoldingWork } from '@aps/inference';
import { Database } from '@aps/platform/database';
import { USED_UP, USED_UP_FOR_CHAT } from './run-budgets.sql';
import type { LoadedRun } from './process-run.sql';

/** Keeps runs to their budgets, and to those of the runs that they are within: before each model call of a step, and of all agents below it. */
@Injectable()
export class RunBudgets implements BudgetKeeper {
  readonly origins = ['process', 'agent'] as const;

  constructor(
    private readonly db: Database,
    turns: TurnBudgets,
  ) {
    turns.register(this);
  }

  /** What is asked before the calls of a step; nothing where no budget can be. */
  of({ id, budget_credits, parent_run_id }: Pick<LoadedRun, 'id' | 'budget_credits' | 'parent_run_id'>): HoldingWork['budget'] {
    if (budget_credits === null && parent_run_id === null) return undefined;
    return async (used) => refuse(await this.db.query(USED_UP, [id, used]));
  }

  async require(chatId: string, used: string): Promise<void> {
    refuse(await this.db.query(USED_UP_FOR_CHAT, [chatId, used]));
  }
}

function refuse(usedUp: { is_own: boolean }[]): void {
  if (usedUp.length === 0) return;
  const whose = usedUp.some(({ is_own }) => is_own) ? 'this run' : 'a run that this one is within';
  throw new InferenceError('budget_exceeded', `The budget of ${whose} is used up.`);
}
