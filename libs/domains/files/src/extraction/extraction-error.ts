import type { ExtractionCode } from './extracted';

/** A file that cannot be read: why, for programs and, as a sentence without its content, for people. */
export class ExtractionError extends Error {
  constructor(
    readonly code: ExtractionCode,
    message: string,
  ) {
    super(message);
  }
}
