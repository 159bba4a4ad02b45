import { Injectable } from '@nestjs/common';
import { FilesQueries, FilesService, FileTargets, type FileReference } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import { ChatsQueries } from '../reading/chats.queries';

const KIND = 'message';
const LOC_OF = (index: number) => ['attachment_ids', index];

/** Ties files to messages; from then on, whoever may open the chat may open the file. */
@Injectable()
export class MessageFiles {
  constructor(
    chats: ChatsQueries,
    targets: FileTargets,
    private readonly files: FilesService,
    private readonly queries: FilesQueries,
  ) {
    targets.register(KIND, (db, scope, ids) => chats.messagesSeen(db, scope, ids));
  }

  /**
   * The files of a message that is about to be sent, in their order.
   *
   * @throws DomainError 422 `unknown_reference` naming each that the caller may not see
   */
  references(scope: OrgScope, ids: string[]): Promise<FileReference[]> {
    return this.queries.references(scope, ids, LOC_OF);
  }

  /**
   * In the transaction that stores the message.
   *
   * @throws DomainError 422 for files that have expired since they were looked up
   */
  async attach(tx: Tx, scope: OrgScope, messageId: string, files: FileReference[]): Promise<void> {
    const ids = files.map((file) => file.file_id);
    await this.files.attach(tx, scope, { kind: KIND, id: messageId }, ids, LOC_OF);
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
