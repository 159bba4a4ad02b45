import { Injectable } from '@nestjs/common';
import { ConnectionCalls, ServerFailed, ServerRefused, Unauthorized, type ListedResource } from '@aps/connections';
import type { KnowledgeSync } from '@aps/entities';
import { Database } from '@aps/platform/database';
import { LeaseEnded, type Lease, type OwnedRun } from '@aps/platform/runs';
import { Cutoff } from '@aps/platform/signals';
import { hashOf } from '../ingestion/source-fetcher';
import { collectionsOf } from './collections.policy';
import { callingOf, SyncsRepository, type ClaimedSync, type SeenItem, type SyncStep } from './syncs.repository';
import type { KnownItem } from './syncs.sql';

/** Resources that a collection may have. */
export const MAX_ITEMS = 10_000;
const MAX_TITLE = 500;
/** Resources whose verdict is written at once. */
const AT_ONCE = 100;
/** Of these, how many are read at the same time. */
const READS = 4;
/** What a server has for its list, and for each resource, milliseconds. */
const LIST_MS = 60_000;
const READ_MS = 30_000;
/** So many resources in a row that cannot be read are the server's fault, and no longer theirs. */
const MAX_FAILED_IN_ROW = 5;
/** For all of it, whoever goes on with it: a slow server must not have its place for ever. */
const TOTAL_MS = 30 * 60_000;

/** A synchronisation that cannot go on. The code is what is shown. */
export class SyncFailed extends Error {
  constructor(
    readonly code: 'server_failed' | 'too_many_items' | 'timeout',
    message: string,
  ) {
    super(message);
  }
}

/** What is read of a server in one run. */
interface Reading {
  signal: AbortSignal;
  failedInRow: number;
}

/**
 * Makes the sources of a base what a collection has. What is new becomes a source, what reads otherwise than before is indexed anew, and what a
 * complete list does not have is deleted. Each step bears the number of the round, so that one that is taken over goes on where it was.
 */
@Injectable()
export class Syncing {
  constructor(
    private readonly db: Database,
    private readonly syncs: SyncsRepository,
    private readonly connections: ConnectionCalls,
  ) {}

  /** @throws SyncFailed, LeaseEnded */
  async sync(run: OwnedRun<ClaimedSync>, lease: Lease): Promise<void> {
    lease.requireNext();
    await run.committed;
    const sync = await this.syncs.load(this.db, run.id);
    if (!sync) throw new LeaseEnded('lost');
    const cut = new Cutoff(lease.signal, sync.started_at!.getTime() + TOTAL_MS - this.db.now().getTime());
    try {
      await this.compareAll(run, sync, lease, { signal: cut.signal, failedInRow: 0 });
    } catch (error) {
      if (!cut.isLate || error instanceof LeaseEnded) throw error;
      throw new SyncFailed('timeout', `It took more than ${TOTAL_MS / 60_000} minutes.`);
    } finally {
      cut.release();
    }
    lease.requireNext();
    await this.syncs.finish(run, sync);
  }

  private async compareAll(run: OwnedRun<ClaimedSync>, sync: KnowledgeSync, lease: Lease, reading: Reading): Promise<void> {
    const resources = await this.listed(sync, reading.signal);
    const known = await this.syncs.known(sync);
    const left = resources.filter(({ uri }) => known.get(uri)?.sync_round !== sync.round);
    for (let from = 0; from < left.length; from += AT_ONCE) {
      const step = await this.compared(sync, left.slice(from, from + AT_ONCE), known, reading);
      lease.requireNext();
      await this.syncs.step(run, sync, step);
    }
  }

  private async listed(sync: KnowledgeSync, signal: AbortSignal): Promise<ListedResource[]> {
    const all = await this.asked(signal, LIST_MS, (until) => this.connections.resources(callingOf(sync), until));
    const resources = collectionsOf(all).find(({ id }) => id === sync.collection_id)?.resources ?? [];
    if (resources.length > MAX_ITEMS) throw new SyncFailed('too_many_items', `There are more than ${MAX_ITEMS} resources.`);
    return resources;
  }

  private async compared(
    sync: KnowledgeSync,
    resources: readonly ListedResource[],
    known: Map<string, KnownItem>,
    reading: Reading,
  ): Promise<SyncStep> {
    const step: SyncStep = { added: [], updated: [], unchanged: [] };
    const left = [...resources];
    const compare = async () => {
      for (let resource = left.shift(); resource; resource = left.shift()) {
        const { uri, modified } = resource;
        const title = resource.name.slice(0, MAX_TITLE) || uri.slice(0, MAX_TITLE);
        const item = known.get(uri);
        if (!item) step.added.push({ remote_id: uri, title, modified });
        else if (item.stands && title === item.title && modified === item.remote_modified)
          step.unchanged.push(seen(item, title, modified, null));
        else {
          const hash = await this.hashOf(sync, resource, item, reading);
          step[isSame(item, title, hash) ? 'unchanged' : 'updated'].push(seen(item, title, modified, hash));
        }
      }
    };
    await Promise.all(Array.from({ length: READS }, compare));
    return step;
  }

  /**
   * What a resource reads as now; null where that is not to be known, and its source is to try by itself, and tell.
   *
   * @throws SyncFailed where the server wants other credentials, or reads none of several
   */
  private async hashOf(sync: KnowledgeSync, { uri, modified }: ListedResource, item: KnownItem, reading: Reading): Promise<string | null> {
    if (modified !== null && modified === item.remote_modified) return item.remote_hash;
    return this.asked(reading.signal, READ_MS, async (until) => {
      try {
        const { bytes } = await this.connections.read(callingOf(sync), uri, until);
        reading.failedInRow = 0;
        return hashOf(bytes);
      } catch (error) {
        reading.signal.throwIfAborted();
        if (!(error instanceof ServerFailed)) throw error;
        reading.failedInRow = error instanceof ServerRefused ? 0 : reading.failedInRow + 1;
        if (reading.failedInRow >= MAX_FAILED_IN_ROW) throw error;
        return null;
      }
    });
  }

  /** @throws SyncFailed where the server, or the connection, is not what it was */
  private async asked<T>(signal: AbortSignal, ms: number, ask: (until: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await ask(AbortSignal.any([signal, AbortSignal.timeout(ms)]));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServerFailed || error instanceof Unauthorized) throw new SyncFailed('server_failed', error.message);
      throw error;
    }
  }
}

const seen = ({ id }: KnownItem, title: string, modified: string | null, hash: string | null): SeenItem => ({ id, title, modified, hash });

/** One that could not be indexed for what may have passed is tried again each time. */
const isSame = (item: KnownItem, title: string, hash: string | null): boolean =>
  hash !== null && hash === item.remote_hash && title === item.title && !item.may_pass;
