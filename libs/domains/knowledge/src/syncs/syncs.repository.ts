import { Injectable } from '@nestjs/common';
import type { Calling } from '@aps/connections';
import type { KnowledgeSync } from '@aps/entities';
import { Database, NO_CALLER, storable, type Db, type Tenant, type Tx } from '@aps/platform/database';
import { nextGeneration, Outbox } from '@aps/platform/outbox';
import { LeaseEnded, RunRows, type ClaimedRun } from '@aps/platform/runs';
import { uuidv7 } from 'uuidv7';
import { SourcesRepository } from '../sources.repository';
import { SOURCES } from '../sources.sql';
import {
  ADD_ITEMS,
  BEGIN,
  BEGIN_DUE,
  COUNT,
  FAILED,
  FORGET,
  GIVEN_UP,
  HOLD_LEFT,
  HOLD_UNSEEN,
  KNOWN,
  LEAVE,
  LEFT,
  LOAD,
  RUNS,
  SEE_ITEMS,
  SYNCED,
  UNREAD,
  type KnownItem,
} from './syncs.sql';

/** So many parts of a collection are deleted while somebody waits for it. */
const PARTS = 20;

/** What the claim of a synchronisation answers. */
export interface ClaimedSync extends ClaimedRun, Pick<KnowledgeSync, 'kb_id'> {}

/** Why a synchronisation failed, for programs and for people. */
export interface SyncError {
  code: string;
  message: string;
}

/** Something of a collection that a base has not. */
export interface NewItem {
  remote_id: string;
  title: string;
  modified: string | null;
}

/** Something that it has. */
export interface SeenItem {
  id: string;
  title: string;
  modified: string | null;
  /** Null where it was not read. */
  hash: string | null;
}

/** What a step of a synchronisation writes. */
export interface SyncStep {
  added: NewItem[];
  updated: SeenItem[];
  unchanged: SeenItem[];
}

type OwnRun = Pick<ClaimedSync, 'id' | 'org_id' | 'fence'>;

/** Whose connection is asked, and on whose behalf. */
export const callingOf = ({ org_id, connection_id, principal_id }: KnowledgeSync): Calling => ({
  ...{ orgId: org_id, connectionId: connection_id, principalId: principal_id },
});

/** Synchronisations, and what came by them. Whoever locks one and its sources locks them in this order, and its base between. */
@Injectable()
export class SyncsRepository {
  readonly runs: RunRows<'knowledge.sync'>;

  constructor(
    private readonly db: Database,
    private readonly sources: SourcesRepository,
    private readonly outbox: Outbox,
  ) {
    this.runs = new RunRows(RUNS, outbox);
  }

  /** Null for one that is gone. */
  async load(db: Db, id: string): Promise<KnowledgeSync | null> {
    return (await db.query(LOAD, [id]))[0] ?? null;
  }

  /** Has one run that has just been made, or begun anew. */
  async dispatch(tx: Tx, org_id: string, id: string): Promise<void> {
    await this.runs.dispatch(tx, id, { org_id, sync_id: id }, nextGeneration());
  }

  /** Begins the next run of one, unless one is under way or its connection is not asked. @returns whether it did */
  async begin(tx: Tx, { orgId }: Pick<Tenant, 'orgId'>, id: string): Promise<boolean> {
    const begun = await tx.query(BEGIN, [orgId, id]);
    for (const row of begun) await this.dispatch(tx, orgId, row.id);
    return begun.length > 0;
  }

