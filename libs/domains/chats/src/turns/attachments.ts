import { Injectable } from '@nestjs/common';
import { ExtractionError, FilesQueries, type FileReference, type FileRow } from '@aps/files';
import { OrgScope } from '@aps/guards';
import { contentWith, hidden, ModelFiles, type ModelFile, type ReadableFile, type ResolvedModel, type UserContent } from '@aps/inference';
import { Cutoff } from '@aps/platform/signals';
import type { TranscriptRow } from '../state/chat.types';
import { DocumentTexts, TEXT_CHARACTERS } from './document-texts';
import type { CallingTurn } from './running-turn';

/* What one model call carries of texts, so that no turn eats its worker's memory: 100,000 characters a file, together 400,000, and at most so many as come to a quarter of the model's window. */
const TEXTS_CHARACTERS = 400_000;
const WINDOW_SHARE = 0.25;
/** Where a model's window is not known. */
const DEFAULT_WINDOW = 128_000;
/** So long a turn waits for what documents say; what takes longer is there for a later one. */
const READING_MS = 60_000;

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

  constructor(
    private readonly files: FilesQueries,
    private readonly texts: DocumentTexts,
  ) {}

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

  /**
   * Shows nothing of earlier messages any more: a server before the model may take fewer bytes than they come to, with each request.
   *
   * @returns whether anything was shown
   */
  hideEarlier(turn: CallingTurn): boolean {
    const newest = turn.rows.findLast(({ role }) => role === 'user')?.attachments;
    const earlier = [...(this.read.get(turn) ?? NONE)].flatMap(([list, files]) => (list === newest ? [] : [files]));
    const areShown = earlier.some((files) => files.some(({ part }) => part));
    for (const files of earlier) files.splice(0, files.length, ...files.map((file) => (file.part ? hidden(file) : file)));
    return areShown;
  }

  private async readAll(turn: CallingTurn, model: ResolvedModel, lists: FileReference[][]): Promise<FilesOfMessages> {
    const scope = OrgScope.system(turn.claim.org_id, 'turn');
    const ids = [...new Set(lists.flat().map((file) => file.file_id))];
    const rows = new Map((await this.files.visible(scope, ids)).map((row) => [row.id, row]));
    // PDFs are shown to none: a provider of dialect_1 may not take them, and would refuse every later turn of the chat.
    const reader = new ModelFiles({
      vision: model.entry.supports_vision,
      characters: TEXTS_CHARACTERS,
      charactersOfOne: TEXT_CHARACTERS,
      tokens: Math.floor((model.context_window ?? DEFAULT_WINDOW) * WINDOW_SHARE),
    });
    const patience = new Cutoff(turn.lease.signal, turn.readingMs ?? READING_MS);
    const fileOf = (reference: FileReference): ReadableFile => {
      const row = rows.get(reference.file_id);
      return {
        ...reference,
        read: async (length) => (row ? this.files.head(row, length) : null),
        text: async () => (row ? this.textOf(scope, row, patience) : null),
      };
    };
    const result = new Map<FileReference[], ModelFile[]>();
    try {
      for (const list of lists.toReversed()) {
        const read: ModelFile[] = [];
        for (const reference of list) {
          turn.lease.signal.throwIfAborted();
          read.push(await reader.read(fileOf(reference)));
        }
        result.set(list, read);
      }
    } finally {
      patience.release();
    }
    return result;
  }

  private async textOf(scope: OrgScope, row: FileRow, patience: Cutoff): Promise<string | null> {
    try {
      return await this.texts.of(scope, row, patience.signal);
    } catch (error) {
      throw patience.isLate && error === patience.signal.reason ? new ExtractionError('timeout', 'It could not be read in time') : error;
    }
  }
}
