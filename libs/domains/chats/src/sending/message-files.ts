import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { attachmentOf, FilesQueries, FilesService, FileTargets, type FileReference, type TargetReader } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import type { Db, Tx } from '@aps/platform/database';
import { ChatsQueries } from '../reading/chats.queries';

const KIND = 'message';

/** Ties files to messages; from then on, whoever may open the chat may open the file. */
@Injectable()
export class MessageFiles implements OnModuleInit, TargetReader {
  constructor(
    private readonly chats: ChatsQueries,
    private readonly targets: FileTargets,
    private readonly files: FilesService,
    private readonly queries: FilesQueries,
  ) {}

  onModuleInit(): void {
    this.targets.register(KIND, this);
  }

  openTo(db: Db, scope: OrgScope, ids: string[]): Promise<string[]> {
    return this.chats.messagesSeen(db, scope, ids);
  }

  /**
   * The files of a message that is about to be sent, in their order.
   *
   * @throws DomainError 422 `unknown_reference` naming each that the caller may not see
   */
  async references(scope: OrgScope, ids: string[]): Promise<FileReference[]> {
    const found = new Map((await this.queries.visible(scope, ids)).map((file) => [file.id, attachmentOf(file)]));
    refuseMissing(ids, (id) => found.has(id));
    return ids.map((id) => found.get(id)!);
  }

  /**
   * In the transaction that stores the message.
   *
   * @throws DomainError 422 for files that have expired since they were looked up
   */
  async attach(tx: Tx, scope: OrgScope, messageId: string, files: FileReference[]): Promise<void> {
    const ids = files.map((file) => file.file_id);
    const linked = new Set(await this.files.link(tx, scope, { kind: KIND, id: messageId }, ids));
    refuseMissing(ids, (id) => linked.has(id));
  }

  /** Ties the files of a message to its copy, too; those that are gone stay gone. */
  async carry(tx: Tx, scope: OrgScope, copyId: string, attachments: FileReference[]): Promise<void> {
    await this.files.link(
      tx,
      scope,
      { kind: KIND, id: copyId },
      attachments.map((file) => file.file_id),
    );
  }
}

function refuseMissing(ids: string[], isThere: (id: string) => boolean): void {
  const msg = 'There is no such file.';
  const problems = ids.flatMap((id, i) =>
    isThere(id) ? [] : [{ loc: ['body', 'attachment_ids', i], msg, type: 'semantic.unknown_reference' }],
  );
  if (problems.length) throw new DomainError('unknown_reference', msg, { problems });
}