  /** Begins those whose time has come. @returns how many */
  async beginDue(most: number): Promise<number> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const begun = await tx.query(BEGIN_DUE, [most]);
      for (const { org_id, id } of begun) await this.dispatch(tx, org_id, id);
      return begun.length;
    });
  }

  /** What the base has of the collection, by the names that it has there. */
  async known(sync: KnowledgeSync): Promise<Map<string, KnownItem>> {
    return new Map((await this.db.query(KNOWN, [sync.org_id, sync.id])).map((item) => [item.remote_id, item]));
  }

  /** Adds what is new, has indexed anew what has changed, and counts all of it, at once. @throws LeaseEnded where the run is not this owner's any more, or its base is gone */
  async step(run: OwnRun, sync: KnowledgeSync, step: SyncStep): Promise<void> {
    const { added, updated, unchanged } = storable(step);
    const scope = { orgId: sync.org_id };
    await this.runs.step(this.db, run, async (tx) => {
      await this.sources.holdBase(tx, scope, sync.kb_id).catch(() => {
        throw new LeaseEnded('lost');
      });
      const rows = added.map((item) => ({ id: uuidv7(), ...item }));
      const ids = rows.length ? (await tx.query(ADD_ITEMS, [sync.id, JSON.stringify(rows)])).map(({ id }) => id) : [];
      await tx.execute(SEE_ITEMS, [sync.org_id, sync.round, JSON.stringify([...updated, ...unchanged])]);
      if (ids.length) await this.sources.dispatch(tx, scope, ids);
      if (updated.length)
        await this.sources.reindex(
          tx,
          scope,
          updated.map(({ id }) => id),
        );
      await tx.execute(COUNT, [sync.id, ids.length, updated.length, 0, unchanged.length]);
    });
  }

  /** Ends a run that has seen all of the collection: what it has not seen is deleted. @throws LeaseEnded */
  async finish(run: OwnRun, sync: KnowledgeSync): Promise<void> {
    for (let left = true; left;) {
      await this.runs.step(this.db, run, async (tx) => {
        const part = await this.deletePart(tx, sync, sync.round);
        await tx.execute(COUNT, [sync.id, 0, 0, part.deleted, 0]);
        left = part.left;
      });
    }
    await this.runs.step(this.db, run, (tx) => tx.execute(SYNCED, [sync.id]).then(() => undefined), { status: 'ok', at: this.db.now() });
    await this.runs.fillSlot(this.db, sync.org_id);
  }

  /** Ends a run that has failed. What came by it before stays. @throws LeaseEnded */
  async fail(run: OwnRun, error: SyncError): Promise<void> {
    await this.over(run, async (tx) => (await tx.query(FAILED, [run.id, errorOf(error), run.fence])).length);
  }

  /** The same of one whose workers were lost. */
  async giveUp(run: Pick<OwnRun, 'id' | 'org_id'>, error: SyncError): Promise<void> {
    await this.over(run, async (tx) => (await tx.query(GIVEN_UP, [run.id, errorOf(error)])).length);
  }

  private async over({ id, org_id }: Pick<OwnRun, 'id' | 'org_id'>, end: (tx: Tx) => Promise<number>): Promise<void> {
    await this.db.transaction(NO_CALLER, async (tx) => {
      if (!(await end(tx))) throw new LeaseEnded('lost');
      await this.outbox.cancel(tx, id);
      tx.afterCommit(() => this.runs.fillSlot(this.db, org_id));
    });
  }

  /** Has nobody go on with one. @returns its collection; null where there is none */
  async leave(tx: Tx, { orgId }: Pick<Tenant, 'orgId'>, kbId: string, id: string): Promise<string | null> {
    const [left] = await tx.query(LEAVE, [orgId, kbId, id]);
    if (!left) return null;
    await this.outbox.cancel(tx, id);
    return left.collection_id;
  }

  /** Deletes what came by one that was left, and then itself; what takes long is left to maintenance. */
  async forget(id: string): Promise<void> {
    for (let part = 0; part < PARTS && (await this.db.transaction(NO_CALLER, (tx) => this.forgetPart(tx, id))); part++);
  }

  /** Those that were left, and whose deleter died over it or leaves it to others, without those of the given ids. */
  left(most: number, but: string[]): Promise<{ id: string }[]> {
    return this.db.query(LEFT, [most, but]);
  }

  /** Deletes a part of what came by one that was left, and with the last of it itself. @returns false where it is gone, or others are at it */
  async forgetPart(tx: Tx, id: string): Promise<boolean> {
    const [sync] = await tx.query(HOLD_LEFT, [id]);
    if (sync && !(await this.deletePart(tx, sync, null)).left) await tx.execute(FORGET, [id]);
    return !!sync;
  }

  /** Deletes some of the sources, or pieces of them, that no round since the given one has seen. @returns how many sources, and whether more may be left */
  private async deletePart(tx: Tx, { id, org_id }: Pick<KnowledgeSync, 'id' | 'org_id'>, round: number | null) {
    const ids = (await tx.query(HOLD_UNSEEN, [org_id, id, round])).map((source) => source.id);
    const gone = await this.sources.erase(tx, { orgId: org_id }, ids);
    if (!gone) await tx.execute(UNREAD, [org_id, ids]);
    return { deleted: gone ? ids.length : 0, left: !gone || ids.length === SOURCES };
  }
}

const errorOf = (error: SyncError): string => JSON.stringify({ ...storable(error), retryable: true });
