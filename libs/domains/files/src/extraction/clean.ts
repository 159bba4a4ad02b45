import { ExtractionError } from './extraction-error';

/** Of an extracted text, as UTF-8. */
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** A text as it is kept: lines end in `\n`, and nothing is in it that cannot be stored. */
export const clean = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/\0|\p{Surrogate}|^\ufeff/gu, '');

const tooLarge = () => new ExtractionError('too_large', `Its text has more than ${MAX_TEXT_BYTES} bytes`);

/** @throws ExtractionError `too_large`, `no_text` */
export function requireText(text: string): void {
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) throw tooLarge();
  if (!text.trim()) throw new ExtractionError('no_text', 'It has no text that can be read');
}

/** Collects a text, and gives up as soon as it is too large. */
export class TextSink {
  private readonly parts: string[] = [];
  private chars = 0;

  /** Code units so far. */
  get length(): number {
    return this.chars;
  }

  add(text: string): void {
    this.chars += text.length;
    if (this.chars > MAX_TEXT_BYTES) throw tooLarge();
    this.parts.push(text);
  }

  /** Counts what is kept elsewhere until it is added. */
  static meter(): (chars: number) => void {
    let sum = 0;
    return (chars) => {
      sum += chars;
      if (sum > MAX_TEXT_BYTES) throw tooLarge();
    };
  }

  toString(): string {
    return this.parts.join('');
  }
}
