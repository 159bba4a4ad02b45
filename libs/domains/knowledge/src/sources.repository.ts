import { Injectable } from '@nestjs/common';
import { notFound, orgTopic } from '@aps/contracts';
import type { KnowledgeSource } from '@aps/entities';
import { Database, NO_CALLER, storable, type Db, type Tenant, type Tx } from '@aps/platform/database';
import { nextGeneration, Outbox } from '@aps/platform/outbox';
import { RealtimePublisher } from '@aps/platform/realtime';
import { LeaseEnded, RunRows, type ClaimedRun } from '@aps/platform/runs';
import { uuidv7 } from 'uuidv7';
import type { Chunk } from './chunking/chunker';
import {
  DELETE_OTHER_CHUNKS,
  ERASE,
  ERASE_PIECES,
  FAILED,
  GIVEN_UP,
  HOLD_BASE,
  INSERT_CHUNKS,
  KEEP_EXTRACTED,
  LOAD,
  OWN_NOW,
  OWNED,
  PIECES,
  READY,
  REINDEX,
  RETITLE_CHUNKS,
  RUNS,
  TELL,
  type LoadedSource,
  type OwnedSource,
} from './sources.sql';

/** Pieces that go to the database at once. */
const AT_ONCE = 500;

/** What the claim of a source answers. */
export interface ClaimedSource extends ClaimedRun, Pick<KnowledgeSource, 'kind'> {}

/** What a source came to. */
export interface Indexed extends Pick<KnowledgeSource, 'media_type'> {
  /** As it calls itself; null where it does not. */
  own_title: string | null;
  size_bytes: number;
  /** SHA-256 of what it was read from, hexadecimal; null of what was written here. */
  hash: string | null;
  /** As it was read; null of what was written here. */
  extracted: string | null;
  chunks: Chunk[];
}

/** Why a source could not be indexed, and where. */
export type SourceError = Omit<NonNullable<KnowledgeSource['error']>, 'retryable'>;

type OwnRun = Pick<ClaimedSource, 'id' | 'org_id' | 'fence'>;
type Ended = Pick<KnowledgeSource, 'status'>;

/** Sources, as they are indexed. Whoever locks a base and a source locks them in this order. */
@Injectable()
export class SourcesRepository {
  readonly runs: RunRows<'knowledge.index'>;

  constructor(
    private readonly db: Database,
    private readonly realtime: RealtimePublisher,
    private readonly outbox: Outbox,
  ) {
    this.runs = new RunRows(RUNS, outbox);
  }

  /** A base that nobody deletes before the transaction ends. @throws DomainError `not_found` */
  async holdBase(tx: Tx, { orgId }: Pick<Tenant, 'orgId'>, kbId: string): Promise<void> {
    if (!(await tx.query(HOLD_BASE, [orgId, kbId])).length) throw notFound('Knowledge base');
  }

  /** Null for one that is gone. */
  async load(db: Db, id: string): Promise<LoadedSource | null> {
    return (await db.query(LOAD, [id]))[0] ?? null;
  }

  /** Has sources of locked bases indexed that have just been added. */
  async dispatch(tx: Tx, { orgId: org_id }: Pick<Tenant, 'orgId'>, ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.runs.dispatch(tx, id, { org_id, source_id: id });
    await this.tell(tx, org_id, ids);
  }

  /** Has sources of a held base indexed anew. @returns how many there are */
  async reindex(tx: Tx, { orgId: org_id }: Pick<Tenant, 'orgId'>, ids: readonly string[]): Promise<number> {
    const rows = await tx.query(REINDEX, [org_id, ids]);
    // One that waits has its job, or is over the cap and gets one; one that is under way gets the next when it ends.
    for (const { id, was } of rows)
      if (was === 'ready' || was === 'failed') await this.runs.dispatch(tx, id, { org_id, source_id: id }, nextGeneration());
    if (rows.length) await this.tell(tx, org_id, ids);
    return rows.length;
  }

  /** Has a changed title found at once. */
  async retitle(tx: Tx, id: string, title: string): Promise<void> {
    await tx.execute(RETITLE_CHUNKS, [id, title]);
  }

