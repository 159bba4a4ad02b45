import { Injectable } from '@nestjs/common';
import { Replay, type ReplayItem } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { costOf, ReceiptsRepository, type ReceiptRow } from '@aps/inference';
import {
  batchesBehind,
  Database,
  listed,
  listedInBatches,
  NO_CALLER,
  OrgTable,
  PIECE,
  storable,
  type Columns,
  type Listed,
  type Tx,
} from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { LeaseEnded, RunRows, type ClaimedRun } from '@aps/platform/runs';
import type { Answer } from './replay.policy';
import {
  ADD_ITEMS,
  FAILED,
  FORGET_PROGRESS,
  ITEMS,
  ITEMS_HEAVY,
  LOAD,
  LOCK,
  MAY_SPEND,
  NEXT_ITEM,
  NOTE_PROGRESS,
  NOTE_RESULT,
  PURGE,
  RUNS,
  SPENT,
  UNFINISHED,
  type DoneItem,
  type LockedReplay,
} from './replays.sql';

/** What the claim of a replay answers. */
export interface ClaimedReplay extends ClaimedRun, Pick<Replay, 'agent_id' | 'kind'> {}

/** What is to be played again; its place in the list is its number. */
export type NewItem = Pick<ReplayItem, 'chat_id' | 'decision'>;

/** What an item came to; what it does not say is null. */
export type Outcome = { result: object } & Partial<
  Pick<ReplayItem, 'verdict' | 'differences' | 'misses' | 'cost_before' | 'tokens_before'>
>;

type OwnReplay = Pick<ClaimedReplay, 'id' | 'org_id' | 'fence' | 'agent_id'>;

/** Replays, their items, and what they are charged. */
@Injectable()
export class ReplaysRepository {
  readonly runs: RunRows<'replay.run'>;
  private readonly replays = new OrgTable(Replay);

  constructor(
    private readonly db: Database,
    private readonly receipts: ReceiptsRepository,
    private readonly outbox: Outbox,
  ) {
    this.runs = new RunRows(RUNS, outbox);
  }

  /** Makes a replay, with its job. */
  async add(tx: Tx, scope: OrgScope, columns: Columns<Replay>, items: NewItem[]): Promise<Replay> {
    const replay = await this.replays.insert(tx, scope, { ...columns, status: 'queued' });
    const rows = items.map((item, place) => ({ ...item, place }));
    await tx.execute(ADD_ITEMS, [replay.id, scope.orgId, JSON.stringify(rows)]);
    await this.runs.dispatch(tx, replay.id, { org_id: scope.orgId, replay_id: replay.id });
    return replay;
  }

  /** What has just been claimed is there. */
  async load(id: string): Promise<Replay> {
    return (await this.db.query(LOAD, [id]))[0];
  }

  async maySpend(id: string): Promise<Pick<Replay, 'spent' | 'budget'>> {
    return (await this.db.query(MAY_SPEND, [id]))[0];
  }

  /** The first that is not done. */
  async next(id: string): Promise<ReplayItem | null> {
    return (await this.db.query(NEXT_ITEM, [id]))[0] ?? null;
  }

  /**
   * Notes what a model has said to an item, and charges that, at once. Of a replay that was cancelled meanwhile only the charge is left.
   *
   * @param answer null for one that is not kept
   * @throws LeaseEnded when the replay is not this owner's any more
   */
  async note(
    run: OwnReplay,
    { place }: Pick<ReplayItem, 'place'>,
    answer: Answer | null,
    { receipts, unit }: { receipts: readonly ReceiptRow[]; unit: Replay['billing_unit'] },
  ): Promise<void> {
    const cost = amountOf(receipts, unit);
    const charge = async (tx: Tx) => {
      await this.receipts.insertOnce(tx, receipts, { org_id: run.org_id, agent_id: run.agent_id }, async () => {
        await tx.execute(SPENT, [run.id, cost ?? '0']);
      });
    };
    try {
      await this.runs.step(this.db, run, async (tx) => {
        await tx.execute(NOTE_PROGRESS, [run.id, place, JSON.stringify(answer ? [answer] : []), cost, tokensOf(receipts)]);
        await charge(tx);
      });
    } catch (error) {
      if (error instanceof LeaseEnded && (await this.load(run.id))?.status === 'cancelled') await this.db.transaction(NO_CALLER, charge);
      throw error;
    }
  }

