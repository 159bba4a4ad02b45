import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { FilesQueries, isText, type FileReference, type FileRow } from '@aps/files';
import { OrgScope } from '@aps/guards';
import type { ImagePart, ResolvedModel, UserContent } from '@aps/inference';
import type { TranscriptRow } from '../chat.types';
import type { RunningTurn } from './turn-runner';

/*
 * What one model call carries of files, so that every provider takes it and no turn eats its worker's memory. Images: 20, together
 * 14 MiB (19 MB in base64; a request may have 20), each 3.75 MiB (5 MiB in base64). Text: 100,000 characters a file, together 400,000
 * and a quarter of the model's window at most.
 */
const MAX_IMAGES = 20;
const IMAGES_BYTES = 14 * 1024 * 1024;
const IMAGE_BYTES = (15 * 1024 * 1024) / 4;
const TEXTS_CHARACTERS = 400_000;
const TEXT_CHARACTERS = 100_000;
const WINDOW_SHARE = 0.25;
const CHARACTERS_PER_TOKEN = 4;
/** Where a model's window is not known. */
const DEFAULT_WINDOW = 128_000;
/** Of UTF-8. */
const MAX_BYTES_PER_CHARACTER = 4;

/** Images that all dialects take. */
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

/** What the model reads of the files of one message. */
export interface ReadFiles {
  /** Texts and notes, one after another. */
  text: string;
  images: ImagePart[];
}

/** The files of messages, by the list that names them. */
export type FilesOfMessages = ReadonlyMap<FileReference[], ReadFiles>;

const NONE: FilesOfMessages = new Map();

/** What the user wrote, and then the files. */
export function withFiles(row: TranscriptRow, files: FilesOfMessages): UserContent {
  const read = row.attachments && files.get(row.attachments);
  if (!read) return row.content;
  const text = [row.content, read.text].filter(Boolean).join('\n\n');
  return read.images.length ? [{ type: 'text', text }, ...read.images] : text;
}

/** What is left of a call's budget. */
class Room {
  images = MAX_IMAGES;
  imageBytes = IMAGES_BYTES;
  characters: number;

  constructor(window: number | null) {
    this.characters = Math.min(TEXTS_CHARACTERS, Math.floor((window ?? DEFAULT_WINDOW) * WINDOW_SHARE) * CHARACTERS_PER_TOKEN);
  }
}

/** Reads the files of messages for the model, once per delivery of a turn. The newest come first when there is no room for all. */
@Injectable()
export class TurnAttachments {
  private readonly read = new WeakMap<RunningTurn, FilesOfMessages>();

  constructor(private readonly files: FilesQueries) {}

  /**
   * Never inside a transaction: the storage may be far away.
   *
   * @throws DomainError 503 while the storage cannot answer; the turn is then delivered again
   */
  async of(turn: RunningTurn, model: ResolvedModel): Promise<FilesOfMessages> {
    const lists = turn.rows.flatMap((row) => (row.role === 'user' && row.attachments?.length ? [row.attachments] : []));
    if (lists.length === 0) return NONE;
    let read = this.read.get(turn);
    if (!read) this.read.set(turn, (read = await this.readAll(turn, model, lists)));
    return read;
  }

  private async readAll(turn: RunningTurn, model: ResolvedModel, lists: FileReference[][]): Promise<FilesOfMessages> {
    const ids = [...new Set(lists.flat().map((file) => file.file_id))];
    const rows = new Map((await this.files.visible(OrgScope.system(turn.claim.org_id, 'turn'), ids)).map((row) => [row.id, row]));
    const room = new Room(model.context_window);
    const result = new Map<FileReference[], ReadFiles>();
    for (const list of lists.toReversed()) {
      const texts: string[] = [];
      const images: ImagePart[] = [];
      for (const reference of list) {
        turn.lease.signal.throwIfAborted();
        const part = await this.readOne(reference, rows.get(reference.file_id), model.entry.supports_vision, room);
        texts.push(typeof part === 'string' ? part : part.note);
        if (typeof part !== 'string') images.push(part.image);
      }
      result.set(list, { text: texts.join('\n\n'), images });
    }
    return result;
  }

  private async readOne(
    reference: FileReference,
    row: FileRow | undefined,
    sees: boolean,
    room: Room,
  ): Promise<string | { image: ImagePart; note: string }> {
    if (IMAGE_TYPES.has(reference.media_type)) {
      if (!sees) return note(reference, 'this model cannot see images');
      if (reference.size_bytes > IMAGE_BYTES) return note(reference, 'it is too large to be shown');
      if (room.images < 1 || room.imageBytes < reference.size_bytes)
        return note(reference, 'it was left out, since there is no room for more');
      const bytes = row && (await this.bytesOf(row, row.size_bytes));
      if (!bytes) return note(reference, 'it is no longer there');
      room.images -= 1;
      room.imageBytes -= bytes.length;
      return {
        image: { type: 'image', mediaType: reference.media_type, base64: bytes.toString('base64') },
        note: note(reference, 'it is shown here'),
      };
    }
    if (!isText(reference.media_type)) return note(reference, 'it is of a kind that cannot be read here');
    const most = Math.min(TEXT_CHARACTERS, room.characters);
    if (most < 1) return note(reference, 'it was left out, since there is no room for more');
    const bytes = row && (await this.bytesOf(row, Math.min(row.size_bytes, most * MAX_BYTES_PER_CHARACTER)));
    if (!bytes) return note(reference, 'it is no longer there');
    const text = decode(bytes);
    const shown = text.slice(0, most).toWellFormed();
    room.characters -= shown.length;
    const whole = bytes.length === reference.size_bytes && shown.length === text.length;
    return `${note(reference, whole ? 'its content follows' : `its first ${shown.length} characters follow, and the rest was left out`)}\n${fenced(shown)}`;
  }

  private async bytesOf(row: FileRow, length: number): Promise<Buffer | null> {
    const found = await this.files.open(row, { start: 0, length });
    return found && buffer(found.stream);
  }
}

/** A line of ours about a file. Names are in JSON, so that none can look like anything else. */
function note({ filename, media_type, size_bytes }: FileReference, what: string): string {
  return `[Attached file ${JSON.stringify(filename)} (${media_type}, ${size_bytes} bytes): ${what}.]`;
}

/** Between fences that the text itself does not hold. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}

function decode(bytes: Buffer): string {
  const [first, second] = bytes;
  const encoding = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}
