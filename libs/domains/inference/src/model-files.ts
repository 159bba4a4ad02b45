import type { FileInputMode } from '@aps/contracts';
import { ExtractionError, isText } from '@aps/files';
import { tokensOf, withinTokens, type DocumentPart, type ImagePart, type UserContent } from './client';

/** A file on its way to a model. */
export interface ReadableFile {
  filename: string;
  /** Told from its bytes. */
  media_type: string;
  size_bytes: number;
  /** Its first bytes; null where they are no longer there. */
  read(length: number): Promise<Buffer | null>;
  /**
   * What a PDF, an office file, a mail or a page says, as Markdown; null as above. Left out where such are not read.
   *
   * @throws ExtractionError for a file that cannot be read
   */
  text?: () => Promise<string | null>;
}

/** What a model gets of a file. */
export interface ModelFile {
  /** A line about the file, and its content where it is text. */
  text: string;
  /** Its content alone, where it is text. */
  content?: string;
  part?: ImagePart | DocumentPart;
  /** Why the model does not get all of it: its kind cannot be read, it is too much, or it is gone. */
  lacks?: { why: 'kind' | 'size' | 'gone'; what: string };
}

export interface ModelFilesOptions {
  /** Whether the model sees. */
  vision: boolean;
  /** `image`: what it sees alone; `text`: what it reads alone; else either: PDFs by `both` as text and to see, else to see where they have no text. */
  mode?: FileInputMode;
  /** Whether a model that sees may be given PDFs to see. */
  showsPdfs?: boolean;
  /** Of all texts together, and of one. */
  characters: number;
  charactersOfOne: number;
  /** Of all texts together, by our count; as many as their characters come to where it is left out. */
  tokens?: number;
}

/*
 * What one call carries beside texts, so that every provider takes it: 20 parts, together 14 MiB (19 MB in base64; a request may have 20).
 * An image 3.75 MiB (5 MiB in base64).
 */
const MAX_PARTS = 20;
const PARTS_BYTES = 14 * 1024 * 1024;
const IMAGE_BYTES = (15 * 1024 * 1024) / 4;
/** Of UTF-8. */
const MAX_BYTES_PER_CHARACTER = 4;

/** Images that all dialects take. */
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);
const PDF = 'application/pdf';
/** Texts that say more when they are read as what they are. */
const MARKED_UP = new Set(['text/html', 'message/rfc822']);
/** What nobody looks for a text in. */
const MEDIA = /^(?:image|audio|video)\//;

const NO_ROOM = 'it was left out, since there is no room for more';
const NO_IMAGE = 'it cannot be shown as an image';
const SHOWN = 'it is shown here';

/** A message of a text and of files. */
export function contentWith(text: string, files: readonly ModelFile[]): UserContent {
  const texts = [text, ...files.map((file) => file.text)].filter(Boolean).join('\n\n');
  const parts = files.flatMap(({ part }) => part ?? []);
  return parts.length ? [{ type: 'text', text: texts }, ...parts] : texts;
}

/** The same file, told of and not shown. */
export const hidden = ({ part: _, ...file }: ModelFile): ModelFile => ({ ...file, text: file.text.replace(SHOWN, NO_ROOM) });

/** Reads files for one call of a model, each within what the ones before it have left of the call's room. */
export class ModelFiles {
  private parts = MAX_PARTS;
  private partsBytes = PARTS_BYTES;
  private characters: number;
  private tokens: number;

  constructor(private readonly options: ModelFilesOptions) {
    this.characters = options.characters;
    this.tokens = options.tokens ?? Infinity;
  }

  /** @throws what reading the file throws, but for one that cannot be read */
  read(file: ReadableFile): Promise<ModelFile> {
    const { media_type, text } = file;
    if (IMAGE_TYPES.has(media_type)) return this.readPart(file, 'image');
    if (isText(media_type) && !(text && MARKED_UP.has(media_type))) return this.readText(file);
    if (!text || MEDIA.test(media_type)) return Promise.resolve(lacking(file, 'kind', 'it is of a kind that cannot be read here'));
    return this.readDocument(file, text);
  }

