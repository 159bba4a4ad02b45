import { Injectable } from '@nestjs/common';
import {
  Holds,
  ReceiptsRepository,
  type CallCost,
  type HoldingWork,
  type InferenceFeature,
  type MeteredResult,
  type ResolvedModel,
  type TextModels,
} from '@aps/inference';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';

/** A model that has not answered so many searches in a row in time is asked by none for so long: it would keep each of them waiting. */
const LATE_IN_A_ROW = 3;
const REST_MS = 15_000;

/** Calls a provider that has so long for it. */
export type Timed = <R>(call: (signal: AbortSignal) => Promise<R>) => Promise<R>;

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
  private readonly restMs = REST_MS;
  /** Models that have not answered in time, by how they are called: how often in a row, and until when that counts. */
  private readonly late = new Map<string, { times: number; until: number }>();

  constructor(
    private readonly db: Database,
    private readonly holds: Holds,
    private readonly receipts: ReceiptsRepository,
  ) {}

  /**
   * Asks a model for somebody who waits. One that several have just not been answered by in time is not asked again at once.
   *
   * @param ms what it has for it
   * @param ask is given how to call the provider: what else is done there is no time of its
   * @returns null where it is not asked
   * @throws what `ask` throws
   */
  async inTime<R>(
    { orgId }: SearchWork,
    { entry, route, byo_key }: ResolvedModel,
    ms: number,
    ask: (timed: Timed) => Promise<R>,
  ): Promise<R | null> {
    // How much there is to put in order is up to the organization: what is too much for a model says nothing of what others ask.
    const name = `${entry.id} ${route.id} ${byo_key || entry.kind === 'rerank' ? orgId : ''}`;
    for (const [late, { until }] of this.late) if (until <= performance.now()) this.late.delete(late);
    if ((this.late.get(name)?.times ?? 0) >= LATE_IN_A_ROW) return null;
    return ask(async (call) => {
      const signal = AbortSignal.timeout(ms);
      let isLate = false;
      try {
        return await call(signal);
      } catch (error) {
        isLate = signal.aborted;
        throw error;
      } finally {
        if (isLate) this.late.set(name, { times: (this.late.get(name)?.times ?? 0) + 1, until: performance.now() + this.restMs });
        else this.late.delete(name);
      }
    });
  }

  /**
   * Never inside a transaction.
   *
   * @param texts what the model is to read
   * @param call calls it
   * @param store what else is written with the receipt
   * @throws InferenceError, or what `call` and `store` throw
   */
  metered<R extends MeteredResult>(
    { of, charge, ...work }: SearchWork,
    feature: InferenceFeature,
    model: ResolvedModel,
    texts: string[],
    call: (models: TextModels) => Promise<R>,
    store?: (tx: Tx, result: R) => Promise<void>,
  ): Promise<R> {
    const { chatId = null, turnId = null, agentId = null } = of ?? {};
    return this.holds.holding({ ...work, chatId, agentId, feature }, async (hold) => {
      const result = await hold.metered(model, { messages: [{ role: 'user', content: texts.join('\n') }], maxOutputTokens: 0 }, call);
      await this.db.transaction(NO_CALLER, async (tx) => {
        await store?.(tx, result);
        const owner = { org_id: work.orgId, chat_id: chatId, turn_id: turnId, agent_id: agentId };
        await this.receipts.insertOnce(tx, hold.receipts, owner, charge && ((cost) => charge(tx, cost)));
      });
      return result;
    });
  }
}
