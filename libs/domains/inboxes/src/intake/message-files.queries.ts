import { Injectable } from '@nestjs/common';
import { FileTargets } from '@aps/files';
import { statement } from '@aps/platform/database';

/** What files that came with messages are linked to. */
export const MESSAGE_FILES = 'inbox_message';

const OF_ORG = statement<{ id: string }>(
  'SELECT m.id FROM inbox_messages m JOIN inboxes i ON i.id = m.inbox_id WHERE m.org_id = $1 AND m.id = ANY ($2::uuid[]) AND i.deleted_at IS NULL',
);

/** Lets members open the files that came with messages of their organization, while there is the inbox that took them in. */
@Injectable()
export class MessageFileReader {
  constructor(targets: FileTargets) {
    targets.register(MESSAGE_FILES, (db, scope, ids) => db.query(OF_ORG, [scope.orgId, ids]));
  }
}
