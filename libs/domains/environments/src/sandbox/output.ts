import { KEPT_OUTPUT } from './sandbox-driver';

const HALF = KEPT_OUTPUT / 2;

/**
 * What a program writes to one stream: the first and the last half of {@link KEPT_OUTPUT}, however much it is. What comes before the line that is
 * `opening` is of those who make the sandbox, and is kept apart; null where nobody makes one.
 */
export class Output {
  private readonly opening: Buffer;
  /** The first half, then a ring of the last. */
  private readonly kept = Buffer.alloc(KEPT_OUTPUT);
  private written = 0;
  /** Null once the command has begun. */
  private before: Buffer | null;

  constructor(opening: string | null) {
    this.opening = Buffer.from(`${opening}\n`);
    this.before = opening === null ? null : Buffer.alloc(0);
  }

  /** Whether the opening has come: from there on it is the command that writes. */
  get hasBegun(): boolean {
    return this.before === null;
  }

  get isTruncated(): boolean {
    return this.written > KEPT_OUTPUT;
  }

  /** What was said while there was no opening. */
  get complaint(): string {
    return this.before?.toString().trim() ?? '';
  }

  add(piece: Buffer): void {
    if (!this.before) return this.keep(piece);
    const all = Buffer.concat([this.before, piece]);
    const at = all.indexOf(this.opening);
    this.before = at < 0 ? all.subarray(-HALF) : null;
    if (at >= 0) this.keep(all.subarray(at + this.opening.length));
  }

  /** All that is kept, with a line in its middle that says how many bytes are missing there. */
  toBuffer(): Buffer {
    if (!this.isTruncated) return this.kept.subarray(0, this.written);
    const line = Buffer.from(`\n[${this.written - KEPT_OUTPUT} bytes are missing here]\n`);
    const oldest = this.place();
    return Buffer.concat([this.kept.subarray(0, HALF), line, this.kept.subarray(oldest), this.kept.subarray(HALF, oldest)]);
  }

  private keep(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      const place = this.place();
      const copied = piece.copy(this.kept, place, at, at + (place < HALF ? HALF : KEPT_OUTPUT) - place);
      at += copied;
      this.written += copied;
    }
  }

  /** Where the next byte goes. */
  private place(): number {
    return this.written < HALF ? this.written : HALF + (this.written % HALF);
  }
}
