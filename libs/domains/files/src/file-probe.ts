import { createHash } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import { DomainError, invalid } from '@aps/contracts';
import type { FileReference } from '@aps/entities';
import { safeFilename } from './filename';
import { HEAD_BYTES, mediaTypeOf } from './media-type';

/** Of one file. */
export const MAX_FILE_BYTES = 50 * 1024 * 1024;

/** Lets a file through and notes what it is. Fails with the refusal that its sender gets when it is empty or too large. */
export class FileProbe extends Transform {
  private readonly hash = createHash('sha256');
  private head = Buffer.alloc(0);
  private size = 0;

  /** @param filename tells kinds of text apart, which bytes do not */
  constructor(private readonly filename: string) {
    super();
  }

  /** What came through; to be asked when all of it has. */
  found(): { mediaType: string; size: number; sha256: string } {
    return { mediaType: mediaTypeOf(this.head, this.size, this.filename), size: this.size, sha256: this.hash.digest('hex') };
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.size += chunk.length;
    if (this.size > MAX_FILE_BYTES) return done(fileTooLarge());
    this.hash.update(chunk);
    if (this.head.length < HEAD_BYTES) this.head = Buffer.concat([this.head, chunk.subarray(0, HEAD_BYTES - this.head.length)]);
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    done(this.size === 0 ? fileProblem('File should not be empty', 'too_short') : null);
  }
}

/** What bytes are that nobody stores. */
export function fileOf(filename: string, bytes: Buffer): Omit<FileReference, 'file_id'> {
  const name = safeFilename(filename);
  return { filename: name, media_type: mediaTypeOf(bytes.subarray(0, HEAD_BYTES), bytes.length, name), size_bytes: bytes.length };
}

export const fileTooLarge = (): DomainError => new DomainError('payload_too_large', `A file may have ${MAX_FILE_BYTES} bytes.`);

/** A 422 about the field of the file. */
export const fileProblem = (msg: string, type: string): DomainError => invalid({ loc: ['body', 'file'], msg, type });
