import { Injectable } from '@nestjs/common';
import {
  Holds,
  ReceiptsRepository,
  type CallCost,
  type HoldingWork,
  type InferenceFeature,
  type ResolvedModel,
  type Usage,
} from '@aps/inference';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';

/** What models are called for that make texts found. */
export interface SearchWork extends Pick<HoldingWork, 'orgId' | 'name' | 'receiptId' | 'budget'> {
  /** The turn that wants it, if one does. */
  of?: { chatId: string; turnId: string; agentId: string };
  /** Adds what it has cost where that is summed up, in the transaction of its receipt. */
  charge?: (tx: Tx, cost: CallCost) => Promise<void>;
}

/** Meters the calls of models that make texts found: what one may cost is reserved before it, and its receipt is stored with what it has brought. */
@Injectable()
export class SearchCalls {
  constructor(
    private readonly db: Database,
    private readonly holds: Holds,
    private readonly receipts: ReceiptsRepository,
  ) {}

  /**
   * Never inside a transaction.
   *
   * @param texts what the model is to read
   * @param call calls it
   * @param store what else is written with the receipt
   * @throws InferenceError, or what `call` and `store` throw
   */
  metered<R extends { usage: Usage }>(
    { of, charge, ...work }: SearchWork,
    feature: InferenceFeature,
    model: ResolvedModel,
    texts: string[],
    call: () => Promise<R>,
    store?: (tx: Tx, result: R) => Promise<void>,
  ): Promise<R> {
    const { chatId = null, turnId = null, agentId = null } = of ?? {};
    return this.holds.holding({ ...work, chatId, agentId, feature }, async (hold) => {
      await hold.reserve(model, { messages: [{ role: 'user', content: texts.join('\n') }], maxOutputTokens: 0, feature });
      const began = performance.now();
      const result = await call();
      hold.receipt({ resolved: model, usage: result.usage, durationMs: performance.now() - began });
      await this.db.transaction(NO_CALLER, async (tx) => {
        await store?.(tx, result);
        const owner = { org_id: work.orgId, chat_id: chatId, turn_id: turnId, agent_id: agentId };
        await this.receipts.insertOnce(tx, hold.receipts, owner, charge && ((cost) => charge(tx, cost)));
      });
      return result;
    });
  }
}
