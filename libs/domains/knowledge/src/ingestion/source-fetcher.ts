import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { ConnectionCalls, ServerFailed, ServerRefused, Unauthorized } from '@aps/connections';
import { FilesQueries, type FileBytes } from '@aps/files';
import { OrgScope } from '@aps/guards';
import { Egress, EgressError, type EgressResponse } from '@aps/platform/egress';
import { Database } from '@aps/platform/database';
import type { LoadedSource } from '../sources.sql';
import { callingOf, SyncsRepository } from '../syncs/syncs.repository';
import { IndexingFailed, type IndexingCode } from './indexing-failed';

/** Of what stands at an address. */
const MAX_BYTES = 10 * 1024 * 1024;
const FETCH_MS = 30_000;
const TRIES = 3;
const FIRST_WAIT_MS = 500;

/** What the way out says of an address, and of what it answers. */
const CODES: Partial<Record<EgressError['reason'], IndexingCode>> = {
  ...{ url: 'fetch_refused', scheme: 'fetch_refused', userinfo: 'fetch_refused', port: 'fetch_refused', address: 'fetch_refused' },
  ...{ timeout: 'timeout', too_large: 'too_large' },
};

/** What tells whether the bytes of a source are others than before. */
export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Gets the bytes that sources are made of which were not written here: of files, of what stands at an address, and of what a connection has. */
@Injectable()
export class SourceFetcher {
  constructor(
    private readonly db: Database,
    private readonly files: FilesQueries,
    private readonly syncs: SyncsRepository,
    private readonly connections: ConnectionCalls,
    private readonly egress: Egress,
  ) {}

  /** Never inside a transaction. @throws IndexingFailed; the reason of the signal */
  get(source: LoadedSource, signal: AbortSignal): Promise<FileBytes> {
    if (source.kind === 'file') return this.file(source, signal);
    return source.kind === 'synced' ? this.resource(source, signal) : this.page(source.url!, signal);
  }

  private async file({ org_id, file_id }: LoadedSource, signal: AbortSignal): Promise<FileBytes> {
    const file = await this.files.get(OrgScope.system(org_id, 'indexing of a source'), file_id!);
    const stored = await this.files.open(file);
    if (!stored) throw new IndexingFailed('fetch_failed', 'fetch', 'The bytes of the file are gone.');
    const bytes = await buffer(stored.stream);
    signal.throwIfAborted();
    return { bytes, hints: { filename: file.filename, media_type: file.media_type } };
  }

  private async resource({ sync_config_id, remote_id }: LoadedSource, signal: AbortSignal): Promise<FileBytes> {
    const sync = await this.syncs.load(this.db, sync_config_id!);
    if (!sync || sync.deleted_at) throw new IndexingFailed('remote_gone', 'fetch', 'It is not kept up with its collection any more.');
    try {
      const { bytes, media_type } = await this.connections.read(
        callingOf(sync),
        remote_id!,
        AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]),
      );
      return { bytes, hints: { filename: remote_id!.split(/[?#]/)[0].split('/').at(-1)!, media_type } };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ServerRefused && error.isGone)
        throw new IndexingFailed('remote_gone', 'fetch', 'The connection has it no more.');
      // What a server says of it is for whoever owns the connection, and the base is read by others.
      if (error instanceof ServerFailed || error instanceof Unauthorized)
        throw new IndexingFailed('fetch_failed', 'fetch', 'The connection did not give it out.');
      throw error;
    }
  }

  private async page(url: string, signal: AbortSignal): Promise<FileBytes> {
    for (let tries = 1; ; tries++) {
      const { status, headers, body, url: from } = await this.fetch(url, signal);
      if (status >= 200 && status <= 299)
        return { bytes: body, hints: { filename: new URL(from).pathname.split('/').at(-1)!, media_type: headers['content-type'] ?? null } };
      if (tries === TRIES || (status !== 429 && status < 500))
        throw new IndexingFailed('fetch_failed', 'fetch', `The address answered with status ${status}.`);
      await sleep(FIRST_WAIT_MS * 2 ** tries, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  private async fetch(url: string, signal: AbortSignal): Promise<EgressResponse> {
    try {
      return await this.egress.fetch(url, { purpose: 'source', maxBytes: MAX_BYTES, timeoutMs: FETCH_MS, signal });
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      throw new IndexingFailed(CODES[error.reason] ?? 'fetch_failed', 'fetch', error.message);
    }
  }
}
