import { StringDecoder } from 'node:string_decoder';

/** With the line between them, head and tail are no more than the 256 KiB that are kept of a stream. */
export const HALF = 128 * 1024 - 64;
const FRAME_BYTES = 32 * 1024;

/** Head and tail of what is longer than both, with a line that says how many bytes are missing between them. */
export const joined = (head: Buffer, tail: Buffer, written: number): Buffer =>
  written > 2 * HALF
    ? Buffer.concat([head, Buffer.from(`\n[${written - 2 * HALF} bytes are missing here]\n`), tail])
    : Buffer.concat([head, tail]);

/** What a command writes to one stream: its head is told while it runs, its tail when it has ended. */
export class Kept {
  private head = Buffer.alloc(0);
  private tail = Buffer.alloc(0);
  private written = 0;
  private told = 0;
  private decoder = new StringDecoder();

  get isTruncated(): boolean {
    return this.written > 2 * HALF;
  }

  add(piece: Buffer): void {
    const room = HALF - this.head.length;
    this.written += piece.length;
    if (room > 0) this.head = Buffer.concat([this.head, piece.subarray(0, room)]);
    if (piece.length > room) this.tail = Buffer.concat([this.tail, piece.subarray(room)]).subarray(-HALF);
  }

  all(): Buffer {
    return joined(this.head, this.tail, this.written);
  }

  /** All is to be told anew, to somebody else. */
  rewind(): void {
    this.told = 0;
    this.decoder = new StringDecoder();
  }

  /** What is there to be told, in pieces that end with whole characters. */
  *untold(isOver: boolean): Generator<string> {
    const all = isOver ? this.all() : this.head;
    while (this.told < all.length) {
      const piece = all.subarray(this.told, this.told + FRAME_BYTES);
      this.told += piece.length;
      const text = this.decoder.write(piece);
      if (text) yield text;
    }
    const rest = isOver ? this.decoder.end() : '';
    if (rest) yield rest;
  }
}
