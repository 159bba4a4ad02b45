import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { FileReference } from '@aps/entities';
import { FilesService } from '@aps/files';
import { OrgScope } from '@aps/guards';
import { Database, storable } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { Outbox } from '@aps/platform/outbox';
import { uuidv7 } from 'uuidv7';
import { Intake, type Destination, type IncomingMessage, type IncomingPart } from './intake.port';
import { IntakeRepository } from './intake.repository';
import { MESSAGE_FILES } from './message-files.queries';

const received = counter('inbox_messages_received_total', 'Messages that came in, by channel and whether they were new', [
  'channel',
  'outcome',
]);

/** Takes messages in: stored, with the job that evaluates them, before their sender is told so. */
@Injectable()
export class IntakeService extends Intake {
  constructor(
    private readonly db: Database,
    private readonly repository: IntakeRepository,
    private readonly files: FilesService,
    private readonly outbox: Outbox,
  ) {
    super();
  }

  async receive(to: Destination, message: IncomingMessage): Promise<{ message_id: string; duplicate: boolean }> {
    const known =
      message.dedupe_key !== null && message.files.length > 0 ? await this.repository.again(this.db, to, message.dedupe_key) : null;
    if (known) return this.told(to, known, true);
    const scope = OrgScope.system(to.org_id, 'inbox');
    const id = uuidv7();
    // Before the message: bytes are far away, and files that nothing refers to are removed by themselves.
    const attachments = await this.keep(scope, message.files);
    const row = { id, ...storable({ ...message, files: [] }) };
    const stored = attachments.length
      ? await this.db.transaction(scope, async (tx) => {
          if (!(await this.repository.store(tx, to, row, attachments))) return false;
          await this.files.link(
            tx,
            scope,
            { kind: MESSAGE_FILES, id },
            attachments.map(({ file_id }) => file_id),
          );
          return true;
        })
      : await this.repository.store(this.db, to, row, []);
    if (stored) {
      // Its sender waits for what is stored alone.
      void this.outbox.handOut(this.db, [{ id, name: 'inbox.evaluate', payload: { org_id: to.org_id, message_id: id } }]);
      return this.told(to, id, false);
    }
    const first = message.dedupe_key === null ? null : await this.repository.again(this.db, to, message.dedupe_key);
    if (first === null) throw notFound('Channel');
    return this.told(to, first, true);
  }

  private told({ channel_kind: channel }: Destination, message_id: string, duplicate: boolean) {
    received.inc({ channel, outcome: duplicate ? 'duplicate' : 'new' });
    return { message_id, duplicate };
  }

  private async keep(scope: OrgScope, parts: IncomingPart[]): Promise<FileReference[]> {
    const kept: FileReference[] = [];
    for (const { filename, content } of parts.filter((part) => part.content.length > 0)) {
      const file = await this.files.upload(scope, { filename, bytes: Readable.from([content]), complete: Promise.resolve() });
      kept.push({ file_id: file.id, filename: file.filename, media_type: file.media_type, size_bytes: file.size_bytes });
    }
    return kept;
  }
}
