import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database, type Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { ObjectStorage } from '@aps/platform/storage';
import { uuidv7 } from 'uuidv7';
import { filesConfig } from './files.config';
import { safeFilename } from './filename';
import { refuseMissing, type LocOf } from './file-reference';
import { FilesRepository, type FileRow, type StoredAt } from './files.repository';
import { FileProbe } from './file-probe';

/** A file on its way in. */
export interface IncomingFile {
  /** As its sender calls it. */
  filename: string;
  bytes: Readable;
  /** Settles when everything around the bytes has come, too; rejects with what is wrong with it. */
  complete: Promise<void>;
}

const MIB = 1024 * 1024;
const uploaded = counter('file_upload_bytes_total', 'Bytes of files that were uploaded');

/** Of what is unattached some is attached soon, and the rest expires within a day. */
const RETRY_S = 600;

/** Takes files in, ties them to what refers to them, and removes those that nothing refers to. */
@Injectable()
export class FilesService {
  private readonly logger = new Logger('FilesService');

  constructor(
    private readonly db: Database,
    private readonly files: FilesRepository,
    private readonly storage: ObjectStorage,
  ) {}

  /**
   * Refuses who uploads while the organization has as much to which nothing refers as one may: a storage is everybody's. What is on its way is counted
   * when it is there, so the bound is passed by as much.
   *
   * @throws DomainError 429 `rate_limited`
   */
  async requireRoom(scope: OrgScope): Promise<void> {
    const limit = filesConfig.value.unattachedMb;
    if ((await this.files.unattachedBytes(this.db, scope)) < limit * MIB) return;
    throw new DomainError('rate_limited', `Files that nothing refers to take ${limit} MiB already. Attach some, or try again later.`, {
      retryAfterS: RETRY_S,
    });
  }

  /**
   * Streams a file into the storage. One that does not come whole leaves nothing.
   *
   * @throws DomainError 413; 422 for an empty one; 503; and what `complete` rejects with
   */
  async upload(scope: OrgScope, incoming: IncomingFile): Promise<FileRow> {
    const id = uuidv7();
    const stored: StoredAt = { id, storage_key: `${scope.orgId}/${id}` };
    const filename = safeFilename(incoming.filename);
    const probe = new FileProbe(filename);
    try {
      await this.db.transaction(scope, (tx) => this.files.begin(tx, scope, { ...stored, filename }));
    } catch (error) {
      incoming.bytes.destroy();
      throw error;
    }
    const put = this.storage.put(
      stored.storage_key,
      pipeline(incoming.bytes, probe, () => undefined),
    );
    try {
      await Promise.all([incoming.complete, put]);
      const file = await this.db.transaction(scope, (tx) => this.files.finish(tx, scope, id, probe.found()));
      if (!file) throw new DomainError('service_unavailable', 'The upload took too long. Try again.', { retryAfterS: 2 });
      uploaded.inc(file.size_bytes);
      return file;
    } catch (error) {
      probe.destroy();
      await put.catch(() => undefined);
      await this.giveUp(scope, stored);
      throw error;
    }
  }

  /**
   * Ties files to something that refers to them, in the transaction that makes it refer to them. Whether the caller may see the files is
   * asked before, of {@link FilesQueries}.
   *
   * @returns the files that are there; the others have expired meanwhile
   */
  link(tx: Tx, scope: OrgScope, target: { kind: string; id: string }, fileIds: string[]): Promise<string[]> {
    return this.files.link(tx, scope, target, fileIds);
  }

  /**
   * The same for files that a request names.
   *
   * @throws DomainError 422 `unknown_reference` for those that have expired since they were looked up
   */
  async attach(tx: Tx, scope: OrgScope, target: { kind: string; id: string }, fileIds: string[], locOf: LocOf): Promise<void> {
    refuseMissing(fileIds, new Set(await this.link(tx, scope, target, fileIds)), locOf);
  }

  /**
   * What is kept no longer lets go of its files: those that nothing else refers to are removed.
   *
   * @param kept files that it goes on referring to
   */
  unlink(tx: Tx, orgId: string, target: { kind: string; ids: string[] }, kept: string[] = []): Promise<void> {
    return this.files.unlink(tx, orgId, target, kept);
  }

  /** Keeps what a file says, or its beginning, for as long as it is there, so that nobody needs to read it again. What was kept first stays. */
  keepText(scope: OrgScope, { id }: Pick<FileRow, 'id'>, text: string): Promise<void> {
    return this.files.keepText(this.db, scope, id, text);
  }

  /**
   * Removes expired files: hidden first, then their bytes, then their rows. One that dies in between leaves a row by which the next one
   * finds the bytes.
   *
   * @returns how many are gone
   * @throws the last failure, when all the others have had their turn
   */
  async removeExpired(limit: number): Promise<number> {
    const expired = await this.files.beginRemoval(this.db, limit);
    let failure: { error: unknown } | undefined;
    for (const file of expired) {
      try {
        await this.removeBytes(file);
      } catch (error) {
        failure = { error };
      }
    }
    if (failure) throw failure.error;
    return expired.length;
  }

  private async removeBytes(file: StoredAt): Promise<void> {
    await this.storage.delete(file.storage_key);
    await this.files.remove(this.db, file.id);
  }

  private async giveUp(scope: OrgScope, file: StoredAt): Promise<void> {
    try {
      await this.files.abandon(this.db, scope, file.id);
      await this.removeBytes(file);
    } catch (error) {
      // The row is there, and its time runs out: maintenance comes by.
      this.logger.warn({ msg: 'An upload that failed is removed later', file_id: file.id, error: (error as Error).message });
    }
  }
}
