import { Injectable } from '@nestjs/common';
import type { Db, Tx } from '@aps/platform/database';
import type { NewEvent } from '../state/chat.types';
import { TurnWaits, type AbandonReason, type WaitOutcome, type WaitSource } from '../turns/turn-waits';
import { interruptedResult, outcomeOf } from './hitl.policy';
import { HitlRepository } from './hitl.repository';
import { HitlService } from './hitl.service';

/** Turns that wait for humans. What a call waits for is the id of its request. */
@Injectable()
export class HumanWaits implements WaitSource {
  readonly kind = 'human';

  constructor(
    waits: TurnWaits,
    private readonly requests: HitlRepository,
    private readonly hitl: HitlService,
  ) {
    waits.register(this);
  }

  open(db: Db, ids: string[]): Promise<string[]> {
    return this.requests.pendingAmong(db, ids);
  }

  async outcome(tx: Tx, id: string): Promise<WaitOutcome> {
    const request = await this.requests.byId(tx, id);
    if (!request) throw new Error(`There is no request ${id}`);
    return outcomeOf(request);
  }

  async interruptedResults(tx: Tx, ids: string[]): Promise<Map<string, string>> {
    const results = new Map<string, string>();
    for (const id of ids) {
      const request = await this.requests.byId(tx, id);
      if (request && request.status !== 'pending') results.set(id, interruptedResult(request));
    }
    return results;
  }

  abandon(tx: Tx, ids: string[], reason: AbandonReason): Promise<NewEvent[]> {
    return this.hitl.close(tx, ids, 'cancelled', reason);
  }
}