  /**
   * Ends a run: what it has found takes the place of what was found before, at once and whole.
   *
   * @throws LeaseEnded when it is not this owner's any more, or its base is gone
   */
  async finish(run: OwnRun, kbId: string, indexed: Indexed): Promise<void> {
    const { own_title, media_type, size_bytes, hash, extracted, chunks } = storable(indexed);
    const titleOf = (source: OwnedSource) => (source.names_itself && own_title) || source.title;
    const rows = chunks.map((chunk) => ({ id: uuidv7(), ...chunk }));
    await this.db.transaction(NO_CALLER, async (tx) => {
      // Many pieces take seconds to be written, in which base and source are held for nobody.
      const [now] = await tx.query(OWN_NOW, [run.id, run.fence]);
      if (!now) throw new LeaseEnded('lost');
      for (let from = 0; from < rows.length; from += AT_ONCE)
        await tx.execute(INSERT_CHUNKS, [run.org_id, kbId, run.id, JSON.stringify(rows.slice(from, from + AT_ONCE)), titleOf(now)]);
      const source = await this.own(tx, run, kbId);
      const title = titleOf(source);
      await tx.execute(DELETE_OTHER_CHUNKS, [run.id, rows.map(({ id }) => id)]);
      // It may have been given another title since.
      if (title !== titleOf(now)) await this.retitle(tx, run.id, title);
      if (extracted !== null) await tx.execute(KEEP_EXTRACTED, [run.id, run.org_id, extracted]);
      const [end] = await tx.query(READY, [run.id, run.fence, chunks.length, size_bytes, media_type, title, hash]);
      await this.ended(tx, run, end);
    });
  }

  /** Ends a run that has failed. What was found before stays. @throws LeaseEnded as {@link finish} */
  async fail(run: OwnRun, kbId: string, error: SourceError): Promise<void> {
    await this.db.transaction(NO_CALLER, async (tx) => {
      await this.own(tx, run, kbId);
      const [end] = await tx.query(FAILED, [run.id, run.fence, errorOf(error)]);
      await this.ended(tx, run, end);
    });
  }

  /** The same of one whose workers were lost. */
  async giveUp({ id, org_id }: Pick<OwnRun, 'id' | 'org_id'>, error: SourceError): Promise<void> {
    await this.db.transaction(NO_CALLER, async (tx) => {
      const [row] = await tx.query(GIVEN_UP, [id, errorOf(error)]);
      if (row) await this.ended(tx, { id, org_id }, row);
    });
  }

  /** Erases sources that nothing stands below, {@link SOURCES} at most; of many pieces only some at first. @returns whether they are gone */
  async erase(tx: Tx, { orgId }: Pick<Tenant, 'orgId'>, ids: readonly string[]): Promise<boolean> {
    if ((await tx.execute(ERASE_PIECES, [ids])) === PIECES) return false;
    await tx.execute(ERASE, [orgId, ids]);
    return true;
  }

  /** Tells readers of the organization what sources are now. */
  async tell(tx: Tx, orgId: string, ids: readonly string[]): Promise<void> {
    const at = this.db.now();
    const told = await tx.query(TELL, [orgId, ids, at]);
    tx.afterCommit(() =>
      this.realtime.publish(
        orgTopic(orgId),
        told.map(({ id, data }) => ({ id, type: 'source_updated', at: at.toISOString(), data })),
      ),
    );
  }

  /** Holds base and source of a run until the transaction ends. @throws LeaseEnded */
  private async own(tx: Tx, run: OwnRun, kbId: string): Promise<OwnedSource> {
    const held = await tx.query(HOLD_BASE, [run.org_id, kbId]);
    const [source] = held.length ? await tx.query(OWNED, [run.id, run.fence]) : [];
    if (!source) throw new LeaseEnded('lost');
    return source;
  }

  private async ended(tx: Tx, { id, org_id }: Pick<OwnRun, 'id' | 'org_id'>, { status }: Ended): Promise<void> {
    if (status === 'queued') await this.runs.dispatch(tx, id, { org_id, source_id: id }, nextGeneration());
    else await this.outbox.cancel(tx, id);
    tx.afterCommit(() => this.runs.fillSlot(this.db, org_id));
    await this.tell(tx, org_id, [id]);
  }
}

const errorOf = (error: SourceError): string => JSON.stringify({ ...storable(error), retryable: false });