  /** @throws LeaseEnded */
  async finishItem(run: OwnReplay, { place }: Pick<ReplayItem, 'place'>, outcome: Outcome): Promise<void> {
    await this.runs.step(this.db, run, async (tx) => {
      await tx.execute(NOTE_RESULT, [run.id, place, JSON.stringify(storable(outcome))]);
    });
  }

  /** @throws LeaseEnded */
  finish(run: OwnReplay): Promise<void> {
    return this.runs.step(this.db, run, () => Promise.resolve(), { status: 'completed', at: this.db.now() });
  }

  /** Ends it with an error. @param run without a fence where nobody has it any more; one that is over stays so @throws LeaseEnded when it is not this owner's any more */
  async fail(run: Pick<OwnReplay, 'id'> & { fence?: string }, error: Replay['error']): Promise<void> {
    await this.db.transaction(NO_CALLER, async (tx) => {
      if (!(await tx.query(FAILED, [run.id, JSON.stringify(error), run.fence ?? null])).length) {
        if (run.fence) throw new LeaseEnded('lost');
        return;
      }
      await this.outbox.cancel(tx, run.id);
      await tx.execute(FORGET_PROGRESS, [run.id]);
    });
  }

  /** How many of an organization are not over. */
  async unfinished(tx: Tx, orgId: string): Promise<number> {
    return (await tx.query(UNFINISHED, [orgId]))[0].n;
  }

  /** Null where there is no such replay of the agent. */
  async lock(tx: Tx, scope: OrgScope, agentId: string, kind: Replay['kind'], id: string): Promise<LockedReplay | null> {
    return (await tx.query(LOCK, [scope.orgId, agentId, kind, id]))[0] ?? null;
  }

  /** Ends one that is locked, and not over. */
  async cancel(tx: Tx, id: string): Promise<void> {
    await this.runs.end(tx, id, { status: 'cancelled', error: null, at: this.db.now() });
    await tx.execute(FORGET_PROGRESS, [id]);
  }

  /**
   * What of a replay its reader may see, in its order.
   *
   * @param rows `large` where an item has two texts
   */
  items({ orgId, actor }: OrgScope, id: string, rows?: 'large'): Promise<Listed<DoneItem>> {
    const reader = [orgId, id, actor.userId];
    const read = (after: number, limit: number) => this.db.query(ITEMS, [...reader, after, limit]);
    return listedInBatches(
      {},
      ({ limit = PIECE }) => listed({ limit }, read(-1, limit + 1), () => 0),
      (_, size) =>
        batchesBehind(
          -1,
          ({ place }) => place,
          (place) => read(place, size),
        ),
      rows && (async ({ limit }) => (await this.db.query(ITEMS_HEAVY, [...reader, limit]))[0].heavy),
    );
  }

  /** @returns how many were removed */
  purge(days: number, batch: number): Promise<number> {
    return this.db.execute(PURGE, [days, batch]);
  }
}

/** Null where one of them has no price. */
function amountOf(receipts: readonly ReceiptRow[], unit: Replay['billing_unit']): string | null {
  if (receipts.some(({ usd_cost, unpriced }) => (unit === 'usd' ? usd_cost === null : unpriced))) return null;
  return (unit === 'usd' ? costOf(receipts).usd_cost : costOf(receipts).credits) ?? '0';
}

const tokensOf = (receipts: readonly ReceiptRow[]): number =>
  receipts.reduce((n, r) => n + r.input_tokens + r.cached_input_tokens + r.cache_write_tokens + r.output_tokens + r.reasoning_tokens, 0);
