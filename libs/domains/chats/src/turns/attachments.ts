import { Injectable } from '@nestjs/common';
import { FilesQueries, type FileReference } from '@aps/files';
import { OrgScope } from '@aps/guards';
import { contentWith, ModelFiles, type ModelFile, type ResolvedModel, type UserContent } from '@aps/inference';
import type { TranscriptRow } from '../state/chat.types';
import type { CallingTurn } from './running-turn';

/* What one model call carries of texts, so that no turn eats its worker's memory: 100,000 characters a file, together 400,000 and a quarter of the model's window at most. */
const TEXTS_CHARACTERS = 400_000;
const TEXT_CHARACTERS = 100_000;
const WINDOW_SHARE = 0.25;
const CHARACTERS_PER_TOKEN = 4;
/** Where a model's window is not known. */
const DEFAULT_WINDOW = 128_000;

/** What the model gets of the files of messages, by the list that names them. */
export type FilesOfMessages = ReadonlyMap<FileReference[], ModelFile[]>;

const NONE: FilesOfMessages = new Map();

/** What the user wrote, and then the files. */
export function withFiles(row: TranscriptRow, files: FilesOfMessages): UserContent {
  const read = row.attachments && files.get(row.attachments);
  return read ? contentWith(row.content, read) : row.content;
}

/** Reads the files of messages for the model, once per delivery of a turn. The newest come first when there is no room for all. */
@Injectable()
export class TurnAttachments {
  private readonly read = new WeakMap<CallingTurn, FilesOfMessages>();

  constructor(private readonly files: FilesQueries) {}

  /**
   * Never inside a transaction: the storage may be far away.
   *
   * @throws DomainError 503 while the storage cannot answer; the turn is then delivered again
   */
  async of(turn: CallingTurn, model: ResolvedModel): Promise<FilesOfMessages> {
    const lists = turn.rows.flatMap((row) => (row.role === 'user' && row.attachments?.length ? [row.attachments] : []));
    if (lists.length === 0) return NONE;
    let read = this.read.get(turn);
    if (!read) this.read.set(turn, (read = await this.readAll(turn, model, lists)));
    return read;
  }

  private async readAll(turn: CallingTurn, model: ResolvedModel, lists: FileReference[][]): Promise<FilesOfMessages> {
    const ids = [...new Set(lists.flat().map((file) => file.file_id))];
    const rows = new Map((await this.files.visible(OrgScope.system(turn.claim.org_id, 'turn'), ids)).map((row) => [row.id, row]));
    const share = Math.floor((model.context_window ?? DEFAULT_WINDOW) * WINDOW_SHARE) * CHARACTERS_PER_TOKEN;
    // Without PDFs: a provider of dialect_1 may not take them, and would refuse every later turn of the chat.
    const reader = new ModelFiles({
      vision: model.entry.supports_vision,
      characters: Math.min(TEXTS_CHARACTERS, share),
      charactersOfOne: TEXT_CHARACTERS,
    });
    const result = new Map<FileReference[], ModelFile[]>();
    for (const list of lists.toReversed()) {
      const read: ModelFile[] = [];
      for (const reference of list) {
        turn.lease.signal.throwIfAborted();
        const row = rows.get(reference.file_id);
        read.push(await reader.read({ ...reference, read: async (length) => (row ? this.files.head(row, length) : null) }));
      }
      result.set(list, read);
    }
    return result;
  }
}