  private async readDocument(file: ReadableFile, text: () => Promise<string | null>): Promise<ModelFile> {
    const { vision, mode, showsPdfs } = this.options;
    const isPdf = file.media_type === PDF;
    if (mode === 'image') return isPdf ? this.readPart(file, 'document') : lacking(file, 'kind', NO_IMAGE);
    const isSeen = isPdf && vision && showsPdfs && mode !== 'text';
    const isBoth = isSeen && mode === 'both';
    let read: ModelFile;
    try {
      read = await this.extract(file, text, isBoth ? 'it is shown here, and its text' : 'its text');
    } catch (error) {
      if (!(error instanceof ExtractionError)) throw error;
      // Pages that are pictures can be seen at most.
      if (error.code === 'no_text' && isSeen) return this.readPart(file, 'document');
      return lacking(
        file,
        'kind',
        error.message.replace(/^./, (letter) => letter.toLowerCase()),
      );
    }
    if (!isBoth || read.lacks) return read;
    const { part, lacks } = await this.readPart(file, 'document');
    return { ...read, part, lacks };
  }

  private async extract(file: ReadableFile, text: () => Promise<string | null>, what: string): Promise<ModelFile> {
    if (this.room < 1) return lacking(file, 'size', NO_ROOM);
    const extracted = await text();
    return extracted === null ? gone(file) : this.give(file, extracted, what);
  }

  private async readPart(file: ReadableFile, type: 'image' | 'document'): Promise<ModelFile> {
    const { vision, mode } = this.options;
    if (mode === 'text') return lacking(file, 'kind', 'it has no text that can be read here');
    if (!vision) return lacking(file, 'kind', `this model cannot see ${type}s`);
    if (type === 'image' && file.size_bytes > IMAGE_BYTES) return lacking(file, 'size', 'it is too large to be shown');
    if (this.parts < 1 || this.partsBytes < file.size_bytes) return lacking(file, 'size', NO_ROOM);
    const bytes = await file.read(file.size_bytes);
    if (!bytes) return gone(file);
    this.parts -= 1;
    this.partsBytes -= bytes.length;
    const base64 = bytes.toString('base64');
    const part: ImagePart | DocumentPart =
      type === 'image' ? { type, mediaType: file.media_type, base64 } : { type, mediaType: PDF, base64, filename: file.filename };
    return { text: note(file, SHOWN), part };
  }

  private async readText(file: ReadableFile): Promise<ModelFile> {
    if (this.options.mode === 'image') return lacking(file, 'kind', NO_IMAGE);
    if (this.room < 1) return lacking(file, 'size', NO_ROOM);
    const bytes = await file.read(Math.min(file.size_bytes, this.room * MAX_BYTES_PER_CHARACTER));
    if (!bytes) return gone(file);
    const isAll = bytes.length === file.size_bytes;
    const { text, garbled } = decode(bytes, !isAll);
    const read = this.give(file, text, 'its content', isAll);
    return garbled ? { ...read, lacks: { why: 'kind', what: 'it is not text throughout' } } : read;
  }

  /** Characters that there is room for in the next text, at most: none is less than a quarter of a token. */
  private get room(): number {
    return Math.min(this.options.charactersOfOne, this.characters, Math.floor(this.tokens * 4));
  }

  /** As much of a text as there is room for. @param isAll false where the file goes on behind it */
  private give(file: ReadableFile, text: string, what: string, isAll = true): ModelFile {
    const content = withinTokens(text.slice(0, this.room), this.tokens).toWellFormed();
    this.characters -= content.length;
    this.tokens -= tokensOf(content);
    const whole = isAll && content.length === text.length;
    const follows = whole ? `${what} follows` : `its first ${content.length} characters follow, and the rest was left out`;
    return {
      text: `${note(file, follows)}\n${fenced(content)}`,
      content,
      ...(!whole && { lacks: { why: 'size', what: `it has more than ${content.length} characters` } }),
    };
  }
}

const lacking = (file: ReadableFile, why: 'kind' | 'size' | 'gone', what: string): ModelFile => ({
  text: note(file, what),
  lacks: { why, what },
});
const gone = (file: ReadableFile): ModelFile => lacking(file, 'gone', 'it is no longer there');

/** A line of ours about a file. Names are in JSON, so that none can look like anything else. */
function note({ filename, media_type, size_bytes }: ReadableFile, what: string): string {
  return `[Attached file ${JSON.stringify(filename)} (${media_type}, ${size_bytes} bytes): ${what}.]`;
}

/** Between fences that the text itself does not hold. */
function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** What no text holds, though its first bytes may have looked like one. */
const NO_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;

/** The text of bytes; what is none in it is replaced, and told. A cut may go through a character. */
function decode(bytes: Buffer, cut: boolean): { text: string; garbled: boolean } {
  const [first, second] = bytes;
  const encoding = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: cut });
    return { text, garbled: NO_TEXT.test(text) };
  } catch {
    return { text: new TextDecoder(encoding).decode(bytes), garbled: true };
  }
}
