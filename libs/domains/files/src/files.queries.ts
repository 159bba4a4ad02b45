import { buffer } from 'node:stream/consumers';
import { Injectable, Logger } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { FileLink, type FileReference } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgTable } from '@aps/platform/database';
import { ObjectStorage, type ByteRange, type StoredBytes } from '@aps/platform/storage';
import { In } from 'typeorm';
import { FileTargets } from './file-targets';
import { FilesRepository, type FileRow } from './files.repository';
import { attachmentOf, refuseMissing, type LocOf } from './file-reference';

/** Reads of files. Never writes. */
@Injectable()
export class FilesQueries {
  private readonly logger = new Logger('FilesQueries');
  private readonly links = new OrgTable(FileLink);

  constructor(
    private readonly db: Database,
    private readonly files: FilesRepository,
    private readonly targets: FileTargets,
    private readonly storage: ObjectStorage,
  ) {}

  /**
   * Those of the files that the caller may see: the own ones, and those that something refers to which the caller may open. The system
   * sees all of its organization.
   */
  async visible(scope: OrgScope, ids: string[]): Promise<FileRow[]> {
    const { userId } = scope.actor;
    const found = await this.files.find(this.db, scope, ids);
    const foreign = found.filter((file) => userId !== null && file.created_by !== userId).map((file) => file.id);
    if (foreign.length === 0) return found;
    const open = await this.opened(scope, foreign);
    return found.filter((file) => !foreign.includes(file.id) || open.has(file.id));
  }

  /**
   * The files that a request names, in its order.
   *
   * @param locOf where it names the nth of them
   * @throws DomainError 422 `unknown_reference` naming each that the caller may not see
   */
  async references(scope: OrgScope, ids: string[], locOf: LocOf): Promise<FileReference[]> {
    if (ids.length === 0) return [];
    const found = new Map((await this.visible(scope, ids)).map((file) => [file.id, attachmentOf(file)]));
    refuseMissing(ids, found, locOf);
    return ids.map((id) => found.get(id)!);
  }

  /** @throws DomainError 404 for a file that is not there or that the caller may not see */
  async get(scope: OrgScope, id: string): Promise<FileRow> {
    const [file] = await this.visible(scope, [id]);
    if (!file) throw notFound('File');
    return file;
  }

  /** @returns null where a file has a row and no bytes, which only the loss of a storage explains */
  async open(file: FileRow, range?: ByteRange): Promise<StoredBytes | null> {
    const bytes = await this.storage.get(file.storage_key, range);
    if (!bytes) this.logger.error({ msg: 'The bytes of a file are not in the storage', file_id: file.id });
    return bytes;
  }

  /** Its first bytes. @returns as {@link open} */
  async head(file: FileRow, length: number): Promise<Buffer | null> {
    const found = await this.open(file, { start: 0, length });
    return found && buffer(found.stream);
  }

  /** What was kept of what a file says, by `FilesService.keepText`; null where nothing was. */
  keptText(scope: OrgScope, { id }: Pick<FileRow, 'id'>): Promise<string | null> {
    return this.files.text(this.db, scope, id);
  }

  /** Which of the files are referred to by something that the caller may open. */
  private async opened(scope: OrgScope, ids: string[]): Promise<Set<string>> {
    const links = await this.links.list(this.db, scope, { file_id: In(ids) }, {});
    const open = new Set<string>();
    for (const kind of new Set(links.map((link) => link.target_kind))) {
      const ofKind = links.filter((link) => link.target_kind === kind);
      const targets = await this.targets.openTo(this.db, scope, kind, [...new Set(ofKind.map((link) => link.target_id))]);
      for (const { file_id, target_id } of ofKind) if (targets.has(target_id)) open.add(file_id);
    }
    return open;
  }
}
